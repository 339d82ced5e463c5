"""Speed, with the executor in the place of a GPU: the same worker, judge and sandbox, on small shapes. What needs a real one is
in test_gpu_corpus.py."""

from __future__ import annotations

import os
import subprocess
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
COURSE = HERE.parents[1]
sys.path.insert(0, str(HERE))
import items  # noqa: E402
import judge  # noqa: E402
import points  # noqa: E402
import rules  # noqa: E402
import sandbox  # noqa: E402
from gpu import Gpu  # noqa: E402
from ingest import Submission, Taken  # noqa: E402
from speed import Sizes, SpeedJudge  # noqa: E402
from course.sampling import in_turn  # noqa: E402

LAB = "lab02_smem"
SOLUTION = (COURSE / "solutions/lab02_smem/softmax_smem.cu").read_text()
TABLE = points.load(HERE / "points.toml", list(judge.labs_of(COURSE)))
EXECUTOR = Gpu("the executor", backend="cpu", worker="build/cpu/worker", solutions="build/cpu/solutions",
               memory_mib=6 * 64, roofs={"copy_gbs": 1000.0, "read_gbs": 1000.0})
SMALL = Sizes(softmax=(48, 256), topk=(16, 512, 5), near=(30, 40), near_topk=(60, 70))


class PlainBuild:
    """In the place of nvcc."""

    def __init__(self, the_judge: judge.Judge):
        self.judge = the_judge

    def build(self, source: bytes, label: str, uid: int | None):
        return self.judge.workshop.build(source, label, uid)


def setUpModule():
    targets = [f"build/cpu/{name}" for name in ("speed", "worker", "tests/lab02_smem", "solutions/lab02_smem/softmax_smem.so",
                                                "checked/solutions/lab02_smem/softmax_smem.so")]
    subprocess.run(["make", "-s", "--no-print-directory", "-j2", "-f", "common/build/rules.mk", *targets], cwd=COURSE, check=True)


class Measured(unittest.TestCase):
    """From what was measured to points."""

    def verdict(self, **values) -> items.Item:
        shape = {"rows": 4096, "cols": 4096, "k": 0, "solution_seconds": 40e-6, "solution_beside_seconds": 40e-6, "seconds": 40e-6,
                 "bytes": 2.0**27, "aside_seconds": 5e-3, "solution_aside_seconds": 5e-3, "throttled": ""}
        item = items.Item("speed/tree f32", "speed", "tree", 10.0, "tree f32")
        fastest = values.pop("fastest", 30e-6 / 2**27)
        judge_ = SpeedJudge.__new__(SpeedJudge)
        judge_.gpu = Gpu("a GPU", roofs={"copy_gbs": 4000.0, "read_gbs": 4600.0})
        judge_.judge_variant(item, [shape, {**shape, **values}], fastest, TABLE)
        return item

    def test_points_grow_from_none_to_full(self):
        halfway = (TABLE.speed["none"] + TABLE.speed["full"]) / 2
        for seconds, verdict, share in ((40e-6, "pass", 1), (40e-6 / halfway, "fail", 0.5), (40e-6 / TABLE.speed["none"], "fail", 0), (1.0, "fail", 0)):
            item = self.verdict(seconds=seconds)
            self.assertEqual((item.verdict, item.points), (verdict, 10.0 * share), seconds)

    def test_equal_code_gets_full_points(self):
        """On an H200 with busy processors the same kernel was measured at 0.92 of itself."""
        self.assertEqual(self.verdict(seconds=40e-6 / 0.92).points, 10)

    def test_the_slowest_shape_counts(self):
        self.assertEqual(self.verdict(seconds=400e-6).points, 0)

    def test_impossible_speed_waits_for_a_person(self):
        item = self.verdict(seconds=30e-6)  # 4474 GB/s
        self.assertEqual((item.verdict, item.points), ("needs a person", 0))
        self.assertIn("4474 GB/s are more than", item.reason)
        self.assertEqual(self.verdict(seconds=30e-6, k=5).verdict, "pass")  # what only reads may be as fast as reading
        item = self.verdict(seconds=33e-6, fastest=200e-6 / 2**27)
        self.assertIn("4 times as fast as the fastest variant", item.reason)
        self.assertEqual(self.verdict(aside_seconds=0.1).verdict, "needs a person")

    def test_a_hidden_shape_is_not_told(self):
        self.assertNotIn("4104", self.verdict(cols=4104).details)

    def test_calls_of_the_gpu_build(self):
        def reasons(*names: str) -> list[str]:
            return [f.reason for f in rules.of_gpu_symbols(list(names), frozenset(), frozenset())]

        honest = ("cudaLaunchKernelExC", "cudaGetLastError", "cudaFuncSetAttribute", "__cudaRegisterFunction", "atexit", "memcpy", "strlen",
                  "cudaGetDeviceProperties_v2", "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", "_Znwm", "__cxa_guard_acquire",
                  "cudaMallocHost", "cudaMemcpy", "cudaMemcpyAsync", "cudaStreamBeginCapture", "cudaGraphInstantiateWithFlags", "cudaGraphLaunch")
        self.assertEqual(reasons(*honest), [])
        for name in ("cudaMemcpyFromSymbol", "cudaLaunchHostFunc", "cudaMallocManaged", "cudaGraphAddHostNode", "cudaEventElapsedTime_hijacked"):
            self.assertEqual(len(reasons(name)), 1 if not name.startswith("cudaEvent") else 0, name)
        self.assertIn("starts no processes or threads", reasons("pthread_create")[0])

    def test_host_code_of_the_gpu_build(self):
        kernel = '#if 0\n{ asm("ex2.approx.ftz.f32 %0, %1;"); }\n#endif\n'
        self.assertEqual(rules.of_gpu_host_code(kernel), [])
        self.assertEqual(len(rules.of_gpu_host_code(kernel + 'void f() { asm("syscall"); }\n')), 1)


class Timed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            box = sandbox.find()
        except sandbox.SandboxError:
            box = sandbox.Sandbox("none")
        cls.judge = judge.Judge(COURSE, TABLE, box, b"a secret of these tests", os.cpu_count() or 1, only=LAB)
        cls.judge.prepare()
        cls.judge.limits = {**cls.judge.limits, "gpu_seconds": 600}  # on the executor, beside other tests
        cls.judge.gpu = EXECUTOR
        cls.judge.speed = SpeedJudge(cls.judge, EXECUTOR, PlainBuild(cls.judge), SMALL)

    @classmethod
    def tearDownClass(cls):
        cls.judge.close()

    def speeds(self, source: str) -> dict[str, dict]:
        grade = self.judge.grade(Submission("student", "student", Path("student"), {LAB: Taken(source.encode())}))
        self.assertEqual(self.judge.warnings, [])
        self.lab = grade["labs"][0]
        return {item["id"]: item for item in self.lab["items"] if item["category"] == "speed"}

    def changed(self, old: str, new: str) -> str:
        self.assertTrue(old in SOLUTION, old)
        return SOLUTION.replace(old, new)

    def measured(self, trick: str) -> dict[str, dict]:
        """What is measured of the solution with this at the beginning of each of its functions."""
        valid = "if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;"
        built = self.judge.workshop.build(self.changed(valid, f"{valid}\n  {trick}").encode(), f"labs/{LAB}/softmax_smem.cu",
                                          self.judge.box.new_user())
        self.assertEqual(built.error, "", built.details)
        variants = [items.Item(f"speed/{name}", "speed", name, 1.0, name) for name in ("tree f32", "tree_f32x4 f32")]
        lines, problem = self.judge.speed.measure(LAB, variants, built.plain, self.judge.box.new_user())
        self.assertEqual((problem, set(lines)), ("", {"tree f32", "tree_f32x4 f32"}))
        return lines

    @in_turn(3)
    def test_the_solution_is_measured_beside_itself(self):
        speeds = self.speeds(SOLUTION)
        self.assertEqual(set(speeds), {"speed/serial f32", "speed/tree f32", "speed/tree_f32x4 f32"})
        for item in speeds.values():
            self.assertRegex(item["reason"], r"^\d+\.\d\d of our solution's speed", item)
            self.assertRegex(item["details"], r"^48 x 256: .* us, our solution .* us, .* GB/s\na hidden shape near it: ")
        self.assertEqual(self.lab["not_run"], 0)
        self.assertEqual(self.lab["out_of"], 100)

    def test_a_missing_file_loses_speed_too(self):
        grade = self.judge.grade(Submission("student", "student", Path("student"), {LAB: Taken(problem="labs/lab02_smem: not there")}))
        self.assertEqual((grade["points"], grade["out_of"]), (0, 100))

    @in_turn(3)
    def test_what_is_not_right_has_no_speed(self):
        speeds = self.speeds(self.changed('rung::softmax("tree", tree)', 'rung::softmax("tree", nothing)').replace(
            "RUNG_EXPORT", "cudaError_t nothing(const float*, float*, int, int, cudaStream_t) { return cudaSuccess; }\nRUNG_EXPORT"))
        self.assertEqual(speeds["speed/tree f32"]["verdict"], "fail")
        self.assertIn("counts once 100% of tree f32's cases are right", speeds["speed/tree f32"]["reason"])
        self.assertIn("of our solution's speed", speeds["speed/serial f32"]["reason"])

    # The timed launches are those with 48 rows and more of 256 columns; the lab's cases have others.
    TIMED = "(rows >= 36 && rows <= 52 && cols >= 240 && cols <= 320 && cols % 8 == 0)"

    @in_turn(3)
    def test_timed_launches_are_compared(self):
        for trick, word in ((f"static int calls = 0; if ({self.TIMED} && ++calls > 3) return cudaSuccess;", "never written"),  # nothing on repeats
                            (f"if ({self.TIMED}) rows = rows / 2;", "never written"),  # half of the work
                            # Results kept by pointer: the inputs are new for every sample, and the outputs poisoned.
                            (f"static const float* seen[999]; if ({self.TIMED}) {{ for (auto& p : seen) {{ if (p == x) return cudaSuccess; "
                             "if (!p) { p = x; break; } } }", "never written"),
                            (f"if ({self.TIMED}) *static_cast<volatile int*>(nullptr) = 0;", "null pointer"),
                            (f"if ({self.TIMED}) return cudaErrorInvalidValue;", "it returned the error 1")):
            for line in self.measured(trick).values():
                self.assertIn(word, line["problem"], trick)
                self.assertEqual(line["blame"], "submission")

    @in_turn(3)
    def test_the_launches_time_is_told_apart(self):
        """Of what a launch takes nothing goes to the time beside it, in which a submission has nothing to do; and none of it to the
        solution."""
        line = self.measured(f"if ({self.TIMED}) for (volatile long i = 0; i < 20000000; i = i + 1) {{}}")["tree f32"]
        self.assertEqual(line["problem"], "")
        for shape in line["shapes"]:
            self.assertGreater(shape["seconds"], 1.5 * shape["solution_seconds"])
            self.assertGreater(shape["sets"] * shape["seconds"], shape["aside_seconds"])
            for aside in ("aside_seconds", "solution_aside_seconds"):
                self.assertGreater(shape[aside], 0)
            self.assertGreaterEqual(shape["solution_beside_seconds"], shape["solution_seconds"])

    @in_turn(3)
    def test_right_on_a_cpu_and_wrong_on_a_gpu(self):
        right = self.judge.speed.wrong_cases
        self.judge.speed.wrong_cases = lambda *_: {"tree f32": "normal-7x33: far off"}
        try:
            speeds = self.speeds(SOLUTION + "\n// Another file: of equal ones only one is graded.\n")
        finally:
            self.judge.speed.wrong_cases = right
        self.assertIn("right on a CPU, wrong on the GPU", speeds["speed/tree f32"]["reason"])
        others = [item for item in self.lab["items"] if "/tree f32" in item["id"] and item["category"] == "correctness"]
        self.assertEqual({item["verdict"] for item in others}, {"needs a person"})

    def test_cases_on_the_gpu(self):
        built = self.judge.workshop.build(SOLUTION.replace("row[c] * scale;", "row[c] * scale * 1.01f;").encode(), "labs/x.cu", self.judge.box.new_user())
        wrong = self.judge.speed.wrong_cases(LAB, SOLUTION.encode(), built.plain, self.judge.box.new_user())
        self.assertEqual(set(wrong), {"serial f32", "tree f32"})
        self.assertIn("slightly off", wrong["tree f32"])


if __name__ == "__main__":
    unittest.main()
