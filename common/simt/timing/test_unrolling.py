"""How many rounds of a loop nvcc lets stand one after another: for each rule a kernel whose SASS (nvcc 13, sm_90) was looked at; and what the
prediction makes of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
HEAD = "const float* __restrict__ x, float* __restrict__ y, int n, int m"
FEW = "for (int i = 0; i < {}; i++) v = v * 1.5f + (i + 0.25f);"
TILE = "__shared__ float a[1024], b[1024]; a[threadIdx.x] = x[threadIdx.x]; b[threadIdx.x] = x[n]; __syncthreads(); float s[{0} * {1}] = {{}}, u[{0}], v[{1}]; \
for (int k = 0; k < 8; k++) {{ for (int i = 0; i < {0}; i++) u[i] = a[(threadIdx.x % 8 * {0} + i) * 8 + k]; for (int j = 0; j < {1}; j++) v[j] = b[k * 64 + threadIdx.x % 8 * {1} + j]; \
for (int i = 0; i < {0}; i++) for (int j = 0; j < {1}; j++) s[i * {1} + j] += u[i] * v[j]; }} for (int i = 0; i < {0} * {1}; i++) y[i * 256 + threadIdx.x] = s[i];"
WINDOW = "float s = 0; for (int i = 0; i < {0}; i++) for (int j = 0; j < {0}; j++) s += x[(threadIdx.x + i) * 64 + blockIdx.x + j] * 1.5f; y[threadIdx.x] = s;"
LONG = " ".join(f"v = v * v + {k};" for k in range(7))
EITHER = "float s = 0; for (int i = 0; i < n; i++) {{ const int at = i * 4096 + threadIdx.x; if ({0}) {{ float v = x[at], u = x[at + 512]; " + LONG + " s += v + u; }} else {{ float v = x[at + 1024]; " + LONG + " s = s * v; }} }} y[threadIdx.x] = s;"
# name: rounds that stand together, and the body. 16: nvcc's four, repeated four times by ptxas.
LOOPS = {
    "short_body": (16, "float s = 0; for (int c = threadIdx.x; c < n; c += 256) s += x[c]; y[threadIdx.x] = s;"),
    "short_store": (16, "for (int c = threadIdx.x; c < n; c += 256) y[c] = x[c] * 2;"),
    "middle_body": (4, "float s = 0; for (int c = threadIdx.x; c < n; c += 256) { float v = x[c]; " + FEW.format(16) + " s += v; } y[threadIdx.x] = s;"),
    "long_body": (2, "float s = 0; for (int c = threadIdx.x; c < n; c += 256) { float v = x[c]; " + FEW.format(32) + " s += v; } y[threadIdx.x] = s;"),
    "longer_body": (1, "float s = 0; for (int c = threadIdx.x; c < n; c += 256) { float v = x[c]; " + FEW.format(56) + " s += v; } y[threadIdx.x] = s;"),
    "three_exponentials": (4, "float s = 0; for (int c = threadIdx.x; c < n; c += 256) s += expf(expf(expf(x[c]))); y[threadIdx.x] = s;"),
    "four_exponentials": (2, "float s = 0; for (int c = threadIdx.x; c < n; c += 256) s += expf(expf(expf(expf(x[c])))); y[threadIdx.x] = s;"),
    "unsigned_count": (4, "float s = 0; for (unsigned c = threadIdx.x; c < (unsigned)n; c += 256) s += x[c]; y[threadIdx.x] = s;"),
    "unsigned_index": (4, "float s = 0; for (int c = 0; c < n; c++) s += x[c * m + threadIdx.x]; y[threadIdx.x] = s;"),
    "store_at_times": (4, "for (int c = threadIdx.x; c < n; c += 256) if (x[c] > 0) y[c] = 1;"),
    "step_of_the_launch": (4, "float s = 0; for (int c = threadIdx.x; c < n; c += m) s += x[c]; y[threadIdx.x] = s;"),
    "step_may_wrap": (1, "float s = 0; for (int c = threadIdx.x; c < n; c += blockDim.x) s += x[c]; y[threadIdx.x] = s;"),
    "step_of_a_warp": (4, "float s = 0; for (int c = threadIdx.x % 32; c < n; c += warpSize) s += x[c]; y[threadIdx.x] = s;"),
    "asked_for_1": (1, "float s = 0;\n#pragma unroll 1\nfor (int c = threadIdx.x; c < n; c += 256) s += x[c]; y[threadIdx.x] = s;"),
    "asked_for_2": (2, "float s = 0;\n#pragma unroll 2  // why\n\n// and more of it\nfor (int c = threadIdx.x; c < n; c += 256) s += x[c]; y[threadIdx.x] = s;"),
    "asked_for_8": (8, "float s = 0;\n#pragma unroll(8)\nfor (int c = threadIdx.x;\n     c < n; c += 256) s += x[c]; y[threadIdx.x] = s;"),
    "asked_by_name": (8, "float s = 0;\n#pragma unroll ROUNDS\nfor (int c = threadIdx.x; c < n; c += 256) s += x[c]; y[threadIdx.x] = s;"),
    "asked_without_number": (4, "float s = 0;\n#pragma unroll\nfor (int c = threadIdx.x; c < n; c += 256) s += x[c]; y[threadIdx.x] = s;"),
    "asked_not_to": (1, "float s = 0;\n#pragma nounroll\nfor (int c = threadIdx.x; c < n; c += 256) s += x[c]; y[threadIdx.x] = s;"),
    "known_rounds": (0, "float s = 0; for (int c = 0; c < 8; c++) s += x[c * 256 + threadIdx.x]; y[threadIdx.x] = s;"),
    "known_but_not": (1, "float s = 0;\n#pragma unroll 1\nfor (int c = 0; c < 8; c++) s += x[c * 256 + threadIdx.x]; y[threadIdx.x] = s;"),
    # More rounds than stand in the code, but known ones: a power of two of them, which leaves no rest. Where another test may leave the loop, nvcc's rounds
    # have a jump each, and the prediction takes them one by one.
    "known_512": (16, "float s = 0; for (int c = 0; c < 512; c++) s += x[c * 1024 + n] * x[c * 1024 + n]; y[threadIdx.x] = s;"),
    "known_1000": (8, "float s = 0; for (int c = 0; c < 1000; c++) s += x[c * 1024 + n] * x[c * 1024 + n]; y[threadIdx.x] = s;"),
    "known_by_ldg": (16, "float s = 0; for (int c = 0; c < 512; c++) s += __ldg(x + c * 1024 + n); y[threadIdx.x] = s;"),
    "known_and_long": (8, "float s = 0; for (int c = 0; c < 512; c++) { float v = x[c]; " + LONG + " s += v; } y[threadIdx.x] = s;"),
    "known_until": (1, "float s = 0; for (int c = 0; c < 512; c++) { float v = x[c * 1024 + n]; if (v > s * 3 + 5) break; s += v; } y[threadIdx.x] = s;"),
    "counted_in_a_byte": (0, "unsigned long long v = n * 5ull; char s = 0; for (char c = 0; c < 64; c++) { s = s + (v & 1); v = v >> 1; } y[threadIdx.x] = s;"),
    # A loop for each outcome of a test that no round changes, if a round is not too long for that.
    "either": (4, EITHER.format("m == 0")), "either_and_more": (1, EITHER.replace("}} }} y[", "}} " + LONG.replace("v", "s") * 8 + " }} y[").format("m == 0")),
    "asked_around_a_loop": (0, "float s = 0;\n#pragma unroll\nfor (int k = 0; k < 4; k++)\nfor (int c = threadIdx.x + k; c < n; c += blockDim.x) s = s * 1.5f + x[c];\ny[threadIdx.x] = s;"),
    "in_shared": (4, "extern __shared__ float row[]; for (int c = threadIdx.x; c < n; c += 256) row[c] = expf(row[c]); y[threadIdx.x] = row[0];"),
    "counts_in_shared": (4, "__shared__ int bins[16]; bins[threadIdx.x & 15] = 0; __syncthreads(); for (int c = threadIdx.x; c < n; c += 256) "
                             "atomicAdd(&bins[__float_as_int(x[c]) & 15], 1); __syncthreads(); y[threadIdx.x] = bins[threadIdx.x & 15];"),
    "adds_in_global": (4, "for (int c = threadIdx.x; c < n; c += 256) atomicAdd((int*)y + (__float_as_int(x[c]) & 15), 3);"),
    # Loops around loops: a tile of the thread's own, rows x columns of it, and a window of a filter.
    "tile_of_4_by_4": (0, TILE.format(4, 4)), "tile_of_4_by_8": (0, TILE.format(4, 8).replace("k < 8", "k < 4")), "tile_of_4_by_6": (0, TILE.format(4, 6)),
    "tile_of_8_by_8": (1, TILE.format(8, 8)), "tile_of_8_by_8_twice": (1, TILE.format(8, 8).replace("k < 8", "k < 2")),
    "window_of_5": (0, WINDOW.format(5)), "window_of_9": (0, WINDOW.format(9)),
}
# Launches whose predicted times are compared: name: kernel, blocks, threads, arguments.
COPY = "const int first = blockIdx.x * 4096 + threadIdx.x; for (int i = 0; i < 16; i++) y[first + i * 256 + n] = x[first + i * 256];"
TWICE = "x += (size_t)blockIdx.x * n; float s = 0; for (int c = threadIdx.x; c < n; c += 256) s += x[c]; y[threadIdx.x] = s; __syncthreads(); \
for (int c = threadIdx.x; c < n; c += 256) s += x[c] * s; y[threadIdx.x] = s;"
UNTIL = "float s = 0; const int last = blockIdx.x >= 240 ? m : n; for (int c = 0; c < last; c++) s = expf(s + x[c]); y[blockIdx.x * 256 + threadIdx.x] = s;"
MORE = {"known_outcome": EITHER.format("true"), "copy": COPY, "twice": TWICE, "until": UNTIL, "window_of_13": WINDOW.format(13)}
LAUNCHES = {
    "rolled": "asked_for_1<<<1, 256>>>(x, y, 256 * 64, 0)", "in eights": "asked_for_8<<<1, 256>>>(x, y, 256 * 64, 0)",
    "3 rounds": "short_body<<<1, 256>>>(x, y, 256 * 3, 0)", "4 rounds": "short_body<<<1, 256>>>(x, y, 256 * 4, 0)",
    "whole sectors": "copy<<<2048, 256>>>(x, y, 0, 0)", "sectors in part": "copy<<<2048, 256>>>(x, y, 1, 0)",
    "twice, whole": "twice<<<1056, 256>>>(x, y, 15360, 0)", "twice, in part": "twice<<<1056, 256>>>(x + 1, y, 15360, 0)",
    "of two outcomes": "either<<<1, 256>>>(x, y, 512, 0)", "one outcome": "known_outcome<<<1, 256>>>(x, y, 512, 0)",
    "alike": "until<<<264, 256>>>(x, y, 1000, 1000)", "one longer": "until<<<264, 256>>>(x, y, 1000, 1400)",
}


def source() -> str:
    text = "#include <cstdio>\nconstexpr int ROUNDS = 8;\n"
    for name, body in [*((name, body) for name, (_, body) in LOOPS.items()), *MORE.items()]:
        text += f'extern "C" __global__ void {name}({HEAD}) {{\n{body}\n}}\n'
    launches = "\n".join(f"  {launch};" for launch in LAUNCHES.values())
    return text + f"int main() {{\n  float *x, *y;\n  cudaMalloc(&x, 64 << 20); cudaMalloc(&y, 64 << 20); cudaMemset(x, 0, 64 << 20);\n{launches}\n  return cudaDeviceSynchronize();\n}}\n"


class Unrolling(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        file, program, table, report = (Path(folder.name, name) for name in ("a.cu", "a", "table", "report.json"))
        file.write_text(source())
        for command in ([sys.executable, ROOT / "common/simt/simtcc", "--profile", file, "-o", program], ["objcopy", "--dump-section", f".simt_operations={table}", program, "/dev/null"],
                        [program]):
            done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  env={**os.environ, "SIMT_GPU": "h200", "SIMT_PROFILE": str(report)})
            if done.returncode:
                raise AssertionError(done.stderr)
        cls.rounds, cls.counted, cls.outcomes = {}, {}, {}
        for line in table.read_text().replace("\0", "").splitlines():
            words = line.split()
            if words[:1] == ["f"]:
                symbol = words[1]
            elif words[:1] == ["l"]:
                cls.rounds.setdefault(symbol, []).append(int(words[2]))
            elif words[:1] == ["b"] and "d" in words[4]:
                cls.outcomes[symbol] = cls.outcomes.get(symbol, 0) + 1
            elif words[:1] == ["o"] and "k" in words[4]:
                cls.counted[symbol] = cls.counted.get(symbol, 0) + 1
        launches = json.loads(report.read_text())["launches"]
        cls.seconds = {name: launch["predicted"]["seconds"] for name, launch in zip(LAUNCHES, launches)}

    def test_rounds_that_stand_together(self):
        for name, (rounds, _) in LOOPS.items():
            with self.subTest(name):
                self.assertEqual(self.rounds[name][-1], rounds)

    def test_a_wide_window_is_not_unrolled_to_its_end(self):
        self.assertGreater(self.rounds["window_of_13"][-1], 1)  # nvcc takes 3 rounds of 13

    def ratio(self, slow: str, fast: str) -> float:
        return self.seconds[slow] / self.seconds[fast]

    def test_one_load_at_a_time_waits_longer(self):
        self.assertGreater(self.ratio("rolled", "in eights"), 3)

    def test_rounds_that_are_left_over_come_one_by_one(self):
        self.assertGreater(self.ratio("3 rounds", "4 rounds"), 1.4)

    def test_shared_memory_at_addresses_that_the_loop_counts_is_not_kept_in_order(self):
        self.assertEqual(self.counted.get("in_shared"), 2)

    def test_a_sector_written_in_part_is_read_before(self):
        self.assertGreater(self.ratio("sectors in part", "whole sectors"), 1.15)

    def test_what_l2_has_forgotten_is_read_again_in_whole(self):
        self.assertGreater(self.ratio("twice, in part", "twice, whole"), 1.2)

    def test_a_test_that_no_round_changes_is_no_jump(self):
        self.assertLess(self.ratio("of two outcomes", "one outcome"), 1.15)
        self.assertEqual((self.outcomes.get("either"), self.outcomes.get("either_and_more")), (1, None))

    def test_where_all_blocks_run_at_one_time_the_longest_decides(self):
        self.assertGreater(self.ratio("one longer", "alike"), 1.2)


if __name__ == "__main__":
    unittest.main()
