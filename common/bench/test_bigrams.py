"""Tests of bigrams.py on texts made up here."""

from __future__ import annotations

import array
import contextlib
import io
import math
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import bigrams  # noqa: E402


def run(*arguments: object) -> tuple[int, str, str]:
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        code = bigrams.main([str(argument) for argument in arguments])
    return code, out.getvalue(), err.getvalue()


def floats(path: Path, kind: str = "f") -> array.array:
    return array.array(kind, path.read_bytes())


class Words(unittest.TestCase):
    def check(self, markdown: str, *runs: str) -> None:
        self.assertEqual([" ".join(words) for words in bigrams.runs_of_words(markdown)], list(runs))

    def test_lower_case_and_lines_of_one_paragraph(self) -> None:
        self.check("A Warp\nreads the Row", "a warp reads the row")

    def test_punctuation_and_blocks_end_a_run(self) -> None:
        self.check("one, two. Three (four)\n\nfive", "one", "two", "three", "four", "five")
        self.check("# Title\nbody text\n* item one\n2. item two", "title", "body text", "item one", "item two")
        self.check("one - two", "one", "two")
        self.check("| a row | of cells |", "a row", "of cells")

    def test_fenced_code_is_left_out(self) -> None:
        self.check("before\n```cuda\nint x;\n```\nafter", "before", "after")
        self.check("before\n~~~~\nint x;\n~~~\n```\n~~~~\nafter", "before", "after")
        self.check("before\n```\n```cuda\nint x;\n```\nafter", "before", "after")  # ```cuda cannot close

    def test_inline_markup(self) -> None:
        self.check("the `shared` *memory* of **one** [block](http://x.y/z)", "the shared memory of one block")
        self.check("call `f(x, y)` twice", "call", "twice")
        self.check("the sum $x_i$ grows <!-- not\nthis --> here", "the sum", "grows", "here")
        self.check("<b>bold</b> text", "bold text")
        self.check("the row\u2019s maximum isn't row-wise fp32", "the row's maximum isn't row wise fp32")

    def test_paths_and_numbers_are_no_words(self) -> None:
        self.check("see common/bench/table.py or table.py for 48 KB", "see", "or", "for kb")


class Model(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def build(self, text: str, name: str = "model") -> tuple[Path, str]:
        (self.folder / "text.md").write_text(text)
        code, out, err = run("--output", self.folder / name, self.folder / "text.md")
        self.assertEqual((code, err), (0, ""))
        return self.folder / name, out

    def test_logits_follow_the_formula(self) -> None:
        base, out = self.build("a b a b a c. b b once")
        self.assertEqual(base.with_name("model.words").read_text(), "b\na\n")
        alpha, size = bigrams.ALPHA, 2
        counts = {("b", "b"): 1, ("b", "a"): 2, ("a", "b"): 2, ("a", "a"): 0}  # c and once are seen once only
        starts = {"b": 3, "a": 2}
        expected = [math.log((counts[x, y] + alpha) / (starts[x] + alpha * size)) for x in "ba" for y in "ba"]
        for got, want in zip(floats(base.with_name("model.f32")), expected, strict=True):
            self.assertAlmostEqual(got, want, places=5)
        self.assertIn("1 files, 9 words, vocabulary 2 (not 600", out)
        self.assertIn("5 bigrams (3 different)", out)
        self.assertEqual(out.count("\n"), 1)

    def test_every_row_is_a_distribution(self) -> None:
        base, _ = self.build("the warp reads the row and the warp writes the row. " * 3 + "end. end.")
        words = base.with_name("model.words").read_text().split()
        logits = floats(base.with_name("model.f32"))
        self.assertEqual(len(logits), len(words) ** 2)
        for row in range(len(words)):
            total = math.fsum(map(math.exp, logits[row * len(words):(row + 1) * len(words)]))
            self.assertAlmostEqual(total, 1.0, places=5)

    def test_vocabulary_is_cut_by_frequency_then_alphabet(self) -> None:
        names = [f"w{number:03d}" for number in range(700)]
        base, out = self.build(" ".join(names[::-1]) + ". " + " ".join(names) + ". w699")
        words = base.with_name("model.words").read_text().split()
        self.assertEqual(words, ["w699"] + names[:599])
        self.assertIn("vocabulary 600,", out)

    def test_the_same_text_gives_the_same_bytes(self) -> None:
        for name in ("x", "y"):
            self.build("one two three one two three two one", name)
        for suffix in (".f32", ".words"):
            self.assertEqual((self.folder / f"x{suffix}").read_bytes(), (self.folder / f"y{suffix}").read_bytes())

    def write_top_k(self, base: Path, k: int) -> None:
        logits = floats(base.with_name("model.f32"))
        size = math.isqrt(len(logits))
        index, prob = array.array("i"), array.array("f")
        for row in range(size):
            values = logits[row * size:(row + 1) * size]
            best = sorted(range(size), key=lambda i: (-values[i], i))[:k]
            index.extend(best)
            prob.extend(math.exp(values[i]) for i in best)
        base.with_name("model.topk.i32").write_bytes(index.tobytes())
        base.with_name("model.topk.f32").write_bytes(prob.tobytes())

    def test_predict_shows_frequent_telling_words_and_only_seen_successors(self) -> None:
        common = ". ".join(f"s{number:02d} " * 20 for number in range(30))
        told = "shared memory. " * 7 + "shared bytes. " * 3 + "shared tile. " + "row width. " * 5 + "row s01. " * 5
        told += "".join(f"p{number} q{number}. " * 5 for number in range(6))  # sure of one word: less telling
        rare = ". ".join(f"r{number:02d}. r{number:02d}" for number in range(100))
        base, _ = self.build(f"{common}. {told} {rare}. tile.")
        self.write_top_k(base, 4)
        code, out, err = run("--predict", base, "--k", 4)
        self.assertEqual((code, err), (0, ""))
        size = len(base.with_name("model.words").read_text().split())
        share = [(count + 0.01) / (11 + 0.01 * size) for count in (7, 3, 1)]
        self.assertEqual(out.splitlines()[0], "after `shared`: memory {:.2f}, bytes {:.2f}, tile {:.2f}".format(*share))
        self.assertEqual([line.split("`")[1] for line in out.splitlines()], ["shared", "p0", "p1", "p2", "p3"])

    def test_predict_reports_files_that_do_not_fit(self) -> None:
        base, _ = self.build("a b a b a b")
        code, _, err = run("--predict", base, "--k", 2)
        self.assertEqual(code, 1)
        self.assertIn("model.topk.i32: cannot be read", err)
        self.write_top_k(base, 2)
        self.assertEqual(run("--predict", base, "--k", 2)[0], 0)
        code, _, err = run("--predict", base, "--k", 1)
        self.assertEqual(code, 1)
        self.assertIn("16 bytes, expected 8", err)
        base.with_name("model.topk.i32").write_bytes(array.array("i", [0, 1, 2, 0]).tobytes())
        code, _, err = run("--predict", base, "--k", 2)
        self.assertEqual(code, 1)
        self.assertIn("outside 0..1", err)
        self.assertIn("k is 3, expected 1 to 2", run("--predict", base, "--k", 3)[2])

    def test_user_errors(self) -> None:
        text = self.folder / "text.md"
        text.write_text("a a b b")
        self.assertIn("no Markdown files", run("--output", self.folder / "m")[2])
        self.assertIn("gone.md: cannot be read", run("--output", self.folder / "m", self.folder / "gone.md")[2])
        self.assertIn("cannot be written", run("--output", text / "m", text)[2])
        text.write_text("once")
        self.assertIn("too little text", run("--output", self.folder / "m", text)[2])
        text.write_bytes(b"\xff\xfe\x00")
        code, out, err = run("--output", self.folder / "m", text)
        self.assertEqual((code, out), (1, ""))
        self.assertIn("not UTF-8", err)


if __name__ == "__main__":
    unittest.main()
