"""The programs in programs/public, written as public repositories write theirs: each plain, under --check and under --profile.
Each compares its results with the host's and ends with PASS."""

import os
import re
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor

from simtcc_testing import SIMT, InFolder, has_list, left_to_rest, run, sampled, simtcc

# A program, what is taken out of it, and what --check then finds.
SABOTAGE = [
    ("large_tiles", "if (rank < step) mine[rank] += mine[rank + step];\n      tile.sync();",
     "if (rank < step) mine[rank] += mine[rank + step];\n      warp.sync();", "racecheck: race in shared memory"),
    ("large_tiles", "mine[rank] = in[global];\n    tile.sync();", "mine[rank] = in[global];", "racecheck: race in shared memory"),
    ("async_copies", "empty[t % 2].arrive_and_wait();", "if (t == 2) (void)empty[0].arrive();", "deadlock"),
    ("async_copies", "(void)full[t % 2].arrive();", "", "deadlock"),
    ("async_copies", "    pipe.consumer_wait();\n    out", "    out", "racecheck: race in shared memory"),
    ("async_copies", "init(&ready, blockDim.x);", "", "a barrier that was not initialised"),
    ("bulk_copies", "wait_for(address_of(&full[t % stages]), t / stages & 1);", "", "racecheck: race in shared memory"),
    ("bulk_copies", "barrier_arrive_tx(bar, 1, sizeof tile)", "barrier_arrive_tx(bar, 1, 2 * sizeof tile)", "deadlock"),
    ("libcuxx_ptx", "      while (!ptx::mbarrier_try_wait_parity(&full[t % stages], t / stages & 1)) {\n      }\n", "", "racecheck: race in shared memory"),
    ("libcuxx_ptx", "ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &empty[t % stages]);", "", "deadlock"),
    ("cub_block", "__syncthreads();\n  const int sum", "const int sum", "racecheck: race in shared memory"),
    ("thrust_algorithms", "thrust::counting_iterator<int>(count),", "thrust::counting_iterator<int>(count + 1),",
     "memcheck: out of bounds in global memory"),
    ("thrust_ordered", "found.begin());\n  for", "found.begin() + 1);\n  for", "memcheck: out of bounds in global memory"),
    ("cub_sort", "__syncthreads();\n  if (descending)", "if (descending)", "racecheck: race in shared memory"),
    ("textures", "cudaCreateChannelDesc<float4>(), n", "cudaCreateChannelDesc<float2>(), n", "It has 2 channels of 32 bits (float), and the kernel reads 4 channels"),
    ("textures", "= tex1D<float>(", "= tex1Dfetch<float>(", "tex1Dfetch is for linear memory"),
    ("textures", "  CHECK(cudaMemcpy2DToArray(line", "  if (false) CHECK(cudaMemcpy2DToArray(line", "initcheck: uninitialised global memory"),
    ("textures", "  look_up<<<", "  CHECK(cudaDestroyTextureObject(objects[1]));\n  look_up<<<", "The number is no texture object"),
    ("surfaces", "surf2Dwrite(make_uchar4(beyond.x, edge.x, y, 255), out, x * (int)sizeof(uchar4), y)",
     "surf2Dwrite(make_uchar4(beyond.x, edge.x, y, 255), out, x, y)", "x is 1, no multiple of the 4 bytes"),
    ("surfaces", "(beyond.x, edge.x, y, 255), out, x * (int)sizeof(uchar4), y", "(beyond.x, edge.x, y, 255), out, x * (int)sizeof(uchar4), y + 1",
     "y is 24, and the array ends at 24"),
    ("surfaces", "extent, cudaArraySurfaceLoadStore", "extent", "the array was made without cudaArraySurfaceLoadStore"),
    ("textures", "  look_up<<<", "  CHECK(cudaFreeArray(line));\n  look_up<<<", "memcheck: freed memory"),
    ("textures", "how.filterMode = cudaFilterModeLinear;", "how.readMode = cudaReadModeNormalizedFloat;\n  how.sRGB = 1;", "operation not supported"),
]

MODES = {"plain": [], "check": ["--check"], "profile": ["--profile"]}


class PublicPrograms(unittest.TestCase):
    @has_list
    def test_each_is_right_in_every_mode(self):
        programs = sorted((SIMT / "programs/public").glob("*.cu"))
        self.assertTrue(programs)
        with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
            def make_and_run(job):
                program, mode = job
                name = f"{program.stem}-{mode}"
                made = simtcc(*MODES[mode], program, "-o", name, folder=folder)
                return made if made.returncode else run(name, folder)

            jobs = sampled([(program, mode) for program in programs for mode in MODES], 24, "programs as public repositories have them, in one of 3 modes")
            for (program, mode), result in zip(jobs, pool.map(make_and_run, jobs)):
                with self.subTest(program=program.name, mode=mode):
                    self.assertEqual(result.returncode, 0, result.stdout)
                    self.assertRegex(result.stdout, re.compile("^PASS$", re.MULTILINE))
                    self.assertNotIn("FAIL", result.stdout)
                    if mode == "profile" and program.stem in ("cub_device", "thrust_algorithms"):
                        self.assertRegex(result.stdout, "not counted, .*(?:cub::DeviceRadixSort|thrust::sort)")
                        self.assertNotRegex(result.stdout, r"(?m)^(?:thrust::|cub::)\S* +1 blocks")


class Sabotaged(InFolder):
    @has_list
    def test_what_is_missing_is_found(self):
        def attempt(number):
            program, old, new, _ = SABOTAGE[number]
            text = (SIMT / f"programs/public/{program}.cu").read_text()
            self.write(f"{number}.cu", text.replace(old, new))
            made = simtcc("--check", f"{number}.cu", "-o", str(number), folder=self.folder)
            return text.count(old), made if made.returncode else run(str(number), self.folder)

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            numbers = sampled(range(len(SABOTAGE)), 10, "of these programs with one part taken out")
            for number, (count, result) in zip(numbers, pool.map(attempt, numbers)):
                program, old, _, finding = SABOTAGE[number]
                with self.subTest(program=program, without=old):
                    self.assertEqual(count, 1, "the program has changed")
                    self.assertNotEqual(result.returncode, 0)
                    self.assertIn(finding, result.stdout)


ASKS = """#include <cuda/ptx>
#include <cstdio>
__global__ void asks(float* out, long long steps) {
  __shared__ uint64_t arrived;
  if (threadIdx.x == 0) cuda::ptx::mbarrier_init(&arrived, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    float sum = 0;
    for (long long i = 0; i < steps; i++) sum = sum * 0.999f + i;
    out[0] = sum;
    cuda::ptx::mbarrier_arrive(&arrived);
  }
  while (!cuda::ptx::mbarrier_try_wait_parity(&arrived, 0)) {
  }
  out[threadIdx.x + 1] = 1;
}
int main() {
  float* out;
  cudaMallocManaged(&out, 1025 * sizeof(float));
  asks<<<1, 1024>>>(out, 1500000000);
  printf("%s %g\\n", cudaGetErrorString(cudaDeviceSynchronize()), out[1024]);
}
"""


class Asking(InFolder):
    @left_to_rest
    def test_threads_that_ask_for_longer_than_the_executor_looks_on_while_another_computes(self):
        """The one that computes is made to give way after a second, and is still at work."""
        self.write("asks.cu", ASKS)
        made = simtcc("asks.cu", "-o", "asks", folder=self.folder)
        self.assertEqual(made.returncode, 0, made.stdout)
        self.assertEqual(run("asks", self.folder).stdout, "no error 1\n")


if __name__ == "__main__":
    unittest.main()
