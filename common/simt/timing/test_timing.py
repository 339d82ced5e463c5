"""The model of a GPU's time: machine files, what cannot be predicted, counts that do not change, and the recorded points of the ladder."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]
import recorded  # noqa: E402
from course.sampling import has_list, sampled  # noqa: E402

ROOT = HERE.parents[2]
MACHINES = HERE / "machines"
RULES = ["make", "-s", "-C", ROOT, "-f", "common/build/rules.mk"]
LABS = {"lab01_naive": "softmax_naive", "lab02_smem": "softmax_smem", "lab03_online": "softmax_online", "lab04_f16x8": "softmax_f16x8", "lab05_topk": "softmax_topk",
        "lab06_limit": "softmax_limit", "lab06b_topk": "softmax_topk_limit", "lab08_rms_norm": "rms_norm", "lab08b_cross_entropy": "cross_entropy",
        "lab08c_layer_norm": "layer_norm"}
# Recorded points that are predicted anew: columns, and how many rows are run (0: as many as make ladder runs). Lab 01 has a block for many
# rows, lab 06 chooses its kernel by their number, and lab 08 is one of others.
LAB08 = [lab for lab in LABS if lab.startswith("lab08")]
PARTS = {lab: {4096: 64, 50257: 16} if lab in LAB08 else {4096: 0, 50257: 0 if lab in ("lab01_naive", "lab06_limit") else 16} for lab in LABS}
BIGRAMS = ("lab02_smem", "lab03_online", "lab04_f16x8", "lab06_limit")  # 600 rows of 600; those of the others take longer

PROGRAM = """#include <cstdio>
#include <cublas_v2.h>
__global__ void twice(const float* in, float* out) { out[blockIdx.x * 256 + threadIdx.x] = 2 * in[blockIdx.x * 256 + threadIdx.x]; }
__global__ void scaled(const float* in, const float* weights, float* out) {
  for (int c = threadIdx.x; c < 4096; c += 256) out[blockIdx.x * 4096 + c] = in[blockIdx.x * 4096 + c] * weights[c];
}
__global__ void plain(const float* in, float* out) {
  for (int c = threadIdx.x; c < 4096; c += 256) out[blockIdx.x * 4096 + c] = in[blockIdx.x * 4096 + c] * 2;
}
__global__ void strange(double* out) { out[threadIdx.x] = tgamma(out[threadIdx.x]); }
int main() {
  float *a, *b;
  cudaMalloc(&a, 1 << 20); cudaMalloc(&b, 1 << 20); cudaMemset(a, 0, 1 << 20);
  cudaEvent_t begin, end;
  cudaEventCreate(&begin); cudaEventCreate(&end);
  cudaEventRecord(begin);
  twice<<<1024, 256>>>(a, b);
  cudaEventRecord(end);
  float milliseconds;
  cudaEventElapsedTime(&milliseconds, begin, end);
  std::printf("%.9g\\n", milliseconds);
  cudaEventRecord(begin);
  strange<<<1, 32>>>(reinterpret_cast<double*>(a));
  cublasHandle_t library;
  cublasCreate(&library);
  const float one = 1, zero = 0;
  cublasSgemm(library, CUBLAS_OP_N, CUBLAS_OP_N, 16, 16, 16, &one, a, 16, a, 16, &zero, b, 16);
  cudaEventRecord(end);
  for (int time = 0; time < 2; time++) {
    const bool ended = cudaEventElapsedTime(&milliseconds, begin, end) == cudaSuccess;
    std::printf("%s %g\\n", ended ? "success" : "error", milliseconds);
  }
  cudaEventRecord(begin);
  cudaEventRecord(end);
  cudaEventElapsedTime(&milliseconds, begin, end);
  std::printf("%g\\n", milliseconds);
  cudaMalloc(&a, 64 << 20); cudaMalloc(&b, 64 << 20); cudaMemset(a, 0, 64 << 20);
  scaled<<<4095, 256>>>(a, a + 4095 * 4096, b);
  plain<<<4095, 256>>>(a, b);
  return cudaDeviceSynchronize();
}
"""


def run(command, **options) -> subprocess.CompletedProcess:
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, **options)


class Program(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        source, cls.program = Path(cls.folder.name, "a.cu"), Path(cls.folder.name, "a")
        source.write_text(PROGRAM)
        built = run([sys.executable, ROOT / "common/simt/simtcc", "--profile", source, "-o", cls.program])
        if built.returncode:
            raise AssertionError(built.stderr)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def launches(self, gpu: str) -> list[dict]:
        report = Path(self.folder.name, "report.json")
        done = run([self.program], env={**os.environ, "SIMT_GPU": gpu, "SIMT_PROFILE": str(report)})
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(report.read_text())["launches"]

    def test_every_gpu_has_a_prediction_with_a_band(self):
        for path in MACHINES.glob("*.json"):
            with self.subTest(path.stem):
                predicted = self.launches(path.stem)[0]["predicted"]
                self.assertEqual(predicted["gpu"], json.loads(path.read_text())["name"])
                self.assertLess(predicted["low"], predicted["seconds"])
                self.assertLess(predicted["seconds"], predicted["high"])
                self.assertTrue(1e-6 < predicted["seconds"] < 1e-4, predicted)
                self.assertIn(predicted["limit"], ("dram", "latency", "launch", "tail", "issue", "lsu", "l2"))

    def test_a_program_that_times_itself_prints_the_prediction(self):
        report = Path(self.folder.name, "report.json")
        done = run([self.program], env={**os.environ, "SIMT_GPU": "h100", "SIMT_PROFILE": str(report)})
        predicted = json.loads(report.read_text())["launches"][0]["predicted"]["seconds"]
        around_twice, *around_strange, around_nothing = done.stdout.splitlines()
        self.assertAlmostEqual(float(around_twice) / 1e3 / predicted, 1, places=4)
        self.assertIn("predicted for an NVIDIA H100", done.stderr)
        self.assertEqual(around_strange, 2 * ["success nan"])
        self.assertEqual(re.findall("NaN for events around (.*), which has no prediction: (.*)", done.stderr),
                         [("strange", "the cost of tgamma is not known"), ("cublasSgemm", "a library computes it, whose kernels are not there")])
        self.assertGreaterEqual(float(around_nothing), 0)

    def test_a_part_of_the_rows_sees_that_part_of_the_multiprocessors(self):
        source, program = Path(self.folder.name, "processors.cu"), Path(self.folder.name, "processors")
        source.write_text("""#include <cstdio>
int main() {
  int count = 0;
  cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0);
  std::printf("%d", count);
}
""")
        built = run([sys.executable, ROOT / "common/simt/simtcc", source, "-o", program])
        self.assertEqual(built.returncode, 0, built.stderr)
        self.assertEqual([run([program], env={**os.environ, "SIMT_GPU_TIMES": times}).stdout for times in ("1", "8", "1000")], ["132", "16", "1"])

    def test_an_odd_part_of_the_rows_is_named(self):
        program = Path(self.folder.name, "odd")
        source = program.with_suffix(".cu")
        source.write_text("int main() { cudaDeviceProp p; return cudaGetDeviceProperties(&p, 0); }")
        built = run([sys.executable, ROOT / "common/simt/simtcc", source, "-o", program])
        self.assertEqual(built.returncode, 0, built.stderr)
        for times in ("", "0", "-3", "2.5", "8x", "99999999999999999999"):
            with self.subTest(times):
                done = run([program], env={**os.environ, "SIMT_GPU_TIMES": times})
                self.assertEqual((done.returncode, done.stderr), (2, f"simt: SIMT_GPU_TIMES is '{times}'; it must be a whole number from 1 to 1000000\n"))

    def test_blocks_that_no_trace_has_room_for_are_not_taken_for_others(self):
        """3,000,000 entries are kept. What all blocks do alike is known from those that fit; where later ones do more it is not, nor of one block."""
        source, program, report = (Path(self.folder.name, name) for name in ("long.cu", "long", "long.json"))
        source.write_text("""__global__ void turns(const float* in, float* out, int all, int more) {
  float sum = 0;
  for (int i = 0; i < all + more * blockIdx.x; i++) sum = sum * 0.5f + in[i & 1023];
  out[blockIdx.x] = sum;
}
int main() {
  float *in, *out;
  cudaMalloc(&in, 4096); cudaMalloc(&out, 4096); cudaMemset(in, 0, 4096);
  turns<<<13, 1>>>(in, out, 300000, 0);
  turns<<<13, 1>>>(in, out, 0, 50000);
  turns<<<1, 1>>>(in, out, 2000000, 0);
  turns<<<13, 1>>>(in, out, 30000, 0);
  return cudaDeviceSynchronize();
}
""")
        built = run([sys.executable, ROOT / "common/simt/simtcc", "--profile", source, "-o", program])
        self.assertEqual(built.returncode, 0, built.stderr)
        for cores in ("1", "16"):  # how many blocks run side by side does not matter
            with self.subTest(cores=cores):
                self.assertEqual(run([program], env={**os.environ, "SIMT_PROFILE": str(report), "SIMT_CORES": cores}).returncode, 0)
                alike, rising, one, short = (launch["predicted"] for launch in json.loads(report.read_text())["launches"])
                self.assertTrue(8 < alike["seconds"] / short["seconds"] < 10)  # ten times the turns, and the launch
                self.assertEqual((rising["seconds"], rising["why"]), (None, "the blocks that there is room for in a trace do other work than the rest"))
                self.assertEqual((one["seconds"], one["why"]), (None, "one block does more than there is room for in a trace"))

    def test_what_the_model_does_not_know_has_no_number(self):
        predicted = self.launches("h200")[1]["predicted"]
        self.assertIsNone(predicted["seconds"])
        self.assertIn("tgamma", predicted["why"])

    def test_what_all_blocks_read_hides_nothing_of_what_each_reads_alone(self):
        """Half of what `scaled` asks for comes from L2; DRAM gives it as much as `plain`, and one row of weights."""
        scaled, plain = (launch["predicted"] for launch in self.launches("h200")[2:4])
        self.assertEqual(plain["limit"], "dram")
        self.assertAlmostEqual(scaled["seconds"] / plain["seconds"], 1, delta=0.05)

    def refused(self, gpu: str) -> str:
        done = run([self.program], env={**os.environ, "SIMT_GPU": gpu})
        self.assertEqual(done.returncode, 2, done.stdout)
        return done.stderr

    def test_an_unknown_gpu_lists_those_that_there_are(self):
        said = self.refused("gtx")
        for path in MACHINES.glob("*.json"):
            self.assertIn(path.stem, said)

    def test_a_machine_file_with_a_mistake_names_the_constant(self):
        good = json.loads((MACHINES / "h200.json").read_text())
        for change, said in (({"clock_ghz": None}, "lacks the constant 'clock_ghz'"), ({"l2_latency": {"value": -3, "source": "measured"}}, "'l2_latency' is -3"),
                             ({"warps": {"value": 64}}, "'warps' does not say its \"source\""), ({"blocks": {"value": "many", "source": "x"}}, "'blocks' has no number"),
                             ({"multiprocessors": {"value": 131.5, "source": "x"}}, "'multiprocessors' is 131.5; it must be a whole number"),
                             ({"clock_ghz": {"value": 1e300, "source": "x"}}, "'clock_ghz' is 1e+300; it must lie between 0.3 and 5"),
                             ({"l1_kib": {"value": 64, "source": "x"}}, "'l1_kib' is 64 and 'shared_kib' 228; the first is L1 and shared memory together")):
            bad = {key: value for key, value in {**good, **change}.items() if value is not None}
            path = Path(self.folder.name, "bad.json")
            path.write_text(json.dumps(bad))
            with self.subTest(said):
                self.assertIn(said, self.refused(str(path)))


    def test_what_is_no_machine_file_is_told_by_its_name(self):
        folder = Path(self.folder.name, "folder.json")
        folder.mkdir()
        nameless = Path(self.folder.name, "machine")
        nameless.write_text((MACHINES / "h200.json").read_text())
        cut_off = Path(self.folder.name, "cut_off.json")
        cut_off.write_text((MACHINES / "h200.json").read_text()[:500])
        for path, said in ((folder, f"cannot read the machine file {folder}: it is no file"), (nameless, "the path of a machine file, which ends in .json"),
                           (cut_off, f"{cut_off} is no JSON"), (Path("none.json"), "cannot read the machine file none.json: No such file or directory")):
            with self.subTest(path.name):
                self.assertIn(said, self.refused(str(path)))


class Recorded(unittest.TestCase):
    """The table of recorded points beside their predictions."""

    def rows(self, *times: tuple[str, float, float | None]) -> list[dict]:
        shape = {"lab": "lab02_smem", "dtype": "f32", "rows": 4, "cols": 8, "k": 0, "input": "normal"}
        key = lambda name: (shape["lab"], name, "f32", 4, 8, 0, "normal")  # noqa: E731
        return recorded.rows_of({key(name): {**shape, "variant": name, "seconds": seconds} for name, seconds, _ in times},
                                {key(name): {"seconds": seconds, "predicted": {"limit": "dram"}} for name, _, seconds in times if seconds})

    def test_a_pair_in_the_wrong_order_is_named(self):
        rows = self.rows(("serial", 2e-6, 1e-6), ("tree", 1.7e-6, 3e-6), ("other", 1.9e-6, None))
        self.assertEqual([(a["variant"], b["variant"]) for a, b in recorded.wrong_order(rows)], [("serial", "tree")])
        said = recorded.markdown(rows)
        self.assertIn("| 2.0 | 1.0 | 0.50 | dram |", said)
        self.assertIn("| 1.9 | - | - |  |", said)
        self.assertIn("0 of 2 lie within a factor of 1.3; the median is 2.00, the worst 2.00.", said)

    def test_terms_that_do_not_hold_are_named(self):
        rows = self.rows(("serial", 2e-6, 1e-6), ("tree", 1.7e-6, 1.7e-6), ("other", 1.9e-6, None))
        self.assertEqual(recorded.broken_terms(rows), ["lab02_smem serial f32 4 x 8: predicted 1.0 us, measured 2.0 us", "lab02_smem other f32 4 x 8: no prediction",
                                                        "lab02_smem serial f32 is slower than tree f32, 4 x 8"])

    def test_an_exception_of_size_is_none_of_order(self):
        rows = self.rows(("serial", 2e-6, 1e-6), ("tree", 1.7e-6, 1.7e-6))
        with mock.patch.object(recorded, "FARTHER", {("lab02_smem", "serial", "f32", 8): 2.1}):
            self.assertEqual(recorded.broken_terms(rows), ["lab02_smem serial f32 is slower than tree f32, 4 x 8"])
        with mock.patch.object(recorded, "OTHER_ORDER", {("lab02_smem", "serial f32", "tree f32", 8)}):
            self.assertEqual(recorded.broken_terms(rows), ["lab02_smem serial f32 4 x 8: predicted 1.0 us, measured 2.0 us"])

    def test_less_than_a_tenth_is_no_order(self):
        rows = self.rows(("a", 1.05e-6, 1e-6), ("b", 1e-6, 2e-6))
        self.assertEqual(recorded.wrong_order(rows), [])


class Ladder(unittest.TestCase):
    """The solutions, whose times on an H200 are recorded."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        rungs = [f"build/cpu/checked/solutions/{lab}/{kernel}.so" for lab, kernel in LABS.items()]
        built = run([*RULES, "build/cpu/worker", "build/cpu/profile", *rungs])
        if built.returncode:
            raise AssertionError(built.stderr)

    def test_counts_are_the_same_with_a_prediction(self):
        command = ["build/cpu/profile", "--worker", "build/cpu/worker", "--rung", "build/cpu/checked/solutions/lab03_online/softmax_online.so", "--rows", "40", "--cols", "601"]
        totals = []
        for extra in ({}, {"SIMT_GPU": "h200"}):
            report = json.loads(run(command, env={**os.environ, **extra}).stdout)
            totals.append([(launch["total"], launch["lines"]) for variant in report["variants"] for launch in variant["report"]["launches"]])
            self.assertEqual("predicted" in report["variants"][0]["report"]["launches"][0], bool(extra))
        self.assertEqual(*totals)

    def user_seconds(self, kernel: str, variant: str, rows: int, cols: int, **more: str) -> float:
        command = ["build/cpu/profile", "--worker", "build/cpu/worker", "--rung", f"build/cpu/checked/solutions/{kernel}.so", "--rows", str(rows), "--cols", str(cols), "--only", variant]
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=ROOT, env={**os.environ, **more})
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(child.returncode, 0)
        return usage.ru_utime  # with that of the worker, which has ended

    def test_what_a_prediction_costs_beside_the_counted_run(self):
        """256 rows that stand for 2048, as make labNN runs a part of them, and short ones whose blocks are all traced. The least of three, taken in turns."""
        part, all_traced = (256, 4096, "8", 1.5), (2048, 600, "1", 1.9)  # of the latter 1.6 to 1.7 were measured
        for kernel, variant, (rows, cols, times, most) in (("lab02_smem/softmax_smem", "tree", part), ("lab03_online/softmax_online", "online", part),
                                                           ("lab04_f16x8/softmax_f16x8", "f16x8", part), ("lab06_limit/softmax_limit", "auto", all_traced)):
            with self.subTest(kernel):
                both = [(self.user_seconds(kernel, variant, rows, cols), self.user_seconds(kernel, variant, rows, cols, SIMT_GPU="h200", SIMT_GPU_TIMES=times))
                        for _ in range(3)]
                without, predicted = map(min, zip(*both))
                self.assertLess(predicted / without, most, both)

    def test_a_worker_says_what_is_wrong_with_a_machine_file(self):
        path = Path(self.folder.name, "bad.json")
        path.write_text(json.dumps({**json.loads((MACHINES / "h200.json").read_text()), "band": {"value": 0.5, "source": "x"}}))
        done = run(["build/cpu/profile", "--worker", "build/cpu/worker", "--rung", "build/cpu/checked/solutions/lab03_online/softmax_online.so", "--rows", "1", "--cols", "32"],
                   env={**os.environ, "SIMT_GPU": str(path)})
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"online f32: {path}: 'band' is 0.5; it must lie between 1 and 10\n", done.stderr)

    def profile(self, number: str, **variables: str) -> str:
        done = run(["common/commands/profile.sh", number], env={**os.environ, "BACKEND": "cpu", "SOLUTION": "1", **variables})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_the_profile_of_a_part_of_the_rows_predicts_all(self):
        """64 of them leave half of a GPU idle: more blocks would be the wrong advice for 4096."""
        said = self.profile("02")
        self.assertEqual(said.count(" for 4096 rows like these 64: "), 3, said)
        self.assertEqual(said.count("limit: DRAM is busy"), 2, said)
        self.assertNotIn("the grid gives", said)
        asked = self.profile("02", SHAPE="64x600")
        self.assertEqual(asked.count(" for 64 x 600: "), 3, asked)
        self.assertEqual(asked.count("would fit on an SM; the grid gives 1 at most"), 3, asked)

    @has_list
    def test_recorded_points(self):
        """Every recorded point of these shapes, predicted by today's model."""
        measured = recorded.points(ROOT / "plots/results/nvidia-h200.json")
        file = Path(self.folder.name, "predicted.json")
        bigrams = Path(self.folder.name, "bigrams")
        self.assertEqual(run([sys.executable, "common/bench/bigrams.py", "--output", str(bigrams)]).returncode, 0)
        of_bigrams = ["--cols", "600", "--k", "5", "--input", "bigrams", "--matrix", f"{bigrams}.f32"]
        jobs = [(lab, cols, ["--cols", str(cols), *(["--part", str(part)] if part else [])]) for lab in LABS for cols, part in PARTS[lab].items()]
        jobs = sampled(jobs + [(lab, 600, of_bigrams) for lab in BIGRAMS], 4, "shapes of the labs' solutions, predicted")
        for lab, _, shape in jobs:
            done = run([sys.executable, "common/bench/predict.py", "--lab", lab, "--rung", f"build/cpu/checked/solutions/{lab}/{LABS[lab]}.so",
                        "--source", "solution", "--results", str(file), *shape])
            self.assertEqual(done.returncode, 0, done.stderr)
        predicted = recorded.points(file)
        rows = recorded.rows_of({key: point for key, point in measured.items() if key in predicted}, predicted)
        self.assertEqual({(row["lab"], row["cols"]) for row in rows}, {(lab, cols) for lab, cols, _ in jobs})
        self.assertEqual(sum(row["ratio"] is not None for row in rows), len(rows))
        self.assertEqual(recorded.broken_terms(rows), [])


if __name__ == "__main__":
    unittest.main()
