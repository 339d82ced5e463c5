#!/usr/bin/env python3
"""What a failing run prints: the same failure of another variant in one line, and which TODOs to look at."""

import os
import re
import unittest
from pathlib import Path

from shelf import build, run_tests  # which finds the course's package
from course.sampling import in_turn  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.chdir(ROOT)
        said = build("build/cpu/worker", *(f"build/cpu/tests/{lab}" for lab in ("lab02_smem", "lab04_f16x8", "lab05_topk", "lab07_fusion")))
        if said:
            raise RuntimeError(said)

    def written(self, lab: str, file: Path, *edits: tuple[str, str]) -> Path:
        """A copy of a lab's file with some edits, below build/."""
        text = file.read_text()
        for old, new in edits:
            self.assertEqual(text.count(old), 1, old)
            text = text.replace(old, new)
        copy = Path("build/report") / lab / file.name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text)
        return copy

    def test_the_same_of_another_variant_is_said_once(self):
        solution = Path("solutions/lab05_topk/softmax_topk.cu")
        file = self.written("lab05_topk", solution, ("cols, k) && k <= most_k;", "cols, k) && k > most_k;"))
        output = run_tests("lab05_topk", file, "cpu", False, {"case": "normal-7x33-k5"}).output
        self.assertEqual(output.count("returned cudaErrorInvalidValue for a shape that it must take"), 1, output)
        for variant in ("two_kernels f16", "three_pass f32", "online f32", "online bf16"):
            self.assertRegex(output, rf"\n{variant} .*\n    the same cases fail as in two_kernels f32, with the same messages\n")
        self.assertNotIn("stopped here", output.split("\nthree_pass f32")[1])

    def test_values_that_differ_from_type_to_type_are_the_same_words(self):
        solution = Path("solutions/lab05_topk/softmax_topk.cu")
        file = self.written("lab05_topk", solution, ("list.high = max(list.high, min(above, key));", "list.high = max(list.high, max(min(above, key), key));"))
        output = run_tests("lab05_topk", file, "cpu", False, {"case": "normal-7x33-k5", "variant": "online*"}).output
        self.assertRegex(output, r"\n      row 0, rank 1: expected index 31, probability 0\.2113754; got ")
        self.assertRegex(output, r"\nonline f16 (.*\n)+?      row 0, rank 1: expected index 31, probability 0\.2109375; got ")
        self.assertRegex(output, r"\nonline bf16 .*\n    the same cases fail as in online f16, with the same messages\n")
        # Above rank 0 nothing is wrong; the tail of a row has to do with columns, not with ranks.
        self.assertIn("\n      wrong only past rank 0\n", output)

    def test_a_line_of_given_code(self):
        solution = Path("solutions/lab02_smem/softmax_smem.cu")
        text = solution.read_text()
        loop = text[text.index("// STEP 1: "):text.index("// END 1")]
        file = self.written("lab02_smem", solution, (loop, "// TODO 1: nothing\n"))
        output = run_tests("lab02_smem", file, "cpu", True, {"case": "normal-7x33"}).output
        after = output.split("\nNext: edit ")[-1]
        self.assertRegex(after, r"\n  line \d+ fails in normal-7x33 of serial f32: for \(int c = 0; .*\n  This line is given code: ")
        # Inside of a TODO it is not.
        file = self.written("lab02_smem", solution, (loop, "// TODO 1: nothing\n  row[threadIdx.x] = x[cols * gridDim.x];\n"))
        after = run_tests("lab02_smem", file, "cpu", True, {"case": "normal-7x33"}).output.split("\nNext: edit ")[-1]
        self.assertRegex(after, r"\n  line \d+ fails in normal-7x33 of serial f32: row\[threadIdx\.x\] = ")
        self.assertNotIn("This line is given code", after)

    def test_the_address_that_a_function_was_handed(self):
        """Where the mistake is a TODO's, and the line that fails is in a function that gets the address."""
        solution = Path("solutions/lab04_f16x8/softmax_f16x8.cu")
        done = solution.read_text().replace("// STEP ", "// TODO ")

        def after(before: str, then: str) -> str:
            self.assertEqual(done.count(before), 1, before)
            file = self.written("lab04_f16x8", solution, (solution.read_text(), done.replace(before, then)))
            return run_tests("lab04_f16x8", file, "cpu", True, {"case": "normal-7x33", "variant": "f16x*"}).output.split("\nNext: edit ")[-1]

        # The split's head is wrong. The call is given code, and so is a load of two; that of eight is a TODO.
        said = after("(Width - start % Width) % Width)", "start % Width)")
        self.assertRegex(said, r"\n  line \d+ fails in normal-7x33 of f16x8 f16: const uint4 words = .*"
                         r"\n  The address came from line \d+: load\(x_packs \+ Width \* p, pack\);\n  This line is given code: which TODO gives it wrong or missing values")
        self.assertRegex(said, r"TODO=n, n from 1 to 6\n")
        # The call is a TODO's, and the load is given.
        said = after("load(x_packs + Width * p, pack);\n    normalise", "load(x_packs + p, pack);\n    normalise")
        self.assertRegex(said, r"\n  The address came from line \d+: load\(x_packs \+ p, pack\);\n(?!  This line is given code)")
        self.assertRegex(said, r" TODO=5\n")

    def test_what_is_special_about_a_case(self):
        solution = Path("solutions/lab02_smem/softmax_smem.cu")
        file = self.written("lab02_smem", solution, ("  float max = lowest;\n  for (int c = threadIdx.x;", "  float max = 0.0f;\n  for (int c = threadIdx.x;"))
        for judged in False, True:
            output = run_tests("lab02_smem", file, "cpu", False, {"case": "minus_1e4-7x600", "variant": "tree", "judged": judged}).output
            self.assertIn("far off (logic?)", output)
            self.assertEqual("\n      in this case every entry is near -10,000\n" in output, not judged, output)

    def test_a_barrier_that_some_threads_never_reach(self):
        """They have returned by then, which a GPU takes: it is told, and is no mistake by itself."""
        solution = Path("solutions/lab02_smem/softmax_smem.cu")
        scale = "const float scale = inverse(block_reduce(sum, scratch, Add()));\n\n  for (int c = threadIdx.x; c < cols"
        told = r"softmax_smem\.cu:\d+: only 33 of the block's 256 threads reached this __syncthreads; the others had returned from the kernel\. That is allowed\. But if a branch "
        # Right, since the others' part is 0; and wrong.
        for then, is_right in ("scratch[threadIdx.x] = 0.0f;\n  __syncthreads();\n  ", True), ("", False):
            with self.subTest(is_right=is_right):
                in_a_branch = f"float scale = 0.0f;\n  {then}if (threadIdx.x < static_cast<unsigned>(cols)) " + scale.removeprefix("const float ")
                file = self.written("lab02_smem", solution, (scale, in_a_branch))
                for judged in False, True:
                    run = run_tests("lab02_smem", file, "cpu", True, {"case": "normal-7x33", "variant": "tree", "judged": judged})
                    self.assertEqual(run.status == 0, is_right, run.output)
                    self.assertEqual(len(re.findall(told, run.output)), 0 if judged else 1, run.output)
        # All threads reach all barriers of the solution.
        run = run_tests("lab02_smem", self.written("lab02_smem", solution), "cpu", True, {"case": "normal-7x33"})
        self.assertNotIn("had returned from the kernel", run.output)

    @in_turn(2)
    def test_which_todo_alone(self):
        solution = Path("solutions/lab02_smem/softmax_smem.cu")
        done = solution.read_text().replace("// STEP ", "// TODO ")
        count = done.count("// TODO ") - done.count("// TODO 0:")
        wrong = self.written("lab02_smem", solution, (solution.read_text(), done.replace("? 1.0f / sum : sum;", "? 1.0f / sum : 0.0f;")))
        asked = {"case": "inf-7x33", "variant": "tree"}
        alone = "\nOne TODO alone, in the solution: "
        output = run_tests("lab02_smem", wrong, "cpu", False, asked).output
        self.assertRegex(output, alone + rf"make lab02 FILE=\S+ TODO=n, n from 1 to {count}\n")
        # The line of a failure says which; of a function that kernels call, the call is named, too.
        self.written("lab02_smem", solution, (solution.read_text(), done.replace("scratch[t + half]", "scratch[t + 1000]")))
        output = run_tests("lab02_smem", wrong, "cpu", True, {"case": "normal-7x33", "variant": "tree"}).output
        self.assertRegex(output, alone + r"make lab02 FILE=\S+ TODO=n, n is 2 or 6 or 7\n")  # or a launch gives too little memory
        call = next(i for i, text in enumerate(done.splitlines(), 1) if "block_reduce(max, scratch, Max())" in text)
        said = f"\n      The kernel called this function at line {call}.\n"
        self.assertIn(said, output)
        for then, mistake, which in ("if (t > 0) __syncthreads();", "synccheck: divergent barrier", "n, n is 2 or 3"), ("*static_cast<float*>(nullptr) = 0;", "null pointer", "2"):
            with self.subTest(mistake):
                self.written("lab02_smem", solution, (solution.read_text(), done.replace("scratch[t] = mine;", f"scratch[t] = mine; {then}")))
                output = run_tests("lab02_smem", wrong, "cpu", True, {"case": "normal-7x33", "variant": "tree"}).output
                self.assertIn(f": {mistake}\n", output)
                self.assertIn(said, output)
                self.assertRegex(output, alone + rf"make lab02 FILE=\S+ TODO={which}\n")
        # What a launch asked for is wrong in another TODO than the line.
        launch = "tree_kernel<<<rows, threads, bytes, stream>>>"
        for then in "tree_kernel<<<rows, threads, bytes / 4, stream>>>", "tree_kernel<<<threads, rows, bytes, stream>>>":
            with self.subTest(then):
                self.written("lab02_smem", solution, (solution.read_text(), done.replace(launch, then)))
                output = run_tests("lab02_smem", wrong, "cpu", True, {"case": "normal-7x33", "variant": "tree"}).output
                self.assertIn("<<<blocks, threads>>>" if "rows, bytes" in then else "bytes", output)
                self.assertRegex(output, alone + rf"make lab02 FILE=\S+ TODO=n, n from 1 to {count}\n")
        # What nothing has written may be the work of another TODO than the one that reads it.
        self.written("lab02_smem", solution, (solution.read_text(), done.replace("    row[c] = value;\n", "")))
        output = run_tests("lab02_smem", wrong, "cpu", True, {"case": "normal-7x33", "variant": "tree"}).output
        self.assertIn("initcheck: uninitialised shared memory", output)
        self.assertRegex(output, alone + rf"make lab02 FILE=\S+ TODO=n, n from 1 to {count}\n")
        # Not while one is open, which is the next step; nor of one that is alone already, or of a file that has none.
        wrong = self.written("lab02_smem", solution, (solution.read_text(), done.replace("? 1.0f / sum : sum;", "? 1.0f / sum : 0.0f;")))
        line = next(i for i, text in enumerate(done.splitlines(), 1) if "// TODO 2:" in text)
        self.assertNotIn(alone, run_tests("lab02_smem", wrong, "cpu", False, asked | {"open_todos": [line]}).output)
        predictions = next(i for i, text in enumerate(done.splitlines(), 1) if "// TODO 0:" in text)
        self.assertIn(alone, run_tests("lab02_smem", wrong, "cpu", False, asked | {"open_todos": [predictions]}).output)
        self.assertNotIn(alone, run_tests("lab02_smem", wrong, "cpu", False, asked | {"todo": "2"}).output)
        given = self.written("lab02_smem", solution, ("? 1.0f / sum : sum;", "? 1.0f / sum : 0.0f;"))
        self.assertNotIn(alone, run_tests("lab02_smem", given, "cpu", False, asked).output)

    def test_what_is_to_be_predicted_is_asked_in_full_once(self):
        starter = Path("labs/lab02_smem/softmax_smem.cu")
        todos = [i for i, line in enumerate(starter.read_text().splitlines(), 1) if "// TODO " in line]
        begun = self.written("lab02_smem", starter)  # a TODO that is done keeps its comment
        solution = "build/cpu/checked/solutions/lab02_smem/softmax_smem.so"
        self.assertEqual(build(solution), "")
        for file, lines in (starter, todos), (begun, [line for line in todos if line != todos[1]]):
            output = run_tests("lab02_smem", file, "cpu", False, {"open_todos": lines, "solution": solution}).output
            self.assertEqual(output.count("not filled in yet: "), 6 if file == starter else 1, output)
            self.assertEqual("    not filled in yet: predict-neighbours-sectors, " in output, file != starter)
            self.assertEqual("How many 32-byte sectors" in output, file == starter)
            asked = run_tests("lab02_smem", file, "cpu", False, {"open_todos": lines, "solution": solution, "case": "predict-*"}).output
            self.assertEqual(asked.count("not filled in yet: "), 6, asked)

    @in_turn(2)
    def test_calls_through_a_header(self):
        solution = Path("solutions/lab07_fusion/swap_ffn.cu")
        asked = {"case": "small", "variant": "fused_tiled f32"}
        call = "multiply<T, M>(sums, a + k, w + k,"
        wrong = self.written("lab07_fusion", solution, (call, "multiply<T, M>(sums, a + k + (1 << 20), w + k,"))
        output = run_tests("lab07_fusion", wrong, "cpu", True, asked).output
        self.assertRegex(output, r"\n      The kernel got there by calls at line \d+, line \d+, common/rung/fusion/panel\.h:\d+ and line \d+\.\n")
        # The failing line is the header's: of the calls, the last in the file is the next step.
        store = next(line for line in solution.read_text().splitlines() if "narrow(" in line and "tile.hidden" in line)
        changed = store.replace("tile.hidden[", "tile.hidden[(1 << 20) + ")
        self.assertNotEqual(changed, store)
        wrong = self.written("lab07_fusion", solution, (store, changed))
        output = run_tests("lab07_fusion", wrong, "cpu", True, asked).output
        self.assertIn("common/rung/fusion/core.h:", output)
        number = next(i for i, line in enumerate(wrong.read_text().splitlines(), 1) if line == changed)
        self.assertIn(f"\n  line {number} fails in small of fused_tiled f32: ", output)

    def test_where_no_line_is_named_the_first_wrong_case_is(self):
        file = self.written("lab02_smem", Path("solutions/lab02_smem/softmax_smem.cu"), ("? 1.0f / sum : sum;", "? 1.0f / sum : 0.0f;"))
        output = run_tests("lab02_smem", file, "cpu", False, {"variant": "tree"}).output
        self.assertIn("\n  inf-7x33 of tree f32: row 3, column 0: expected NaN, got 0\n", output)
        self.assertRegex(output, r"\nOne case alone: make lab02 .*CASE=inf-7x33\n")
        self.assertRegex(output, r"\n    \d+ more cases of tree f32 are wrong: nan-7x33, ")

    @in_turn(2)
    def test_a_variant_that_hangs_at_once_costs_one_case(self):
        file = self.written("lab02_smem", Path("solutions/lab02_smem/softmax_smem.cu"), ("half > 0; half /= 2", "half >= 0; half /= 2"))
        output = run_tests("lab02_smem", file, "cpu", False, {"variant": "tree"}).output
        self.assertEqual(output.count("timed out at "), 1, output)
        self.assertRegex(output, r"tree f32 .* 1 case   FAIL .*\n    normal-7x33\n      timed out at ")

    def test_a_kernel_that_crashes_where_a_call_must_be_refused(self):
        signature = "cudaError_t tree(const float* x, float* y, int rows, int cols, cudaStream_t stream) {\n"
        file = self.written("lab02_smem", Path("solutions/lab02_smem/softmax_smem.cu"),
                            (signature + "  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;\n", signature))
        told = "The function must refuse these arguments before any launch, and return cudaErrorInvalidValue."
        self.assertIn(told, run_tests("lab02_smem", file, "cpu", True, {"variant": "tree", "case": "null-input"}).output)
        file = self.written("lab02_smem", Path("solutions/lab02_smem/softmax_smem.cu"), ("  float* scratch = row + cols;", "  float* scratch = row + 1000000;"))
        self.assertNotIn(told, run_tests("lab02_smem", file, "cpu", True, {"variant": "tree", "case": "normal-7x33"}).output)

    def test_a_wrong_offset_is_told_before_the_moves(self):
        solution = Path("solutions/lab02_smem/softmax_smem.cu")
        kernel = solution.read_text()
        begin = kernel.index("__global__ void tree_kernel")
        whole = kernel[begin:kernel.index("// END 3")]
        # Offsets that end at 2^32, and two loads where one is enough: a wrong result without a line, and moves with one.
        wrong = whole.replace("static_cast<size_t>(blockIdx.x) * cols", "blockIdx.x * cols").replace("fmaxf(max, value)", "fmaxf(max, *const_cast<volatile float*>(x + c))")
        self.assertNotEqual(whole.replace("static_cast<size_t>(blockIdx.x) * cols", "blockIdx.x * cols"), wrong)
        output = run_tests("lab02_smem", self.written("lab02_smem", solution, (whole, wrong)), "cpu", True, {"variant": "tree"}).output
        self.assertRegex(output, r"\ntree f32 +offsets .* FAIL .*\n    past-unsigned\n      a matrix of more than 2\^32 elements(.*\n)+?tree f32 +move .* FAIL ")
        self.assertRegex(output, r"\n  past-unsigned of tree f32: a matrix of more than 2\^32 elements")

    def test_a_variant_that_the_lab_does_not_have(self):
        solution = Path("solutions/lab02_smem/softmax_smem.cu")
        file = self.written("lab02_smem", solution, ('rung::softmax("tree", tree)', 'rung::softmax("Tree", tree)'))
        output = run_tests("lab02_smem", file, "cpu", False, {"case": "normal-7x33"}).output
        self.assertEqual(output.count("No variant of this lab is called "), 1, output)
        self.assertIn("\nNo variant of this lab is called Tree: its moves were not tested.\n", output)
        self.assertNotIn("No variant of this lab", run_tests("lab02_smem", solution, "cpu", False, {"case": "normal-7x33"}).output)

    def test_wrong_predictions_alone(self):
        file = self.written("lab02_smem", Path("solutions/lab02_smem/softmax_smem.cu"),
                            ('{"neighbours_sectors", 32 * 4 / 32}', '{"neighbours_sectors", 5}'))
        counted = "build/cpu/checked/solutions/lab02_smem/softmax_smem.so"
        self.assertEqual(build(counted), "")
        output = run_tests("lab02_smem", file, "cpu", True, {"case": "predict-*", "solution": counted}).output
        self.assertIn("\n  Only predictions are wrong: TODO 0. The report above says how to get each number.\n", output)


if __name__ == "__main__":
    unittest.main()
