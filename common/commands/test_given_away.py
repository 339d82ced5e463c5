#!/usr/bin/env python3
"""What gives a TODO's answer away is found, however it is wrapped; what a starter shows anyway is not."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import given_away

STARTER = """
int shown(int given) { return given + 1000000; }
// TODO 1: fold
(void)x;
// END 1
// TODO 2: one line
// END 2
"""
SOLUTION = """
int shown(int given) { return given + 1000000; }
// STEP 1: fold
for (int half = threads / 2; half > 0; half /= 2) {
  if (t < half) scratch[t] += scratch[t + half];  // why
  __syncthreads();
}
// END 1
// STEP 2: one line
value = combine(value, exchange(value));
// END 2
"""
LINES = "for (int half = threads / 2; half > 0;\n     half /= 2) {\n  if (t < half)\n    scratch[t] += scratch[t + half];\n"
HINTS = "# Hints\n\n## Hint 1 (TODO 1)\n\n{}\n## Hint 2 (TODO 1)\n\n{}\n## Hint 3 (TODO 2)\n\n{}\n"


class GivenAway(unittest.TestCase):
    def found(self, handout="", chapter="", hints=("", "", ""), starter=STARTER, more=()):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            lab = root / "labs/lab02_smem"
            for path, text in {lab / "a.cu": starter, lab / "README.md": handout, lab / "hints.md": HINTS.format(*hints),
                               root / "theory/04.md": chapter, root / "solutions/lab02_smem/a.cu": SOLUTION,
                               **{root / path: text for path, text in dict(more).items()}}.items():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return [each.replace(folder + "/", "").partition(":")[0] for each in given_away.problems(root)]

    def test_nothing(self):
        self.assertEqual(self.found("Fold in half: t and t + half.", "scratch[t] is read again;", ("half of them;", "", "")), [])

    def test_two_lines_in_a_row_wherever_they_stand(self):
        self.assertEqual(self.found(handout=f"As so:\n\n{LINES}"), ["labs/lab02_smem/README.md"])
        self.assertEqual(self.found(chapter=LINES), ["theory/04.md"])
        self.assertEqual(self.found(hints=(LINES, "", "")), ["labs/lab02_smem/hints.md, hint 1"])
        self.assertEqual(self.found(hints=("", "", LINES)), ["labs/lab02_smem/hints.md, hint 3"])

    def test_the_last_hint_may(self):
        self.assertEqual(self.found(hints=("", LINES, "value = combine(value, exchange(value));")), [])

    def test_the_only_line_of_a_region(self):
        self.assertEqual(self.found(chapter="value = combine(\n    value, exchange(value));"), ["theory/04.md"])

    def test_one_line_of_several_is_no_answer(self):
        self.assertEqual(self.found(handout="The second line is `scratch[t] += scratch[t + half];`"), [])

    def test_what_the_starter_shows_is_no_secret(self):
        self.assertEqual(self.found(chapter=LINES, starter=STARTER + LINES + "}\n"), [])

    def test_a_header_that_a_student_has_been_sent_to(self):
        header = {"common/rung/limit/a.h": LINES}
        self.assertEqual(self.found(more=header), [])
        self.assertEqual(self.found(handout="See [a.h](../../common/rung/limit/a.h).", more=header), ["common/rung/limit/a.h"])
        self.assertEqual(self.found(starter='#include "limit/a.h"\n' + STARTER, more=header), ["common/rung/limit/a.h"])
        inner = {"common/rung/limit/b.h": '#include "a.h"\n', **header}
        self.assertEqual(self.found(hints=("`limit/b.h` has it.", "", ""), more=inner), ["common/rung/limit/a.h"])

    def test_less_than_half_in_a_header_is_a_model(self):
        longer = SOLUTION.replace("  __syncthreads();\n", "  __syncthreads();\n  first = scratch[0] + second;\n  third = scratch[1] * second;\n")
        self.assertEqual(self.found(handout="limit/a.h", more={"common/rung/limit/a.h": LINES, "solutions/lab02_smem/a.cu": longer}), [])

    def test_labs_before_send_there_and_labs_after_do_not(self):
        other = lambda lab: {f"labs/{lab}/README.md": "`limit/a.h`", f"labs/{lab}/hints.md": "", f"labs/{lab}/b.cu": ""}
        header = {"common/rung/limit/a.h": LINES}
        self.assertEqual(self.found(more={**header, **other("lab01_one")}), ["common/rung/limit/a.h"])
        self.assertEqual(self.found(more={**header, **other("lab03_three")}), [])


if __name__ == "__main__":
    unittest.main()
