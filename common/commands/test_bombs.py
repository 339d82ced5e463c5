#!/usr/bin/env python3
"""A file that no compiler could end with is ended, with a word; and two makes may compile one file at the same time."""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from course_copy import ROOT, run

TIME_BOMB = """template <int depth, int path>
struct Bomb {
  static constexpr long long value = Bomb<depth - 1, 2 * path>::value + Bomb<depth - 1, 2 * path + 1>::value;
};
template <int path>
struct Bomb<0, path> {
  static constexpr long long value = path;
};
static_assert(Bomb<26, 1>::value != 3, "");
"""
MEMORY_BOMB = """#define A(x) x x x x x x x x
#define B(x) A(A(A(A(A(A(A(A(x))))))))
void f() { B(B(int();)) }
"""


class Bombs(unittest.TestCase):
    def ended(self, text: str, **limits: str) -> str:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "bomb.cu"
            file.write_text(text)
            target = f"build/cpu/abs{file.with_suffix('.so')}"
            try:
                done = run(ROOT, "make", "-s", "-f", "common/build/rules.mk", target, **limits)
                self.assertNotEqual(done.returncode, 0)
                self.assertFalse((ROOT / target).exists())
                self.assertEqual(list((ROOT / target).parent.glob("*.said")), [])
            finally:
                shutil.rmtree((ROOT / target).parent, ignore_errors=True)
            return done.stdout

    def test_what_takes_all_time(self):
        self.assertIn("bomb.cu: takes more than 1 s or 6 GiB to compile; look for a macro or a template", self.ended(TIME_BOMB, SIMT_COMPILE_SECONDS="1"))

    def test_what_takes_all_memory(self):
        self.assertIn("bomb.cu: takes more than 120 s or 1 GiB to compile; look for a macro or a template", self.ended(MEMORY_BOMB, SIMT_COMPILE_GIB="1"))

    def test_two_makes_at_once(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "twice.cu"
            file.write_text("__global__ void kernel(float* x) { x[threadIdx.x] = 1; }\n")
            targets = [f"build/cpu/{build}{file.with_suffix('.so')}" for build in ("abs", "checked/abs")]
            try:
                for target in targets:
                    makes = [subprocess.Popen(["make", "-s", "-f", "common/build/rules.mk", target], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                             for _ in range(2)]
                    self.assertEqual([(make.communicate()[0], make.returncode) for make in makes], [(b"", 0)] * 2)
                    made = (ROOT / target).parent.iterdir()
                    self.assertLessEqual({path.name for path in made}, {"twice.so", "twice.so.d", "twice.o", "twice.untimed.o", "twice.untimed.o.d"})
            finally:
                for target in targets:
                    shutil.rmtree((ROOT / target).parent, ignore_errors=True)


if __name__ == "__main__":
    unittest.main()
