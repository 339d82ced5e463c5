#!/usr/bin/env python3
"""make sweep02 OVER=threads: copies of a rung with other block sizes; what cannot be swept is refused with its reason."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from block_size import with_threads
from todos import ROOT


def run(*command: str) -> subprocess.CompletedProcess:
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


class Copies(unittest.TestCase):
    def test_one_definition_is_replaced_and_lines_keep_their_numbers(self):
        text = "// threads\nconstexpr int threads = 256;  // per block\nint more_threads = 256;\n"
        self.assertEqual(with_threads(text, 64, "a.cu"), '#line 1 "a.cu"\n// threads\nconstexpr int threads = 64;  // per block\nint more_threads = 256;\n')

    def test_none_or_several_are_refused(self):
        for text, count in (("int threads = 256;\n", 0), ("constexpr int threads = 1;\n  constexpr int threads = 2;\n", 2)):
            with self.assertRaisesRegex(ValueError, rf"a\.cu: .* must stand in it once, .* it has {count}"):
                with_threads(text, 64, "a.cu")

    def test_labs_that_have_one_block_size_can_be_swept(self):
        for lab in ("lab02_smem", "lab03_online", "lab04_f16x8"):
            file = next((ROOT / "solutions" / lab).glob("*.cu"))
            self.assertIn("constexpr int threads = 1024;", with_threads(file.read_text(), 1024, file.name))


class Refused(unittest.TestCase):
    def refused(self, said: str, *command: str) -> None:
        result = run("make", *command)
        self.assertEqual(result.returncode, 2, result.stdout)
        self.assertIn(said, result.stdout)

    def test_what_is_said(self):
        self.refused("OVER=blocks: it can be cols or threads", "sweep02", "OVER=blocks")
        self.refused("lab07_fusion has no rows whose width could be varied", "sweep07")
        self.refused("must stand in it once", "sweep01", "OVER=threads", "SOLUTION=1", "BACKEND=cpu")
        self.refused("there is no lab '77'", "sweep77")
        with tempfile.TemporaryDirectory() as folder:
            self.refused("no such file", "sweep02", f"FILE={folder}/none.cu")

    def test_nothing_that_is_right(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "softmax_smem.cu"
            file.write_text((ROOT / "solutions/lab02_smem" / file.name).read_text().replace("return cudaGetLastError();", "return cudaErrorNotSupported;"))
            result = run("make", "sweep02", "BACKEND=cpu", f"FILE={file}")
            self.assertEqual(result.returncode, 2, result.stdout)
            self.assertIn("error: no variant is right at cols = 256: `make lab02` says what is wrong; SOLUTION=1 sweeps the solution\n", result.stdout)
            self.assertEqual(result.stdout.count("\nserial f32"), 1, result.stdout)  # at the first width, and at no other


if __name__ == "__main__":
    unittest.main()
