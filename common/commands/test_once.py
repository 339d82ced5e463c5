"""What a student is shown of the compiler's messages (once.awk), and which of them is called the first (build_rung in common.sh)."""

from __future__ import annotations

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILE = """#include "rung.h"

template <int Width>
__global__ void scale(const float* x, float* y, int cols) {
  for (int c = threadIdx.x; c < cols; c += blockDim.x) y[c] = halve<Width>(x[c]);
}

template <int Width>
cudaError_t launch(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  scale<Width><<<rows, 32, 0, stream>>>(x, y, cols);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("one", launch<1>), rung::softmax("two", launch<2>), rung::softmax("four", launch<4>))
"""


class Once(unittest.TestCase):
    def said(self, text: str) -> list[str]:
        """What make lab01 FILE=... says of a file that does not compile."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "mine.cu"
            file.write_text(text)
            script = ('. common/commands/common.sh; choose_python; file=$1 jobs=1; '
                      'build_rung "$file" "build/cpu/abs$(realpath "${file%.cu}").so" "build/cpu/abs$(realpath "${file%.cu}").rules" || does_not_compile')
            done = subprocess.run(["bash", "-c", script, "bash", str(file)], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  env={key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MAKELEVEL")}, timeout=300)
            self.assertNotEqual(done.returncode, 0, done.stdout)
            return done.stdout.replace(str(file), "mine.cu").splitlines()

    def test_a_mistake_in_a_template_is_told_once_and_without_the_launcher(self):
        said = self.said(FILE.replace("halve<Width>(x[c])", "halve(pack)").replace("  for (", "  float pack[Width];\n  for ("))
        self.assertEqual(sum("error: ‘halve’ was not declared" in line for line in said), 1, said)
        self.assertFalse([line for line in said if "simt::" in line], said)
        self.assertIn("The first error is in line 6: ‘halve’ was not declared", said[-1])

    def test_arguments_that_do_not_fit(self):
        said = self.said(FILE.replace("halve<Width>(x[c])", "x[c]").replace("(x, y, cols);", "(x, cols, y);"))
        self.assertIn("The first error is in line 10: the kernel does not take these arguments: ", said[-1])
        self.assertFalse([line for line in said if "declared here" in line], said)

    def test_a_missing_brace_is_the_first_error(self):
        said = self.said(FILE.replace("halve<Width>(x[c]);\n}", "x[c];\n").replace("template <int Width>\n", "").replace("<Width>", "").replace("launch<1>", "launch"))
        self.assertIn("The first error is in line 3: a function without a } at its end (is one missing?) is not supported", said[-1])
        said = self.said('#include "rung.h"\nfloat f() {\n  return 1;\n\nfloat g() { return 2; }\n')
        self.assertIn("The first error is in line 5: a function-definition is not allowed here before ‘{’ token; is a } missing above it?", said[-1])


if __name__ == "__main__":
    unittest.main()
