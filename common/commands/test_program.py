"""Where lab 09 runs (program.sh): on two GPUs or more if nvcc finds NCCL, else on the executor, and the first line says why. The driver, nvcc
and NCCL are made up."""

from __future__ import annotations

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DRIVER = """
#include <stdlib.h>
#include <string.h>
int cuInit(unsigned flags) { return 0; }
int cuDeviceGetCount(int* count) { return *count = atoi(getenv("MADE_UP_GPUS")), 0; }
int cuDeviceGet(int* device, int number) { return *device = number, 0; }
int cuDeviceGetName(char* name, int size, int device) { return strncpy(name, "Made Up", size), 0; }
int cuDeviceGetAttribute(int* value, int attribute, int device) { return *value = attribute == 75 ? 9 : 0, 0; }
"""
# Links what needs NCCL where the folder MADE_UP_NCCL is named in its options. All that it makes is a program that succeeds.
NVCC = """#!/bin/bash
[ "$*" != --version ] || { echo "Cuda compilation tools, release 13.0, V13.0.88"; exit; }
printf '%s\\n' "$*" >>"$MADE_UP_LOG"
[[ " $* " == *" ${MADE_UP_NCCL:--I nowhere} "* ]] || { echo "nccl.cpp:1: fatal error: nccl.h: No such file or directory" >&2; exit 1; }
printf '#!/bin/sh\\necho PASS\\n' >"${@: -1}" && chmod +x "${@: -1}"
"""


class WhereItRuns(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        subprocess.run(["make", "-s", "-f", "common/build/rules.mk", "build/cpu/backend"], cwd=ROOT, check=True)

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        (self.folder / "driver.c").write_text(DRIVER)
        subprocess.run(["cc", "-shared", "-fPIC", "-w", "driver.c", "-o", "libcuda.so.1"], cwd=self.folder, check=True)
        (self.folder / "nvcc").write_text(NVCC)
        (self.folder / "nvcc").chmod(0o755)
        (self.folder / "wrong.cu").write_text("#error this is where it ends on the executor\n")
        self.nccl = self.folder / "nvidia/nccl"
        for name in ("include/nccl.h", "lib/libnccl.so.2"):
            (self.nccl / name).parent.mkdir(parents=True)
            (self.nccl / name).touch()

    def lab09(self, gpus: int, **options: object) -> tuple[int, list[str]]:
        # PREBUILT: what the executor's program needs is not built here, since another test may be building it.
        environment = {**os.environ, "PREBUILT": "1", "LD_LIBRARY_PATH": str(self.folder), "MADE_UP_GPUS": str(gpus), "MADE_UP_LOG": str(self.folder / "log"),
                       "NVCC": str(self.folder / "nvcc"), "FILE": str(self.folder / "wrong.cu"), "CHECKS": "off"}
        for name in ("BACKEND", "NCCL_HOME", "PYTHONPATH"):
            environment.pop(name, None)
        done = subprocess.run(["common/commands/lab.sh", "09"], cwd=ROOT, env={**environment, **{name: str(value) for name, value in options.items()}},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
        return done.returncode, done.stdout.splitlines()

    def on_the_executor(self, why: str, gpus: int, **options: object) -> None:
        status, said = self.lab09(gpus, **options)
        self.assertEqual((status, said[0]), (2, f"cpu: {why}: lab 09 runs on the executor's devices"))
        self.assertEqual(said[1], str(self.folder / "wrong.cu"))

    def refused(self, why: str, gpus: int, **options: object) -> None:
        status, said = self.lab09(gpus, BACKEND="cuda", **options)
        self.assertEqual((status, said), (2, [f"error: BACKEND=cuda: lab 09 cannot run on GPUs: {why}"]))

    def test_fewer_than_two_gpus(self):
        self.on_the_executor("one GPU", 1)
        self.on_the_executor("no CUDA device (the driver finds no device)", 0)
        self.on_the_executor("BACKEND=cpu was asked for", 2, BACKEND="cpu", NCCL_HOME=self.nccl, MADE_UP_NCCL=f"-I {self.nccl}/include")
        end = "BACKEND=cpu runs it on the executor's devices"
        self.refused(f"it needs two GPUs or more, and there is one GPU; {end}", 1)
        self.refused(f"it needs two GPUs or more, and there is no CUDA device (the driver finds no device); {end}", 0)
        self.assertFalse((self.folder / "log").exists())  # nvcc was not called

    def test_two_gpus(self):
        for name, options in ("NCCL_HOME", {"NCCL_HOME": self.nccl}), ("pip", {"PYTHONPATH": self.folder}):
            with self.subTest(name):
                status, said = self.lab09(2, MADE_UP_NCCL=f"-I {self.nccl}/include", **options)
                self.assertEqual((status, said[0]), (0, "cuda: 2 GPUs, Made Up (compute capability 9.0)"))
                self.assertIn("one_shot  f32, f16 and bf16, 2 devices                     ok", said)
                last = (self.folder / "log").read_text().splitlines()[-1]
                self.assertIn(f" -L {self.nccl}/lib -l:libnccl.so.2 -Xlinker -rpath={self.nccl}/lib ", last)
                self.assertIn("sharded_test.cu", last)
        self.lab09(2, MADE_UP_NCCL="-lnccl")
        self.assertIn(f"sharded_test.cu build/cpu/sharded/judge.o -lnccl -Xlinker -rpath={self.folder}/../lib64 ", (self.folder / "log").read_text().splitlines()[-1])

    def test_two_gpus_without_nccl_or_nvcc(self):
        nowhere = "NCCL's header nccl.h is found neither by nvcc nor in a pip package"
        install = "install libnccl-dev (NVIDIA's apt repository) or nvidia-nccl-cu13 (pip), or set NCCL_HOME"
        self.on_the_executor(f"2 GPUs, but {nowhere}", 2)
        self.refused(f"2 GPUs, but {nowhere}; {install}", 2)
        self.refused(f"2 GPUs, but NCCL_HOME={self.folder} does not have include/nccl.h and a lib/libnccl.so.2 that goes with it; {install}", 2,
                     NCCL_HOME=self.folder)
        self.refused("2 GPUs, but nvcc is not found; install the CUDA toolkit or set NVCC", 2, NVCC="")


if __name__ == "__main__":
    unittest.main()
