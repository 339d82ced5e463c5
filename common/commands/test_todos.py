#!/usr/bin/env python3
"""Which TODOs are open: as handed out, whatever else was done to the file; a filled one is not named again."""

import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import todos

LAB = "lab02_smem"
STARTER = (todos.ROOT / "labs" / LAB / "softmax_smem.cu")


class Open(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "labs" / LAB).mkdir(parents=True)
        self.file = self.root / "labs" / LAB / "softmax_smem.cu"
        self.file.write_bytes(STARTER.read_bytes())
        todos.note(self.root)
        self.text = self.file.read_text()

    def open(self, text):
        self.file.write_text(text)
        return sorted(todos.open_todos(LAB, self.file, self.root))

    def test_all_of_a_starter(self):
        self.assertEqual(self.open(self.text), [0, 1, 2, 3, 4, 5, 6, 7])
        line = todos.open_todos(LAB, self.file, self.root)[1]
        self.assertIn("// TODO 1:", self.text.splitlines()[line - 1])

    def test_a_filled_one_is_closed_also_where_its_comment_stays(self):
        filled = self.text.replace("  (void)x;\n  // END 1", "  row[0] = x[0];\n  // END 1")
        self.assertEqual(self.open(filled), [0, 2, 3, 4, 5, 6, 7])
        kept = self.text.replace("  (void)x;\n  // END 1", "  (void)x;\n  row[0] = x[0];\n  // END 1")
        self.assertEqual(self.open(kept), [0, 2, 3, 4, 5, 6, 7])

    def test_comments_and_spaces_fill_nothing(self):
        touched = self.text.replace("  (void)x;\n  // END 1", "    // I do not know yet\n\n\t(void)x;\r\n  // END 1 ")
        self.assertEqual(self.open(touched), [0, 1, 2, 3, 4, 5, 6, 7])

    def test_predictions_are_open_until_the_last(self):
        one = self.text.replace('"tree_barriers", rung::unknown', '"tree_barriers", 20')
        self.assertIn(0, self.open(one))
        self.assertNotIn(0, self.open(one.replace(", rung::unknown", ", 4")))

    def test_another_file_has_none(self):
        solution = todos.ROOT / "solutions" / LAB / "softmax_smem.cu"
        self.assertEqual(todos.open_todos(LAB, solution, self.root), {})
        self.assertEqual(self.open("// TODO 1: my own\n(void)x;\n"), [])

    def test_a_note_that_is_not_there_names_none(self):
        (self.root / todos.HANDED_OUT).write_text("[1]")
        self.assertEqual(self.open(self.text), [0])

    def test_one_lab_alone_is_noted(self):
        (self.root / todos.HANDED_OUT).write_text(json.dumps({"lab09_other": {"1": "x"}}))
        todos.note(self.root, LAB)
        self.assertEqual(sorted(todos.handed_out(self.root)), [LAB, "lab09_other"])


if __name__ == "__main__":
    unittest.main()
