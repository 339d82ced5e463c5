"""Tests of check_book.py: a false equation, a stale figure, a bare drill and an early answer must be seen."""

import re
import shutil
import tempfile
import unittest
from pathlib import Path

import answered
import check_book


class Equations(unittest.TestCase):
    def wrong(self, line):
        return [wrong for sides in check_book.equations(line) if (wrong := check_book.check_equation(*sides))]

    def test_units_are_skipped_and_rounding_is_allowed(self):
        for line in ("128 warps x 2 x 4096 requests x 32 bytes / 4096 elements = 8192 bytes",
                     "5 / 8200 = 0.00061 FLOP per byte", "64,140 / 4232 = 15.2", "2^31 = 2,147,483,648",
                     "3 reads x 32 bytes + 1 write x 32 bytes = 128 bytes per element,   5 / 128 = 0.039 FLOP per byte",
                     "log2(256) = 8 rounds", "8 x 4096 = 32,768 = 2^15", "0.625 x 4232 = 2645 GFLOP/s", "10 / 3 = 3.3"):
            self.assertEqual(self.wrong(line), [], line)

    def test_a_false_one_is_seen(self):
        for line in ("2 + 2 = 5", "5 / 128 = 0.040 FLOP per byte", "8 x 4096 = 32,768 = 2^14",
                     "1 x 2 = 2 bytes,   3 x 4 = 13 bytes", "10 / 3 = 3.4", "1000 / 3 = 340",
                     "0.625 x 4232 = 2659 GFLOP/s"):
            self.assertEqual(len(self.wrong(line)), 1, line)

    def test_symbols_claim_nothing(self):
        self.assertEqual(self.wrong("m = max(m1, m2)"), [])


class Chapters(unittest.TestCase):
    def problems(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "chapter.md"
            path.write_text(text)
            return check_book.check(path)

    drills = "\n## Drills\n\n" + "".join(
        f"**{i}.** Why?\n\n<details><summary>Answer</summary>\n\nSo.\n\n</details>\n\n" for i in range(1, 6))

    def test_a_good_one(self):
        self.assertEqual(self.problems("# T\n\n    1 + 1 = 2\n" + self.drills), [])

    def test_what_is_wrong_is_named(self):
        self.assertIn("line 3", self.problems("# T\n\n    1 + 1 = 3\n" + self.drills)[0])
        self.assertIn("nowhere.md", self.problems("# T [a](nowhere.md)\n" + self.drills)[0])
        self.assertIn("4 folded", self.problems(self.drills.replace("<details>", "", 1))[0])

    def test_a_fenced_block_is_code(self):
        self.assertEqual(self.problems("```\n    a = 1 + 1 = 3\n```\n" + self.drills), [])

    def test_excerpts_are_held_against_their_file(self):
        block = "<!-- from theory/check_book.py -->\n```python\nNOISE = 0.06\n```\n"
        self.assertEqual(self.problems(block + self.drills), [])
        self.assertIn("no longer in", self.problems(block.replace("0.06", "0.07") + self.drills)[0])
        self.assertIn("not there", self.problems(block.replace("check_book", "nothing") + self.drills)[0])

    def test_figures_are_held_against_the_results(self):
        copy = check_book.measured("nvidia-h200", "roofs", "copy_gbs")
        comment = "<!-- nvidia-h200 roofs copy_gbs -->"
        self.assertEqual(self.problems(f"{copy:.0f} GB/s{comment}" + self.drills), [])
        self.assertIn("measured", self.problems(f"{copy * 1.1:.0f} GB/s{comment}" + self.drills)[0])
        unknown_field = "1 <!-- nvidia-h200 lab02_smem.tree.f32.4096x4096 x -->"
        unknown_variant = "1 <!-- nvidia-h200 lab02_smem.bush.f32.4096x4096 us -->"
        self.assertIn("no figure", self.problems(unknown_field + self.drills)[0])
        self.assertIn("has no", self.problems(unknown_variant + self.drills)[0])

    def test_a_table_is_held_against_the_results(self):
        ours = check_book.measured("peers-nvidia-h200", "softmax.f32.4096x4096", "us")
        table = ("<!-- columns: peers-nvidia-h200 softmax - f32.us -->\n| | how | us |\n|---|---|---|\n"
                 "| 4096 x 4096 | block | {:.1f} |\n")
        self.assertEqual(self.problems(table.format(ours) + self.drills), [])
        self.assertIn("measured", self.problems(table.format(ours * 1.1) + self.drills)[0])
        self.assertIn("not measured", self.problems(table.format(ours).replace("4096 x 4096", "3 x 3") + self.drills)[0])
        self.assertIn("3 columns", self.problems(table.format(ours).replace("block |", "a | b |") + self.drills)[0])


class Answered(unittest.TestCase):
    """The book as it is, with one chapter changed."""

    def problems(self, chapter, change):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for path in [*check_book.ROOT.glob("theory/*.md"), *check_book.ROOT.glob("labs/*/test.cpp"), check_book.ROOT / "labs/labs.toml"]:
                copy = root / path.relative_to(check_book.ROOT)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, copy)
            path = root / "theory" / chapter
            path.write_text(change(path.read_text()))
            return answered.problems(root)

    def test_a_chapter_must_tell_the_reader_to_predict(self):
        for chapter, lab in (("01_roofline.md", "lab01"), ("04_shared_memory.md", "lab02"), ("05_warps.md", "lab03"), ("06_bytes.md", "lab04"),
                             ("07_fusion.md", "lab05"), ("08_limit.md", "lab06_limit")):
            with self.subTest(chapter):
                found = self.problems(chapter, lambda text: re.sub(r"CASE='predict-\*'", "", text))
                self.assertTrue(found and all(chapter in line and lab in line for line in found), found)

    def test_and_do_so_before(self):
        found = self.problems("08_limit.md", lambda text: re.sub(r"\*\*Predict first.*?\n\n", "", text, flags=re.S) + "`make lab06 CASE='predict-*'`\n")
        self.assertIn("has not said before", found[0])

    def test_an_earlier_chapter_must_not_print_it(self):
        late = "\nThere `tree` takes 35.4\nus<!-- nvidia-h200 lab02_smem.tree.f32.4096x4096 us -->.\n"
        self.assertIn("02_softmax.md: prints 35", self.problems("02_softmax.md", lambda text: text + late)[0])
        self.assertEqual(self.problems("09_measuring.md", lambda text: text + late), [])
        self.assertEqual(self.problems("03_the_machine.md", lambda text: text + late.replace("tree", "bush")), [])


if __name__ == "__main__":
    unittest.main()
