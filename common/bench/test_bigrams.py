"""Tests of bigrams.py on counts made up here."""

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


class Model(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def build(self, counts: str, name: str = "model") -> tuple[Path, str]:
        (self.folder / "counts.txt").write_text(counts)
        code, out, err = run("--output", self.folder / name, "--counts", self.folder / "counts.txt")
        self.assertEqual((code, err), (0, ""))
        return self.folder / name, out

    def test_logits_follow_the_formula(self) -> None:
        base, out = self.build("# a comment\nb: b 1, a 2\na: b 2\n")
        self.assertEqual(base.with_name("model.words").read_text(), "b\na\n")
        alpha, size = bigrams.ALPHA, 2
        counts = {("b", "b"): 1, ("b", "a"): 2, ("a", "b"): 2, ("a", "a"): 0}
        starts = {"b": 3, "a": 2}
        expected = [math.log((counts[x, y] + alpha) / (starts[x] + alpha * size)) for x in "ba" for y in "ba"]
        for got, want in zip(floats(base.with_name("model.f32")), expected, strict=True):
            self.assertAlmostEqual(got, want, places=5)
        self.assertEqual(out, "bigrams: 2 words, 5 bigrams (3 different), add-alpha 0.01\n")

    def test_every_row_of_the_courses_counts_is_a_distribution(self) -> None:
        base = self.folder / "model"
        self.assertEqual(run("--output", base)[0], 0)
        words = base.with_name("model.words").read_text().split()
        logits = floats(base.with_name("model.f32"))
        self.assertEqual((len(words), len(logits)), (600, 600 * 600))
        for row in range(len(words)):
            total = math.fsum(map(math.exp, logits[row * len(words):(row + 1) * len(words)]))
            self.assertAlmostEqual(total, 1.0, places=4)

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
        lines = [f"s{number:02d}: s{number:02d} 19" for number in range(30)]
        lines += ["shared: memory 7, bytes 3, tile 1", "row: width 5, s01 5", "memory:"]
        for number in range(6):
            lines += [f"p{number}: q{number} 5", f"q{number}:"]  # sure of one word: less telling
        lines += ["width:", "bytes:", "tile:"] + [f"r{number:02d}:" for number in range(100)]
        base, _ = self.build("\n".join(lines))
        self.write_top_k(base, 4)
        code, out, err = run("--predict", base, "--k", 4)
        self.assertEqual((code, err), (0, ""))
        size = len(base.with_name("model.words").read_text().split())
        share = [(count + 0.01) / (11 + 0.01 * size) for count in (7, 3, 1)]
        self.assertEqual(out.splitlines()[0], "after `shared`: memory {:.2f}, bytes {:.2f}, tile {:.2f}".format(*share))
        self.assertEqual([line.split("`")[1] for line in out.splitlines()], ["shared", "p0", "p1", "p2", "p3"])

    def test_predict_reports_files_that_do_not_fit(self) -> None:
        base, _ = self.build("a: b 3\nb: a 2\n")
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
        counts = self.folder / "counts.txt"

        def refusal(text: str) -> str:
            counts.write_text(text)
            code, out, err = run("--output", self.folder / "m", "--counts", counts)
            self.assertEqual((code, out), (1, ""))
            return err

        self.assertIn("cannot be written", run("--output", Path(__file__) / "m")[2])
        self.assertIn("gone.txt: cannot be read", run("--output", self.folder / "m", "--counts", self.folder / "gone.txt")[2])
        for line in ("a b 1", "b: a 0", "b: a 1,", "b: a", "b: a 1 a 2"):
            self.assertIn("counts.txt:2: expected `word: successor count", refusal(f"a: a 1\n{line}\n"), line)
        self.assertIn("counts.txt:1: `c` has no line", refusal("a: c 1\nb:\n"))
        self.assertIn("1 different words on 2 lines", refusal("a:\na:\n"))
        self.assertIn("two or more", refusal("a:\n"))
        counts.write_bytes(b"\xff\xfe\x00")
        self.assertIn("not UTF-8", run("--output", self.folder / "m", "--counts", counts)[2])


if __name__ == "__main__":
    unittest.main()
