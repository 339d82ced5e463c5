"""The file systems that a sandbox shows: copies of the few files that a compiler or a worker needs, and nothing else.

Both are made on the trusted side, from the machine's own compiler. `compile` holds g++ with its assembler and linker, the
headers that a kernel may include, and the course's; `run` holds the worker and the libraries that it is linked with.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "simt/rules"))

import front_end  # noqa: E402: asks clang what nvcc would refuse
import rules  # noqa: E402

# What a kernel may include: C++17's library, C's headers under their own names, and the course's stand-in for CUDA.
HEADERS = """algorithm any array atomic bitset cassert cctype cerrno cfenv cfloat chrono cinttypes climits cmath complex
condition_variable cstdarg cstddef cstdint cstdio cstdlib cstring ctime cwchar deque exception forward_list fstream functional
future initializer_list iomanip ios iosfwd iostream istream iterator limits list locale map memory mutex new numeric optional
ostream queue random ratio set sstream stack stdexcept streambuf string string_view system_error thread tuple type_traits
typeindex typeinfo unordered_map unordered_set utility valarray variant vector
assert.h ctype.h errno.h float.h inttypes.h limits.h math.h stdarg.h stdbool.h stddef.h stdint.h stdio.h stdlib.h string.h time.h
""".split()
COURSE_HEADERS = ("common/simt/include", "common/simt/rules/declarations.h", "common/rung/rung.h", "common/rung/limit",
                  "common/rung/fusion")  # and what rung.h includes
MACHINE = "common/simt/timing/machines/h200.json"
FOLDERS = ("proc", "dev", "tmp", "course", "rung", "in")  # where a sandbox mounts things


class RootError(Exception):
    pass


def environment() -> dict[str, str]:
    """For the tools that are run on the trusted side: no variable by which a compiler or make takes other files or options."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    return {**kept, "LC_ALL": "C"}


def output_of(*command: str, given: str = "", cwd: Path | None = None) -> str:
    done = subprocess.run(command, input=given, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=cwd,
                          env=environment())
    if done.returncode:
        raise RootError(f"{' '.join(command[:4])} ... failed: {done.stdout.strip()[-400:]}")
    return done.stdout


def libraries_of(program: str) -> set[str]:
    """The shared libraries of one of the machine's own programs, the loader among them."""
    said = subprocess.run(("ldd", program), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    return set(re.findall(r"(/\S+) \(0x", said))


def rung_flags(course: Path) -> tuple[list[str], list[str]]:
    """The compiler's options for a rung: those of both builds, and what the instrumented one has besides."""
    make = ("make", "-s", "--no-print-directory", "-f", "common/build/rules.mk")

    def ask(target: str) -> list[str]:
        done = subprocess.run((*make, target), cwd=course, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode or not done.stdout.split():
            raise RootError(f"common/build/rules.mk does not say how rungs are compiled ({target}): {done.stderr.strip()}")
        return done.stdout.split()

    return ask("print-rung-flags"), ask("print-instrument")


def announces(course: Path) -> bool:
    """Whether instrumented rungs are completed by build/cpu/announce: not on every processor."""
    done = subprocess.run(("make", "-s", "--no-print-directory", "-f", "common/build/rules.mk", "print-announce"), cwd=course, env=environment(),
                          stdout=subprocess.PIPE, text=True)
    return bool(done.stdout.strip())


class Tree:
    """A root being made: files at the same places as on this machine."""

    def __init__(self, root: Path):
        self.root = root
        for name in FOLDERS:
            (root / name).mkdir(parents=True)
        for name in ("lib", "lib64", "lib32", "bin", "sbin"):  # on merged systems links into /usr
            if os.path.islink(f"/{name}"):
                (root / name).symlink_to(os.readlink(f"/{name}"))

    def place(self, path: str) -> Path:
        """Where an absolute path lies in this root, its links resolved as they would be inside."""
        first = Path(path).parts[1]
        link = self.root / first
        rest = Path(*Path(path).parts[2:])
        return self.root / os.readlink(link) / rest if link.is_symlink() else self.root / first / rest

    def copy(self, path: str, to: str | None = None) -> None:
        place = self.place(os.path.normpath(to or path))
        if place.exists():
            return
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)
        place.chmod(0o755 if os.access(path, os.X_OK) else 0o644)

    def program(self, name: str) -> None:
        path = name if name.startswith("/") else shutil.which(name)
        if not path:
            raise RootError(f"{name} is not installed")
        self.copy(path, f"/usr/bin/{Path(path).name}" if not name.startswith("/") else path)
        for library in libraries_of(path):
            self.copy(library)


def rules_command(clang: str) -> list[str]:
    """What asks clang's CUDA front end about a rung (common/simt/rules); paths are relative to the course's folder."""
    command = front_end.command(clang, ["-std=c++17", "-I", "common/rung"], relaxed=False, headers="common/simt/include")
    return [command[0], "--driver-mode=g++", *command[1:], "-include", "common/simt/rules/declarations.h"]


PRECOMPILED = "declarations.pch"  # the course's headers as clang has understood them


def precompiled_rules_command(clang: str) -> tuple[list[str], list[str]]:
    """What makes that file, on the standard output, and the same question asked with it: the headers are read once for all submissions."""
    *command, _, declarations = rules_command(clang)
    return [*command, *front_end.precompiling(f"/tmp/{PRECOMPILED}"), declarations], [*command, *front_end.read_before(f"/{PRECOMPILED}")]


def clang_itself() -> str:
    """The program that the links clang++ lead to: it finds its libraries from there. "" where there is none."""
    clang = front_end.compiler()
    return os.path.realpath(clang) if clang else ""


def course_headers(course: Path) -> list[str]:
    """The course's headers that a kernel may include, and those that these include, named from their own folder."""
    found = list(COURSE_HEADERS)
    for name in found:
        path = course / name
        for included in re.findall(r'(?m)^#include "([\w./]+)"', path.read_text()) if path.is_file() else []:
            beside = os.path.normpath(Path(name).parent / included)
            if beside not in found:
                found.append(beside)
    return found


def stand_ins(course: Path) -> list[str]:
    """The headers that stand in for CUDA's, by the names under which a kernel includes them."""
    names = [path.relative_to(course / "common/simt/include") for path in rules.kernel_headers(course) if path.suffix == ".h"]
    return [str(name) for name in names if name.parts[0] != "simt"]


def make_compile_root(root: Path, course: Path, helpers: tuple[str, ...] = ()) -> Tree:
    gxx = shutil.which("g++")
    if not gxx:
        raise RootError("g++ is not installed")
    tree = Tree(root)
    for program in ("g++", "as", "ld", "sed", "cat", "sh", "nm", "strip", "head", "readelf", "objcopy", "prlimit", *helpers):
        tree.program(program)
    for part in ("cc1plus", "collect2"):
        tree.program(output_of(gxx, f"-print-prog-name={part}").strip())
    for name in ("liblto_plugin.so", "libc.so", "libm.so", "libgcc_s.so", "libgcc.a", "libc_nonshared.a", "libstdc++.so"):
        path = output_of(gxx, f"-print-file-name={name}").strip()
        if path.startswith("/"):
            tree.copy(path, os.path.normpath(path))

    if announces(course):
        program = course / "build/cpu/announce"
        shutil.copyfile(program, root / "announce")
        (root / "announce").chmod(0o755)
        for library in libraries_of(str(program)):
            tree.copy(library)
    else:
        tree.program("cp")

    course_root = root / "course"
    for part in course_headers(course):
        source, target = course / part, course_root / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns(*rules.LIBRARIES))
        else:
            shutil.copyfile(source, target)

    # The linker says what it opens, the compiler what it includes.
    flags, instrument = rung_flags(course)
    trial = root / "trial.so"
    opened = output_of(gxx, "-shared", "-fPIC", "-x", "c++", "-", "-Wl,-t", "-o", str(trial), given="#include <iostream>\n", cwd=root)
    trial.unlink()
    for path in re.findall(r"^(/\S+)$", opened, re.MULTILINE):
        if not path.startswith("/tmp/") and Path(path).is_file():
            tree.copy(path)
    includes = "".join(f"#include <{name}>\n" for name in HEADERS) + '#include "rung.h"\n'
    commands = [(gxx, *flags, "-x", "c++"), (gxx, *flags, *instrument, "-x", "c++")]
    if clang := clang_itself():
        tree.program(clang)
        # By this file clang recognises the folder of g++'s library.
        tree.copy(os.path.normpath(output_of(gxx, "-print-file-name=crtbegin.o").strip()))
        commands.append(rules_command(clang))
    for command in commands:
        listed = output_of(*command, "-M", "-", given=includes, cwd=course_root)
        for path in listed.replace("\\\n", " ").split():
            if path.startswith("/"):
                tree.copy(path)
    return tree


def make_run_root(root: Path, course: Path, helpers: tuple[str, ...] = (), worker: str = "build/cpu/worker") -> Tree:
    """worker: the course's program, which lies at the top of the root."""
    tree = Tree(root)
    for program in ("addr2line", "prlimit", *helpers):
        tree.program(program)
    place = root / Path(worker).name
    shutil.copyfile(course / worker, place)
    place.chmod(0o755)
    for library in libraries_of(str(course / worker)):
        tree.copy(library)
    machine = root / "course" / MACHINE  # for which times are predicted
    machine.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(course / MACHINE, machine)
    for name in ("libstdc++.so.6", "libm.so.6", "libgcc_s.so.1", "libc.so.6"):  # what a rung may need besides
        path = output_of("g++", f"-print-file-name={name}").strip()
        if path.startswith("/"):
            tree.copy(path, f"{Path(next(iter(libraries_of('/bin/sh')))).parent}/{name}" if not Path(path).exists() else os.path.normpath(path))
    return tree
