"""labs/labs.toml: what is refused, what others are told of it, and that it is what the solutions export."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "common"), str(ROOT / "common/testing")]
import shelf  # noqa: E402
from course import __main__ as told  # noqa: E402
from course import labs  # noqa: E402

ENTRY = """[[lab]]
name = "lab03_thing"
kernel = "thing.cu"
operator = "softmax"
variants = [{ name = "first", types = ["f32", "f16"], cost = "quadratic" }]
"""
SHAPE = """[[shape]]
cols = 4096
gpu = { rows = 4096, quadratic = 64 }
cpu = { rows = 64, quadratic = 4 }
predicted = { rows = 512, quadratic = 0 }
"""


class Manifest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "labs").mkdir()

    def load(self, text):
        (self.root / labs.MANIFEST).write_text(text)
        return labs.load(self.root)

    def refused(self, said, text):
        with self.assertRaises(labs.Malformed) as error:
            self.load(text)
        self.assertIn("labs/labs.toml: ", str(error.exception))
        self.assertIn(said, str(error.exception))

    def test_what_a_list_of_words_means(self):
        names = ["lab06_limit", "lab06b_topk", "lab08_rms_norm", "lab08b_cross_entropy"]
        for words, meant in (("", names), ("lab08", names[2:3]), ("8b", names[3:]), ("topk , lab06", names[:2]), (" lab8  6b", names[1:3]), ("06b", names[1:2]), ("norm,lab08", names[2:3]),
                             ("lab08b_cross_entropy", names[3:])):
            self.assertEqual(labs.chosen(words, names), meant, words)
        for words, said in (("lab08,lab07", "has 'lab07'"), ("lab06,", "nothing before or after"), (",", "nothing before or after"), ("lab8c", "has 'lab8c'")):
            with self.assertRaisesRegex(labs.Malformed, said):
                labs.chosen(words, names)

    def test_what_is_measured(self):
        self.load(SHAPE + SHAPE.replace("4096", "600").replace("512", "100") + ENTRY)
        first, second = labs.shapes(self.root)
        self.assertEqual((first.cols, first.gpu, first.predicted), (4096, labs.Rows(4096, 64), labs.Rows(512, 0)))
        self.assertEqual((second.cols, second.gpu.rows, second.cpu.rows), (600, 600, 64))

    def test_shapes_that_are_refused(self):
        for said, text in (("a shape has cols", SHAPE.replace("cols = 4096", "")), ("a shape has cols", SHAPE.replace("quadratic = 64", "other = 64")),
                           ("a shape has cols", SHAPE.replace("cpu = {", "tpu = {")), ("numbers above 0", SHAPE.replace("cols = 4096", "cols = 0")),
                           ("at most rows", SHAPE.replace("quadratic = 4 ", "quadratic = 65 ")), ("numbers above 0", SHAPE.replace("rows = 64", 'rows = "64"')),
                           ("a multiple", SHAPE.replace("rows = 512", "rows = 500")), ("the same cols", SHAPE + SHAPE)):
            self.refused(said, text + ENTRY)

    def test_what_is_read(self):
        first, second = self.load(ENTRY + ENTRY.replace("lab03", "lab05") + 'next = "theory/x.md"\n')
        self.assertEqual((first.number, str(first.starter), str(first.solution)),
                         ("03", "labs/lab03_thing/thing.cu", "solutions/lab03_thing/thing.cu"))
        self.assertEqual(first.quadratic, ["first"])
        self.assertEqual((first.next, second.next), ("labs/lab05_thing/README.md", "theory/x.md"))
        self.assertEqual(labs.lab("lab05", self.root), second)

    def test_after_a_program_comes_the_lab_with_the_next_number(self):
        program = '[[program]]\nname = "lab09_thing"\nkernel = "thing.cu"\nvariants = ["first"]\n'
        before, new = self.load(ENTRY + program + ENTRY.replace("lab03", "lab10"))
        self.assertEqual([each.next for each in (before, *labs.programs(self.root), new)],
                         ["labs/lab09_thing/README.md", "labs/lab10_thing/README.md", "make ladder"])

    def test_the_order_in_which_labs_are_read(self):
        to = lambda name: f'next = "labs/{name}_thing/README.md"\n'
        text = ENTRY + to("lab05") + ENTRY.replace("lab03", "lab04") + to("lab09") + ENTRY.replace("lab03", "lab05") + to("lab04")
        names = lambda: [lab.number for lab in labs.reading_order(self.root)]
        self.load(text)
        self.assertEqual(names(), ["03", "05", "04"])
        self.load(text.replace("lab09", "lab03"))  # a circle ends
        self.assertEqual(names(), ["03", "05", "04"])
        self.load(text + ENTRY.replace("lab03", "lab10"))  # nothing leads there
        self.assertEqual(names(), ["03", "05", "04", "10"])
        self.load(ENTRY + ENTRY.replace("lab03", "lab04"))
        self.assertEqual(names(), ["03", "04"])

    def test_what_is_refused(self):
        self.refused("labNN_word", ENTRY.replace("lab03_thing", "thing"))
        self.refused("has or lacks chapters", ENTRY + "chapters = 3\n")
        self.refused("has or lacks kernel", ENTRY.replace('kernel = "thing.cu"\n', ""))
        self.refused("types is a list of", ENTRY.replace('"f16"', '"f64"'))
        self.refused("cost is linear or quadratic", ENTRY.replace('"quadratic"', '"cubic"'))
        self.refused("a variant has a name", ENTRY.replace("cost", "price"))
        self.refused("each number once: 03 03", ENTRY + ENTRY)
        self.refused("each number once: 03 02", ENTRY + ENTRY.replace("lab03", "lab02"))
        self.refused("[[lab]] and [[program]] tables and nothing else", ENTRY + "[other]\n")
        self.refused("line 1", "[[lab]\n")

    def test_operators_have_titles(self):
        self.load('[[operator]]\nname = "maximum"\ntitle = "row maximum"\n' + ENTRY)
        self.assertEqual(labs.operators(self.root), {"maximum": "row maximum"})
        self.refused("an operator has a name and a title", '[[operator]]\nname = "maximum"\n' + ENTRY)
        self.assertEqual({lab.operator for lab in labs.load()} - set(labs.operators()), set())

    def test_folders_and_manifest_must_agree(self):
        self.load(ENTRY)
        (self.root / "labs/lab04_other").mkdir()
        self.assertEqual(labs.problems(self.root), ["labs/lab04_other: is not in labs/labs.toml",
                                                    "labs/labs.toml: lab03_thing is in no folder of labs/"])
        (self.root / "labs/lab04_other").rename(self.root / "labs/lab03_thing")
        self.assertIn("thing.cu: labs/labs.toml says", labs.problems(self.root)[0])


class Chapters(unittest.TestCase):
    def test_every_handout_links_to_its_chapter(self):
        of_the_book = [lab for lab in (*labs.load(), *labs.programs()) if lab.chapter]  # a new lab may have none yet
        self.assertGreaterEqual(len(of_the_book), 12)
        for lab in of_the_book:
            with self.subTest(lab.name):
                self.assertTrue((labs.ROOT / lab.chapter).is_file(), lab.chapter)
                self.assertIn(f"(../../{lab.chapter})", (labs.ROOT / lab.starter.with_name("README.md")).read_text())


class Told(unittest.TestCase):
    """The same facts in the other languages."""

    def test_bash(self):
        script = told.shell() + '\nfor lab in "${lab_names[@]}"; do printf "%s|" "$lab" "${lab_kernel[$lab]}" "${lab_next[$lab]}" "${lab_quadratic[$lab]}"; done'
        said = subprocess.run(["bash", "-uc", script], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.assertEqual(said, "".join(f"{lab.name}|{lab.kernel}|{lab.next}|{' '.join(lab.quadratic)}|" for lab in labs.load()))

    def test_make(self):
        lines = dict(line.split(" := ") for line in told.make().splitlines())
        self.assertEqual(lines["labs"].split(), [lab.name for lab in labs.load()])
        for lab in labs.load():
            self.assertIn(lab.name, lines[f"labs_of_{lab.operator}"].split())

    def test_solutions_export_what_is_listed(self):
        """As their own tests see them: the header that these are built with says the same."""
        os.chdir(ROOT)
        found = labs.load()
        self.assertEqual(shelf.build("build/cpu/worker", *(f"build/cpu/tests/{lab.name}" for lab in found)), "")
        for lab in found:
            with self.subTest(lab.name):
                output = shelf.run_tests(lab.name, lab.solution, "cpu", True, {"as": "?"}).output
                exported = set(output.strip().split(" has ")[-1].split(", "))
                listed = {f"{variant.name} {dtype}" for variant in lab.variants for dtype in variant.types}
                self.assertLessEqual(listed, exported, output)
                self.assertEqual({label.split()[0] for label in exported - listed}, set(lab.wrong), output)
                for name in listed:
                    self.assertRegex(told.header(lab.name), rf'"{name.split()[0]}", rung::Dtype::{name.split()[1]}\b')


if __name__ == "__main__":
    unittest.main()
