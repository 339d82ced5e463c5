"""Files that are linked together have their own tables and shared memory: static kernels of one name, and an inline function that the linker keeps once."""

import json
import unittest

from simtcc_testing import InFolder, run

WORK = {  # the body of each file's static kernel
    "copies": "y[i] = of_both(x[i]);",
    "divides": "__shared__ float s[7680]; s[threadIdx.x] = x[i]; __syncthreads(); float v = s[threadIdx.x ^ 1] + of_both(x[i]); "
               "for (int k = 1; k < 40; k++) v = sinf(v) / (v + k); y[i] = v;",
    "adds": "__shared__ float s[7680]; s[threadIdx.x] = of_both(x[i]); __syncthreads(); float v = 0; for (int k = 0; k < 256; k++) v += s[k]; y[i] = v;",
}
FILE = """__device__ inline float of_both(float v) { for (int i = 0; i < 4; i++) v = v * v + 1.0f; return v; }
static __global__ void work(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  %s
}
void %s(const float* x, float* y) { work<<<4096, 256>>>(x, y); }
"""


class FilesTogether(InFolder):
    def predicted(self, *names: str) -> list[float]:
        """The predicted seconds of each file's kernel, in a program of these files."""
        self.write("main.cu", "".join(f"void {name}(const float*, float*);\n" for name in names) + "int main() {\n  float *x, *y;\n"
                   "  cudaMalloc(&x, 4 << 20); cudaMalloc(&y, 4 << 20); cudaMemset(x, 0, 4 << 20);\n" +
                   "".join(f"  {name}(x, y);\n" for name in names) + "  return cudaDeviceSynchronize();\n}\n")
        for name in names:
            self.write(f"{name}.cu", FILE % (WORK[name], name))
        self.builds("--profile", "main.cu", *(f"{name}.cu" for name in names), "-o", "program")
        done = run("program", self.folder, SIMT_GPU="h200", SIMT_PROFILE="report.json")
        self.assertEqual(done.returncode, 0, done.stdout)
        return [launch["predicted"]["seconds"] for launch in json.loads((self.folder / "report.json").read_text())["launches"]]

    def test_each_file_has_the_time_that_it_has_alone(self):
        alone = [self.predicted(name)[0] for name in WORK]
        self.assertGreater(max(alone), 2 * min(alone))
        for name, one, of_all in zip(WORK, alone, self.predicted(*WORK)):
            self.assertAlmostEqual(of_all / one, 1, delta=0.02, msg=name)


if __name__ == "__main__":
    unittest.main()
