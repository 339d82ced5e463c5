"""Sharded softmax + top-K (sharded/): right on any number of devices, and every wrong program of broken.toml is found."""

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "common/bench/sharded"
SIMTCC = ROOT / "common/simt/simtcc"
NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")


def run(*command, seconds=300, **environment):
    return subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, **environment}, timeout=seconds)


def simtcc(*arguments):
    return run(sys.executable, SIMTCC, "-I", ROOT / "common/rung", *arguments)


def edited(entry, folder):
    """The folder's files with an entry's mistake."""
    shutil.copytree(SOURCES, folder)
    path = folder / entry["file"]
    text = path.read_text()
    for edit in entry["edit"]:
        if text.count(edit["replace"]) != 1:
            raise ValueError(f"{entry['file']} has {text.count(edit['replace'])} times: {edit['replace']}")
        text = text.replace(edit["replace"], edit["by"])
    path.write_text(text)


class Sharded(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = Path(temporary.name)
        cls.pool = ThreadPoolExecutor(os.cpu_count())
        local = {mode: cls.folder / f"local{mode}.o" for mode in ("", "--check", "--profile")}
        made = cls.pool.map(lambda mode: simtcc(*filter(None, [mode]), "-c", SOURCES / "local_topk.cu", "-o", local[mode]), local)
        for one in made:
            if one.returncode:
                raise AssertionError(one.stdout)
        cls.local = local

    def build(self, name, *flags, sources=SOURCES):
        made = simtcc(*flags, sources / "sharded_test.cu", self.local[next((f for f in flags if f in self.local), "")],
                      "-o", self.folder / name)
        self.assertEqual(made.returncode, 0, made.stdout)
        return self.folder / name

    def test_right_on_any_number_of_devices(self):
        program = self.build("plain")
        for devices in "1", "2", "3", "4", "8":
            with self.subTest(devices=devices):
                result = run(program, SIMT_DEVICES=devices)
                self.assertEqual(result.stdout, f"PASS on {devices} devices\n")

    def test_clean_under_the_checks(self):
        program = self.build("checked", "--check", "-DONLY_F32")
        for devices in "1", "3":
            with self.subTest(devices=devices):
                result = run(program, SIMT_DEVICES=devices)
                self.assertEqual(result.stdout, f"PASS on {devices} devices\n")

    def test_bytes_over_links(self):
        # 3 calls, 4 rows of 960 floats on 3 devices, k = 20: what goes over each link.
        message = 3 * 4 * 21 * 8
        flags = 3 * 4 * (4 + 4)  # one per row; an atomic store counts as an exchange, with 4 bytes back
        expected = {"gather_logits": 3 * 4 * 320 * 4, "three_reductions": 3 * 4 * (8 + 8 * 20), "packed": message, "one_shot": message + flags}
        program = self.build("profiled", "--profile", "-DONLY_F32")
        for variant, moved in expected.items():
            with self.subTest(variant):
                result = run(program, "f32", variant, "even", SIMT_DEVICES="3", SIMT_PROFILE=str(self.folder / "counters.json"))
                self.assertIn("PASS", result.stdout)
                for a, b in (0, 1), (1, 0), (0, 2), (2, 1):
                    self.assertIn(f"from device {a} to device {b}: {moved} bytes", result.stdout)

    def test_the_benchmark_compiles(self):
        made = simtcc("-O0", "-c", SOURCES / "sharded_bench.cu", "-o", self.folder / "bench.o")
        self.assertEqual(made.returncode, 0, made.stdout)

    @unittest.skipUnless(NVCC, "nvcc is not installed")
    def test_nvcc_takes_all_of_it(self):
        # NCCL's header is not part of CUDA: the executor's has the same declarations.
        headers = self.folder / "nccl"
        headers.mkdir()
        shutil.copy(ROOT / "common/simt/include/nccl.h", headers)
        for name in "local_topk", "sharded_test", "sharded_bench":
            made = run(NVCC, "-std=c++17", "-arch=sm_90", "-I", ROOT / "common/rung", "-I", headers, "-c", SOURCES / f"{name}.cu",
                       "-o", self.folder / f"{name}.o")
            self.assertEqual((made.returncode, made.stdout), (0, ""))

    def test_every_wrong_program_is_found(self):
        with open(SOURCES / "broken.toml", "rb") as file:
            entries = tomllib.load(file)

        def verdict(name):
            edited(entries[name], self.folder / name)
            program = self.build(f"{name}.out", "--check", "-DONLY_F32", "-O0", sources=self.folder / name)
            return run(program, "f32", entries[name]["variant"], SIMT_DEVICES=str(entries[name].get("devices", 3)))

        for name, result in zip(entries, self.pool.map(verdict, entries)):
            with self.subTest(name):
                self.assertNotEqual(result.returncode, 0, result.stdout)
                self.assertIn(entries[name]["verdict"], result.stdout)


if __name__ == "__main__":
    unittest.main()
