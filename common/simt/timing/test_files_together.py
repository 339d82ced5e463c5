"""Files that are linked together have their own tables and shared memory: static kernels of one name, and an inline function that the linker keeps once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SHARED = "__device__ inline float of_both(float v) { for (int i = 0; i < 4; i++) v = v * v + 1.0f; return v; }\n"
WORK = {  # the body of each file's static kernel
    "copies": "y[i] = of_both(x[i]);",
    "divides": "__shared__ float s[7680]; s[threadIdx.x] = x[i]; __syncthreads(); float v = s[threadIdx.x ^ 1] + of_both(x[i]); for (int k = 1; k < 40; k++) v = sinf(v) / (v + k); y[i] = v;",
    "adds": "__shared__ float s[7680]; s[threadIdx.x] = of_both(x[i]); __syncthreads(); float v = 0; for (int k = 0; k < 256; k++) v += s[k]; y[i] = v;",
}
FILE = SHARED + """static __global__ void work(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  %s
}
void %s(const float* x, float* y) { work<<<4096, 256>>>(x, y); }
"""


class FilesTogether(unittest.TestCase):
    def profile(self, folder: Path, names: tuple[str, ...]) -> list[float]:
        """The predicted seconds of each file's kernel, in a program of these files."""
        main = folder / "main.cu"
        main.write_text("".join(f"void {name}(const float*, float*);\n" for name in names) + "int main() {\n  float *x, *y;\n"
                        "  cudaMalloc(&x, 4 << 20); cudaMalloc(&y, 4 << 20); cudaMemset(x, 0, 4 << 20);\n" +
                        "".join(f"  {name}(x, y);\n" for name in names) + "  return cudaDeviceSynchronize();\n}\n")
        files = [main]
        for name in names:
            files.append(folder / f"{name}.cu")
            files[-1].write_text(FILE % (WORK[name], name))
        program, report = folder / "program", folder / "report.json"
        for command in ([sys.executable, ROOT / "common/simt/simtcc", "--profile", *files, "-o", program], [program]):
            done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  env={**os.environ, "SIMT_GPU": "h200", "SIMT_PROFILE": str(report)})
            self.assertEqual(done.returncode, 0, done.stderr)
        return [launch["predicted"]["seconds"] for launch in json.loads(report.read_text())["launches"]]

    def test_each_file_has_the_time_that_it_has_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            alone = [self.profile(Path(folder), (name,))[0] for name in WORK]
            together = self.profile(Path(folder), tuple(WORK))
        self.assertGreater(max(alone), 2 * min(alone))
        for name, one, of_all in zip(WORK, alone, together):
            self.assertAlmostEqual(of_all / one, 1, delta=0.02, msg=name)


if __name__ == "__main__":
    unittest.main()
