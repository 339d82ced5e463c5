"""peers.py on made-up results: machine "Synthetic", round numbers, nothing measured."""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import peers  # noqa: E402


def case(op: str, dtype: str, rows: int, k: int = 0, values: str = "", **microseconds: float) -> dict:
    seconds = {name.replace("_", " "): {"median": 1e-6 * each, "min": 0.9e-6 * each, "max": 1.1e-6 * each}
               for name, each in microseconds.items()}
    entry = {"op": op, "dtype": dtype, "rows": rows, "cols": 100, "k": k, "seconds": seconds}
    return {**entry, "values": values, "floor": {"way": "torch mul", "seconds": {}}} if values else entry  # as written since there are values


def synthetic() -> dict:
    return {"machine": "Synthetic", "date": "2000-01-01", "versions": {"torch": "0"}, "missing": {"flashinfer": "no module"},
            "ladder": {"softmax float32": "lab06.auto", "softmax bfloat16": "lab06.other", "topk float32": "lab05.fast"},
            "cases": [case("softmax", "float32", 8, ladder=20, copy=10, torch=50, triton=25),
                      case("softmax", "float16", 8, ladder=12, copy=10, torch=30, lab04=11),
                      case("softmax", "float32", 9, copy=10, torch=50),
                      case("topk", "float32", 8, k=5, ladder=40, read=20, softmax_topk=100, flashinfer_topk_alone=30)]}


def with_values() -> dict:
    table = synthetic()
    table["cases"] = [case("topk", "float32", 8, k=5, values=values, ladder=us, read=4)
                      for values, us in (("normal", 10), ("descending", 15), ("masked", 18))]
    return table


class Tables(unittest.TestCase):
    def test_the_best_peer_is_neither_a_floor_nor_ours(self):
        cases = synthetic()["cases"]
        self.assertEqual([(each and each[0]) for each in map(peers.best_peer, cases)],
                         ["triton", "torch", "torch", "softmax topk"])

    def test_text(self):
        text = peers.text_tables(synthetic())
        self.assertRegex(text, r"8 x 100 +20\.0 +10\.0 +50\.0 +25\.0 +0\.80 +2\.00 +triton +20\.0 %")
        self.assertRegex(text, r"9 x 100 +- +10\.0 +50\.0 +- +- +- +torch +-")
        self.assertIn("not here: flashinfer (no module)", text)

    def test_titles(self):
        self.assertEqual([peers.titles(op) for op in peers.FLOOR], ["Softmax", "Softmax + top-K", "RMSNorm", "LayerNorm", "Cross-entropy",
                                                                    "Cross-entropy and its gradient"])
        self.assertEqual([peers.belongs_to(op) for op in ("softmax", "topk", "rms_norm")], ["", ", top-K", ", RMSNorm"])

    def test_markdown(self):
        text = peers.markdown(synthetic(), "results.json")
        self.assertIn("| 8 x 100 | 20.0 | 0.80 (triton) | 2.00 | 12.0 | 0.40 (torch) | 1.20 |", text)
        self.assertIn("| 8 x 100, K 5 | 40.0 | 0.40 (softmax topk) | 2.00 |", text)
        self.assertIn("Ours: `lab06.auto` (f32), `lab05.fast` (f32, top-K).", text)
        self.assertIn("| 9 x 100 | - | - (torch) | - | - | - | - |", text)
        self.assertNotIn("descending", text)

    def test_only_the_operations_that_are_asked_for(self):
        text = peers.markdown(synthetic(), "results.json", ops=("topk",))
        self.assertIn("| 8 x 100, K 5 | 40.0 | 0.40 (softmax topk) | 2.00 |", text)
        self.assertNotIn("| 8 x 100 |", text)
        self.assertIn("Ours: `lab05.fast` (f32, top-K).", text)

    def test_without_peers_there_is_no_column_for_them(self):
        table = with_values()
        table["cases"] = table["cases"][:1]  # the normal values
        text = peers.markdown(table, "results.json")
        self.assertIn("| Softmax + top-K | f32: us | / read |\n|---|---|---|\n| 8 x 100, K 5 | 10.0 | 2.50 |", text)

    def test_an_old_floor_is_called_what_it_was(self):
        self.assertIn("| Softmax + top-K | f32: us | / best peer | / PyTorch's read |", peers.markdown(synthetic(), "results.json"))
        table = with_values()
        table["cases"][0]["seconds"]["torch"] = table["cases"][0]["seconds"]["ladder"]
        self.assertIn("| Softmax + top-K | f32: us | / best peer | / read |", peers.markdown(table, "results.json"))

    def test_other_values(self):
        text = peers.markdown(with_values(), "results.json")
        self.assertIn("| Softmax + top-K | normal: us | descending | masked |", text)
        self.assertIn("| f32, 8 x 100, K 5 | 10.0 | 1.50 | 1.80 |", text)
        self.assertNotIn("best peer", text)  # nobody else was measured
        self.assertRegex(peers.text_tables(with_values()), r"f32, 8 x 100, K 5 +10\.0 +1\.50 +1\.80")


class Readme(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.readme, self.results = self.folder / "README.md", self.folder / "one.json"
        self.readme.write_text("before\n" + self.place("one", "softmax", "old") + "between\n" + self.place("one", "topk", "older") + "after\n")
        self.results.write_text(json.dumps(synthetic()))

    def place(self, name: str, ops: str, text: str) -> str:
        return f"<!-- peers: {name} of {ops}, written by plots/peers.py -->\n{text}\n<!-- peers: end -->\n"

    def run_main(self, *options: str) -> tuple[int, str]:
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
            status = peers.main(["--readme", str(self.readme), str(self.folder), *options])
        return status, out.getvalue()

    def test_written_and_then_up_to_date(self):
        status, text = self.run_main("--check")
        self.assertEqual(status, 1)
        self.assertIn("not up to date", text)
        self.assertEqual(self.run_main()[0], 0)
        self.assertEqual(self.run_main("--check")[0], 0)
        text = self.readme.read_text()
        self.assertTrue(text.startswith("before\n") and text.endswith("after\n"))
        self.assertNotIn("old", text)
        first, second = text.split("between\n")
        self.assertIn("Synthetic", first)
        self.assertIn("| 8 x 100 |", first)
        self.assertNotIn("K 5", first)
        self.assertIn("| 8 x 100, K 5 |", second)

    def test_a_figure_that_was_typed_is_found(self):
        self.run_main()
        self.readme.write_text(self.readme.read_text().replace("0.80 (triton)", "0.08 (triton)"))
        self.assertEqual(self.run_main("--check")[0], 1)

    def test_nothing_measured_yet(self):
        self.results.unlink()
        self.run_main()
        self.assertEqual(self.readme.read_text().count(peers.NOT_MEASURED), 2)
        self.assertEqual(self.run_main("--check")[0], 0)

    def test_places_that_are_none(self):
        for text, words in (("nothing here\n", "the page needs a line"), (self.place("one", "softmax", "x") + "<!-- peers: end -->\n", "the page needs a line"),
                            (self.place("one", "sort", "x"), "a table of sort")):
            self.readme.write_text(text)
            status, said = self.run_main()
            self.assertEqual(status, 1)
            self.assertIn(words, said)
            self.assertEqual(self.readme.read_text(), text)


class Command(unittest.TestCase):
    def test_bad_files(self):
        with tempfile.TemporaryDirectory() as folder:
            for content, words in ((None, "no such file"), ("{", "cannot be read"), ("{}", "it has no machine"), ("[]", "not written by")):
                path = Path(folder) / "x.json"
                path.unlink(missing_ok=True)
                if content is not None:
                    path.write_text(content)
                with contextlib.redirect_stderr(io.StringIO()) as err:
                    self.assertEqual(peers.main(["--table", str(path)]), 1)
                self.assertIn(words, err.getvalue())

    def test_the_chart_is_the_same_each_time(self):
        with tempfile.TemporaryDirectory() as folder:
            first, second = (peers.draw([synthetic(), with_values()], Path(folder) / name)[0].read_bytes() for name in ("a", "b"))
        self.assertEqual(first, second)
        self.assertTrue(xml.etree.ElementTree.fromstring(first).tag.endswith("svg"))


if __name__ == "__main__":
    unittest.main()
