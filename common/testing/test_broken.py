"""Wrong kernels as edits: what is refused before anything is compiled, and that the shelf finds an entry out that breaks nothing."""

import os
import tempfile
import unittest
from pathlib import Path

import broken
import shelf
from course import labs

ROOT = Path(__file__).resolve().parents[2]
LAB = "lab01_naive"
SOLUTION = (ROOT / "solutions" / LAB / "softmax_naive.cu").read_text()
EDIT = {"replace": "c < cols; ++c) max = fmaxf(max, x[c]);", "by": "c <= cols; ++c) max = fmaxf(max, x[c]);"}
ENTRY = {"why": "One column too many.", "variant": "per_row", "verdict": "memcheck: out of bounds in global memory",
         "line": "max = fmaxf(max, x[c]);", "case": "normal-7x31", "edit": [EDIT]}


def made(**changes):
    """The entry with other fields; without those that are None."""
    fields = {name: value for name, value in (ENTRY | changes).items() if value is not None}
    return broken.made(LAB, "one_too_many", fields, SOLUTION)


class Entries(unittest.TestCase):
    def refused(self, said, **changes):
        with self.assertRaises(broken.Malformed) as error:
            made(**changes)
        self.assertIn("solutions/lab01_naive/broken.toml, [one_too_many]: ", str(error.exception))
        self.assertIn(said, str(error.exception))

    def test_an_edit_that_no_longer_applies(self):
        self.refused("edit 2 does not apply: the text to replace stands 0 times in the solution",
                     edit=[EDIT, {"replace": "float gone;", "by": "float there;"}])
        self.refused("stands 3 times in the solution", edit=[{"replace": "if (rows == 0) return cudaSuccess;", "by": ""}])

    def test_an_entry_that_changes_nothing(self):
        self.refused("it has no edit", edit=[])
        self.refused("it has no edit", edit=None)
        self.refused("they must differ", edit=[{"replace": "STEP 1", "by": "STEP 1"}])

    def test_an_edit_of_a_given_header(self):
        """Lab 06b's keys are given: their text is pasted in, once, and nothing of it is included any more."""
        kernel = broken.kernel("lab06b_topk", "ties_in_the_wrong_order", ROOT)
        self.assertEqual(kernel.text.count("make_key(float logit, int column) {"), 1)
        self.assertNotIn('#include "limit/', kernel.text)
        self.assertNotIn("#pragma once", kernel.text)
        self.assertIn('#include "rung.h"', kernel.text)
        untouched = broken.kernel("lab06b_topk", "any_k", ROOT)
        self.assertIn('#include "limit/keys.h"', untouched.text)

    def test_fields(self):
        self.refused("there is no field Verdict", Verdict="far off")
        self.refused("it needs why", why=None)
        self.refused("a verdict or a move", verdict=None)
        self.refused("verdict must be a text or a list of texts", verdict=[])
        self.refused("case must be a text", case=7)
        self.refused('the solution exports no variant "tree"', variant="tree")
        self.refused('the solution exports no variant "per_row', variant="per_row f32, per_element")

    def test_a_line_must_be_one_line(self):
        self.refused("line: 0 lines hold this", line="float there;")
        self.refused("line: 2 lines hold this", line="fmaxf")

    def test_what_is_made(self):
        kernel = made()
        self.assertIn("// Broken: One column too many.\n", kernel.text)
        self.assertIn("c <= cols", kernel.text)
        self.assertTrue(kernel.text.endswith('RUNG_EXPORT(rung::softmax("per_row", per_row))\n'))
        self.assertNotIn("RUNG_PREDICT", kernel.text)
        self.assertEqual([kernel.text.splitlines()[line - 1].strip() for line in kernel.lines], [EDIT["by"].join(["for (int c = 0; ", ""])])

    def test_of_one_type(self):
        table = ('RUNG_EXPORT(rung::softmax("auto", softmax<float>), rung::softmax("auto", softmax<__half>),\n'
                 '            rung::softmax("other", softmax<float>))\n')
        self.assertEqual(broken.exporting(table, "auto f16"), 'RUNG_EXPORT(rung::softmax("auto", softmax<__half>))\n')
        self.assertEqual(broken.exporting(table, "auto").count("softmax<"), 2)

    def test_a_file_that_is_there_stays_as_it_is(self):
        with tempfile.TemporaryDirectory() as folder:
            kernel = made()
            path = Path(folder) / kernel.write(Path(folder))
            os.utime(path, (1, 1))
            kernel.write(Path(folder))
            self.assertEqual(path.stat().st_mtime, 1)
            path.write_text("another")
            kernel.write(Path(folder))
            self.assertEqual(path.read_text(), kernel.text)

    def test_every_lab_has_ten(self):
        for lab in labs.load():
            self.assertGreaterEqual(len(broken.load(lab.name, ROOT)), 10, lab.name)
            self.assertEqual(broken.problems(lab.name, ROOT), [])


class Shelf(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.chdir(ROOT)
        said = shelf.build("build/cpu/worker", f"build/cpu/tests/{LAB}")
        if said:
            raise RuntimeError(said)

    def test_a_wrong_kernel_with_its_verdict(self):
        self.assertEqual(shelf.tried(made())[0], "ok")

    def test_an_entry_that_is_right(self):
        comment = {"replace": "// STEP 3: go over", "by": "// STEP 3: Go over"}
        self.assertEqual(shelf.tried(made(edit=[comment])), ("FAIL", f"passes; expected: {ENTRY['verdict']}"))

    def test_another_verdict(self):
        outcome, said = shelf.tried(made(verdict="racecheck: race in shared memory"))
        self.assertEqual((outcome, said.splitlines()[0]), ("FAIL", "expected: racecheck: race in shared memory"))

    def test_another_line(self):
        outcome, said = shelf.tried(made(line="y[c] = expf(x[c] - max) * scale;"))
        self.assertEqual(outcome, "FAIL")
        self.assertRegex(said, r"^does not name build/shelf/lab01_naive/one_too_many\.cu:\d+")

    def test_one_that_does_not_compile(self):
        outcome, said = shelf.tried(made(edit=[EDIT, {"replace": "// END 1", "by": "an error"}]))
        self.assertEqual(outcome, "FAIL")
        self.assertIn("does not compile without a warning", said)


if __name__ == "__main__":
    unittest.main()
