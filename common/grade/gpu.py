"""The GPU of this machine, as far as grading needs it: which one, what its sandbox must show, and a compiler for it.

CUDA's compiler runs in a sandbox of its own, with the same headers as the other plus CUDA's, and what comes out runs in one
that has the driver's libraries and the GPU's devices besides.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path

import roots
import rules
import sandbox
import stages
from build import OBJECT_BYTES, REACHED, TEXT_BYTES, Built, readable
from roots import RootError, Tree

# Those of CUDA's headers that a kernel may include: what the executor has, too, and what only a GPU can use.
GPU_HEADERS = ("cuda_pipeline.h", "mma.h", "cooperative_groups/memcpy_async.h")
NOT_FOR_KERNELS = re.compile(r"cublas|profiler")

# Asks the driver, in a process of its own: where its library lies, and how much memory the device has.
ASK_THE_DRIVER = """
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
device, size, name = ctypes.c_int(), ctypes.c_size_t(), ctypes.create_string_buffer(256)
major, minor = ctypes.c_int(), ctypes.c_int()
for error in (cuda.cuInit(0), cuda.cuDeviceGet(ctypes.byref(device), 0), cuda.cuDeviceTotalMem_v2(ctypes.byref(size), device),
              cuda.cuDeviceGetName(name, 256, device), cuda.cuDeviceGetAttribute(ctypes.byref(major), 75, device),
              cuda.cuDeviceGetAttribute(ctypes.byref(minor), 76, device)):
    assert error == 0, f"the driver says {error}"
print(size.value >> 20)
print(f"{major.value}{minor.value}")
print(name.value.decode(errors="replace"))
print(next(line.split()[-1] for line in open("/proc/self/maps") if "libcuda.so" in line))
"""


@dataclass
class Gpu:
    """backend, worker: how the tests and the timing are run; of the executor in tests of the grader itself."""

    name: str
    arch: str = "sm_90"
    memory_mib: int = 0
    roofs: dict[str, float] = field(default_factory=dict)  # "copy_gbs", "read_gbs"
    devices: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    backend: str = "cuda"
    worker: str = "build/cuda/worker"
    solutions: str = "build/cuda/solutions"
    lock: threading.Lock = field(default_factory=threading.Lock)  # one submission at a time


def find(course: Path) -> Gpu:
    """The first CUDA device. Raises RootError."""
    done = subprocess.run([sys.executable, "-c", ASK_THE_DRIVER], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines = done.stdout.split("\n")
    if done.returncode or len(lines) < 4:
        raise RootError(f"the CUDA driver does not answer: {done.stderr.strip().splitlines()[-1:] or ''}")
    measured = subprocess.run([str(course / "build/cuda/roofs")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
    if measured.returncode:
        raise RootError(f"the roofs of the GPU could not be measured: {measured.stderr.strip()[-200:]}")
    roofs = {key: float(value) for key, value in json.loads(measured.stdout).items() if key in ("copy_gbs", "read_gbs")}
    devices = [entry for entry in sorted(os.listdir("/dev")) if re.fullmatch(r"nvidia(\d+|ctl|-uvm|-uvm-tools|-modeset)", entry)]
    library = Path(lines[3])
    beside = [path for path in (library, library.with_name("libnvidia-ptxjitcompiler.so.1")) if path.exists()]
    return Gpu(lines[2], f"sm_{lines[1]}", int(lines[0]), roofs, tuple(devices), tuple(map(str, beside)))


def make_run_root(root: Path, course: Path, gpu: Gpu, helpers: tuple[str, ...]) -> None:
    tree = roots.make_run_root(root, course, helpers, gpu.worker)
    folder = Path(next(path for path in sorted(roots.libraries_of("/bin/sh")) if "/libc." in path)).parent
    for library in gpu.libraries:
        name = "libcuda.so.1" if Path(library).name.startswith("libcuda.so") else Path(library).name
        tree.copy(library, str(folder / name))
        for needed in roots.libraries_of(library):
            tree.copy(needed)


class CudaWorkshop:
    """Compiles kernel files for the GPU, in the sandbox."""

    def __init__(self, course: Path, stage: Path, box: sandbox.Sandbox, limits: dict[str, int], gpu: Gpu):
        self.course, self.box, self.limits, self.gpu = course, box, limits, gpu
        ask = ("make", "-s", "--no-print-directory", "-f", "common/build/rules.mk", f"CUDA_ARCH={gpu.arch}")

        def answer(target: str) -> list[str]:
            return subprocess.run((*ask, target), cwd=course, env=roots.environment(), stdout=subprocess.PIPE, text=True).stdout.split()

        found, self.flags = answer("print-nvcc"), answer("print-nvcc-flags")
        if not found or not self.flags:
            raise RootError("nvcc is not found: install the CUDA toolkit or set CUDA_HOME")
        self.nvcc = os.path.realpath(found[0])
        self.root = stage / "compile-cuda"
        self.words = rules.header_words(course)
        libm = subprocess.run(("g++", "-print-file-name=libm.so.6"), stdout=subprocess.PIPE, text=True).stdout.strip()
        names = subprocess.run(("nm", "-D", "--defined-only", "--without-symbol-versions", libm), stdout=subprocess.PIPE, text=True).stdout
        self.libm = frozenset(line.split()[-1] for line in names.splitlines())
        if box.kind != "none":
            self.fill(roots.make_compile_root(self.root, course, box.helpers()))

    def fill(self, tree: Tree) -> None:
        """The toolkit's programs at their own places, its headers as far as kernels may include them, its static runtime."""
        top = Path(self.nvcc).parents[1]
        if not (top / "nvvm/bin/cicc").exists():
            raise RootError(f"{self.nvcc} is not in a CUDA toolkit as NVIDIA lays it out: nvvm/bin/cicc is missing beside it")
        for name in ("gcc", "mkdir", "rm", "wc"):
            tree.program(name)
        # Folders of the toolkit that are links to others, as some packages have them.
        for link in (top / "include", top / "lib64", *sorted(top.glob("targets/*/*"))):
            if link.is_symlink():
                place = tree.place(str(link))
                place.parent.mkdir(parents=True, exist_ok=True)
                place.symlink_to(os.readlink(link))
        for name in ("nvcc", "cudafe++", "ptxas", "fatbinary", "nvlink"):
            tree.program(str(top / "bin" / name))
        tree.program(str(top / "nvvm/bin/cicc"))
        for path in (top / "bin/nvcc.profile", *(top / "bin/crt").glob("*"), *(top / "nvvm/libdevice").glob("*")):
            tree.copy(str(path))
        # What nvcc includes itself.
        self.copy_all(tree, [str(path) for path in (*(top / "include/crt").glob("*"), top / "include/fatbinary_section.h")])
        names = [name for name in (*roots.stand_ins(self.course), *GPU_HEADERS) if not NOT_FOR_KERNELS.search(name)]
        trial = "".join(f"#if __has_include(<{name}>)\n#include <{name}>\n#endif\n" for name in (*roots.HEADERS, *names)) + '#include "rung.h"\n'
        with_source = tree.root / "trial.cu"
        with_source.write_text(trial)
        try:
            course = tree.root / "course"
            for device in ([], ["-D__CUDA_ARCH__=" + re.sub(r"\D", "", self.gpu.arch) + "0"]):
                listed = roots.output_of(self.nvcc, *self.flags, *device, "-M", "-x", "cu", str(with_source), cwd=course)
                self.copy_all(tree, listed.replace("\\\n", " ").split())
            with_source.write_text("__global__ void nothing() {}\n")
            opened = roots.output_of(self.nvcc, *self.flags, "-Xcompiler", "-fPIC", "-shared", "-Xlinker", "-t", str(with_source),
                                     "-o", str(tree.root / "trial.so"), cwd=course)
            self.copy_all(tree, opened.split())
        finally:
            for name in ("trial.cu", "trial.so"):
                (tree.root / name).unlink(missing_ok=True)

    def copy_all(self, tree: Tree, paths: list[str]) -> None:
        top = f"{Path(self.nvcc).parents[1]}/"
        for path in paths:
            if path.startswith("/") and not path.startswith(("/tmp/", str(tree.root))) and Path(path).is_file():
                tree.copy(path, os.path.realpath(path) if path.startswith(top) else os.path.normpath(path))

    def build(self, source: bytes, label: str, uid: int | None) -> Built:
        """The shared object for the GPU, in `plain`; what the rules say about it."""
        source = source.removeprefix(b"\xef\xbb\xbf")  # nvcc takes a byte order mark at the very beginning only
        flags = shlex.join(self.flags)
        script = ("{ echo '#line 1 \"'\"$1\"'\"'; cat; } >/tmp/named.cu && "
                  f"mkdir /tmp/kept && {self.nvcc} {flags} -Xcompiler -fPIC,-ffunction-sections --keep --keep-dir /tmp/kept -c /tmp/named.cu -o /tmp/rung.o >&2 && "
                  f"wrap= && {REACHED} && {self.nvcc} {flags} -shared /tmp/reached.o -o /tmp/rung.so >&2 && "
                  "wc -c </tmp/names && "
                  "wc -c </tmp/kept/named.cudafe1.cpp && cat /tmp/names /tmp/kept/named.cudafe1.cpp /tmp/rung.so")
        seconds = 3 * self.limits["compile_seconds"]
        limits = sandbox.Limits(seconds, seconds + 30, 2 * self.limits["memory_mib"], self.limits["processes"], 4 * self.limits["temporary_mib"],
                                4 * self.limits["temporary_mib"], self.limits["output_kib"])
        most = OBJECT_BYTES + TEXT_BYTES
        if self.box.kind != "none":
            command = self.box.command(["/bin/sh", "-c", script, "sh", label], self.root, limits, uid)
            ended = self.box.run(command, limits, source, most_stdout=most)
        else:
            folder = stages.make()
            try:
                own = script.replace("/tmp/", f"{folder}/")
                ended = self.box.run(["/bin/sh", "-c", own, "sh", label], limits, source, cwd=str(self.course), most_stdout=most)
            finally:
                stages.remove(folder)
        built = Built()
        sizes, rest = [], ended.stdout
        for _ in range(2):
            size, _, rest = rest.partition(b"\n")
            sizes.append(int(size) if size.strip().isdigit() and len(size) < 10 else -1)
        if ended.status or ended.cause or min(sizes) < 0:
            built.error, built.details = f"{label} does not compile with nvcc", readable(ended.stderr)
            return built
        names, host, built.plain = rest[: sizes[0]], rest[sizes[0]: sum(sizes)], rest[sum(sizes):]
        undefined = [line.split()[0] for line in names.decode(errors="replace").splitlines() if line.split()]
        # What runs on the host: nvcc has taken the kernels' bodies out of this text.
        own = rules.own_lines(host.decode(errors="replace"), label)
        built.findings = rules.of_gpu_symbols(undefined, self.libm, self.words) + rules.of_gpu_host_code(own)
        return built
