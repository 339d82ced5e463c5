"""What becomes of a rung's text before the compiler gets it (rewritten.py)."""

import subprocess
import sys
import unittest
from pathlib import Path

SIMT = Path(__file__).resolve().parent
EX2 = 'asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));'


def rewritten(text: str, *options: str) -> str:
    return subprocess.run((sys.executable, "-B", SIMT / "rewritten.py", *options, "labs/x.cu"), input=text.encode(errors="surrogateescape"),
                          stdout=subprocess.PIPE, check=True).stdout.decode(errors="surrogateescape")


class Rewritten(unittest.TestCase):
    def test_a_launch_keeps_its_line_and_the_files_name(self) -> None:
        lines = rewritten("void f() {\n  k<<<1,\n      2>>>(x);\n}\n").split("\n")
        self.assertEqual(lines[0], '#line 1 "labs/x.cu"')
        self.assertIn("SIMT_LAUNCH((k), (1,", lines[2])
        self.assertEqual(lines[4], "}")

    def test_inline_ptx_that_is_known_is_no_asm_any_more(self) -> None:
        text = rewritten(f"__device__ float f(float x) {{\n  float r;\n  {EX2}\n  return r;\n}}\n")
        self.assertIn('#include "simt/ptx.h"\n#line 1 "labs/x.cu"', text)
        self.assertNotIn("asm", text)

    def test_what_is_not_known_is_an_error_of_its_line(self) -> None:
        text = rewritten('__device__ void f() {\n  asm("bogus.f32;");\n}\n')
        self.assertIn("#line 2\n#error inline PTX (bogus.f32) is not supported by the CPU executor\n#line 2\n", text)

    def test_the_grader_leaves_it_to_its_own_rules(self) -> None:
        text = rewritten('__device__ void f() {\n  asm("bogus.f32;");\n}\n', "--refuse-nothing")
        self.assertIn('asm("bogus.f32;");', text)
        self.assertNotIn("#error", text)

    def test_a_launch_that_is_not_understood(self) -> None:
        for options in ((), ("--refuse-nothing",)):
            text = rewritten("void f() {\n\n  k<<<1, 2>>>;\n}\n", *options)
            self.assertEqual(text, '#line 3 "labs/x.cu"\n#error after <<< >>> a kernel\'s arguments in parentheses must follow\n')

    def test_conditions_on_the_architecture_stay(self) -> None:
        self.assertIn("#if __CUDA_ARCH__ >= 800", rewritten("#if __CUDA_ARCH__ >= 800\n#endif\n"))

    def test_a_mark_line_ends_and_bytes_that_are_no_text(self) -> None:
        self.assertEqual(rewritten("\ufeffint a;\r\n// \udcff\n"), '#line 1 "labs/x.cu"\nint a;\n// \udcff\n')


if __name__ == "__main__":
    unittest.main()
