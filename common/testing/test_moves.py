#!/usr/bin/env python3
"""The moves of the labs, held against those who make them and those who do not: every solution makes the moves of its own
lab, and the solution of the lab before fails them, at the line that is to blame.

lab04's solution is not tried in lab05: that is another operation, softmax with top-K, and refused as such.
"""

import os
import re
import unittest
from pathlib import Path

import broken
from course import labs
from course.runs import first_failure
from course.sampling import has_list, in_turn, left_to_rest, sampled
from shelf import build, run_tests

ROOT = Path(__file__).resolve().parents[2]
SOLUTIONS = {lab.name: lab.solution for lab in labs.load()}

WRONG = {name for lab in labs.load() for name in lab.wrong}  # on purpose, and so in nobody's place


def moves(lab, file, case="move-*", checked=True):
    """The lab's move tests alone, on this file."""
    return run_tests(lab, file, "cpu", checked, {"case": case})


def earned_by(lab, file, name, variant):
    """The move tests that `name` has in this lab, run on `variant` of the file."""
    return run_tests(lab, file, "cpu", True, {"case": "move-*", "as": f"{name}={variant}"})


def table(lab):
    """The variants of a lab's solution in its order: "tree f32"."""
    output = run_tests(lab, SOLUTIONS[lab], "cpu", True, {"as": "?"}).output
    return [label for label in output.strip().split(" has ")[-1].split(", ") if label.split()[0] not in WRONG]


class Moves(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.chdir(ROOT)
        said = build("build/cpu/worker", *(f"build/cpu/tests/{lab}" for lab in SOLUTIONS))
        if said:
            raise RuntimeError(said)

    @left_to_rest
    def test_every_solution_makes_the_moves_of_its_lab(self):
        """In a sample the check "labNN: solution" of common/commands/test.sh says it, with all other cases."""
        for lab, file in SOLUTIONS.items():
            with self.subTest(lab):
                run = moves(lab, file)
                self.assertEqual(run.status, 0, run.output)
                self.assertRegex(run.output, r"(?m)^[1-9]\d* passed, 0 failed$")

    @has_list
    def test_a_variant_in_another_ones_place_fails_a_move(self):
        """Each variant is replaced by any that comes before it in its lab, and by the best of the last lab before that has the same operator and
        type. All pairs there are: a new lab is held to this by being there."""
        best, pairs = {}, []  # type of an operator -> (file, variant)
        for lab, file in SOLUTIONS.items():
            labels = table(lab)
            operator = labs.lab(lab).operator
            for place, name in enumerate(labels):
                dtype = name.split()[1]
                others = [(file, other) for other in labels[:place] if other.split()[1] == dtype]
                others += [best[operator, dtype]] if (operator, dtype) in best else []
                pairs += [(lab, name, *other) for other in others]
            best |= {(operator, name.split()[1]): (file, name) for name in labels}
        self.assertGreater(len(pairs), 25)
        for lab, name, of, other in sampled(pairs, 20, "variants in the place of another one"):
            with self.subTest(f"{other} of {of.parent.name} as {name} of {lab}"):
                run = earned_by(lab, of, name, other)
                self.assertEqual(run.status, 1, run.output)
                self.assertIn("the move: ", run.output)

    def test_a_variant_in_its_own_place_makes_the_moves(self):
        self.assertEqual(earned_by("lab02_smem", SOLUTIONS["lab02_smem"], "tree f32", "tree f32").status, 0)

    def fails(self, lab, file, variant, *, case, says, code, of=None):
        """The variant's first failure is of this case, says this, and blames a line with this code: of the file, or of a header."""
        of = of or file
        run = moves(lab, file, case)
        self.assertEqual(run.status, 1, run.output)
        explanation = "\n".join(first_failure(run.events, variant))
        self.assertRegex(explanation, says, run.output)
        blamed = re.search(rf"worst line {re.escape(str(of))}:(\d+)", explanation)
        self.assertIsNotNone(blamed, run.output)
        self.assertIn(code, of.read_text().splitlines()[int(blamed[1]) - 1])

    def test_lab01_fails_the_moves_of_lab02(self):
        file = SOLUTIONS["lab01_naive"]
        self.fails("lab02_smem", file, "per_row f32", case="move-coalesced", code="x[c]",
                   says=r"read with 32 sectors per request, but 4 would be enough: 49,152 sectors for 196,608 bytes")
        self.fails("lab02_smem", file, "per_row f32", case="move-read-once", code="x[c]",
                   says=r"read 3 times: 49,152 sectors; one pass needs 2,048")
        self.fails("lab02_smem", file, "per_element f32", case="move-read-once", code="x[c]", says=r"read 1,025 times: ")

    def test_lab02_fails_the_moves_of_lab03(self):
        file = SOLUTIONS["lab02_smem"]
        # Each of two loops over the row, by one thread: 2 x 4096 and what it does with the others.
        self.fails("lab03_online", file, "serial f32", case="move-no-serial", code="row[c]",
                   says=r"one thread makes 8,292 memory accesses, while the 256 threads of its block make 130 on average")
        run = moves("lab03_online", file, "move-read-twice")
        self.assertEqual(run.status, 1, run.output)
        self.assertIn("returned cudaErrorInvalidValue for 1 x 60001, which it must take",
                      "\n".join(first_failure(run.events, "tree f32")))

    def test_lab03_fails_the_moves_of_lab04(self):
        file = SOLUTIONS["lab03_online"]
        for variant in ("warp_shuffle f32", "online f32", "online_f32x4 f32"):
            self.fails("lab04_f16x8", file, variant, case="move-half-the-bytes", code="x", says=r"takes 4 bytes per element")
        for case in ("move-uint4", "move-uint4-odd"):
            self.fails("lab04_f16x8", file, "online f32", case=case, code="x[c]", says=r"16 bytes per lane")

    def test_lab03_and_lab04_fail_the_moves_of_lab06(self):
        self.fails("lab06_limit", SOLUTIONS["lab04_f16x8"], "f16x8 f16", case="move-read-once", code="uint4 words", says=r"read 2 times")
        run = moves("lab06_limit", SOLUTIONS["lab03_online"], "move-many-blocks")
        self.assertEqual(run.status, 1, run.output)
        self.assertIn("no kernel has more than 1 block; 8 per row are needed", run.output)

    @in_turn(2)
    def test_lab07_says_how_often_a_weight_is_asked_for(self):
        file = SOLUTIONS["lab07_fusion"]
        run = moves("lab07_fusion", file, "move-cost")
        self.assertEqual(run.status, 0, run.output)
        for variant, reads in (("unfused bf16", "once"), ("fused_per_core bf16", "32 times"), ("fused_tiled bf16", "2 times")):
            remark = run.output.split(f"\n{variant} ")[1].split("\n")[1]
            self.assertIn(f"each weight {reads} in an FFN step", remark, run.output)
        # A kernel that is held to less than it asks for is told so, with the line.
        self.fails("lab07_fusion", broken.write("lab07_fusion", "one_core_a_tile"), "fused_tiled bf16", case="move-once-a-tile",
                   code="static_cast<uint4*>(to)", of=Path("common/rung/fusion/panel.h"), says=r"an FFN step requests each weight 32 times")

    @in_turn(2)
    def test_lab08_has_a_budget_of_time(self):
        """A kernel that makes every other move, and spends two powers on each square."""
        text = broken.exporting(broken.edited(SOLUTIONS["lab08_rms_norm"].read_text(), [{
            "replace": "sum += to_float(v[e]) * to_float(v[e]);",
            "by": "sum += powf(fabsf(to_float(v[e])), 1.3f) * powf(fabsf(to_float(v[e])), 0.7f);"}]), "auto f32")
        file = Path("build/broken/lab08_rms_norm/a_power_for_each_square.cu")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        run = moves("lab08_rms_norm", file)
        self.assertEqual(run.status, 1, run.output)
        self.assertRegex(run.output, r"predicted for an H200, 4096 x 4096: \d+(\.\d+)? us; the budget is 44 us\n\s*the schedulers issue")
        self.assertRegex(run.output, r"(?m)^[1-9]\d* passed, 1 failed$")

    def test_lab06_is_no_file_for_lab07(self):
        run = moves("lab07_fusion", SOLUTIONS["lab06_limit"])
        self.assertEqual(run.status, 1, run.output)
        self.assertIn("needs variants of rung::swap_ffn", run.output)

    def test_lab04_is_no_file_for_lab05(self):
        run = moves("lab05_topk", SOLUTIONS["lab04_f16x8"])
        self.assertEqual(run.status, 1, run.output)
        self.assertIn("needs variants of rung::softmax_topk", run.output)

    def test_three_passes_are_not_one(self):
        # Of lab05's own: what three_pass may do, online may not.
        self.fails("lab05_topk", broken.write("lab05_topk", "reads_twice"), "online f32", case="move-read-once",
                   code="to_float(logits[c])", says=r"read 2 times: 4,096 sectors; one pass needs 2,048")

    def test_asking_for_moves_where_nothing_counts(self):
        run = moves("lab02_smem", SOLUTIONS["lab02_smem"], checked=False)
        self.assertEqual(run.status, 2, run.output)
        self.assertIn("moves are counted by the CPU executor", run.output)


if __name__ == "__main__":
    unittest.main()
