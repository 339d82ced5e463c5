"""Tests of table.py on made-up results: round numbers, nothing measured."""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent))
import results  # noqa: E402
import table  # noqa: E402


def point(lab: str, variant: str, seconds: float, dtype: str = "f32", k: int = 0, rows: int = 10, cols: int = 1000,
          **other: object) -> dict:
    whole = {"source": "solution", "lab": lab, "variant": variant, "op": "softmax_topk" if k else "softmax",
             "dtype": dtype, "input": "normal", "rows": rows, "cols": cols, "k": k, "seconds": seconds,
             "nominal_bytes": 8 * rows * cols, "nominal_flops": 5 * rows * cols, "note": ""}
    return {**whole, **other}


LADDER = [point("lab01_naive", "per_element", 1.0, rows=1, note="fewer rows: cost grows with cols squared"),
          point("lab01_naive", "per_row", 0.1), point("lab02_smem", "tree", 0.05),
          point("lab04_f16x8", "f16", 0.025, "f16"), point("lab04_f16x8", "f16x2", 0.02, "f16"),
          point("lab05_topk", "three_pass", 0.04, k=8), point("lab05_topk", "three_pass", 0.03, "f16", k=8),
          point("lab05_topk", "online", 0.02, k=8), point("lab05_topk", "online", 0.01, "f16", k=8)]


def run(points: list[dict], *arguments: str, stream: io.StringIO | None = None,
        machine: str = "Synthetic machine") -> tuple[int, str, str]:
    content = {"machine": machine, "backend": "cpu", "date": "2000-01-01", "points": points}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "synthetic.json"
        path.write_text(json.dumps(content))
        out = stream or io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()) as err:
            code = table.main([str(path), *arguments])
    return code, out.getvalue(), err.getvalue()


def cells(out: str) -> dict[tuple[str, str], dict[str, str]]:
    """The first group's rows by (variant, dtype), cut at the columns of its head."""
    lines = out.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("lab "))
    found = {}
    for line in lines[start + 1:]:
        words = re.split(r"\s{2,}", line.rstrip())
        if len(words) < 6:
            break
        found[words[1], words[2]] = {"before": next((w for w in words[6:] if w == "-" or w.endswith("x")), ""),
                                     "line": line}
    return found


class Table(unittest.TestCase):
    def columns(self, points: list[dict]) -> dict[tuple[str, str], tuple[str, str]]:
        """(before, first) by (variant, dtype)."""
        ladder = results.ladder_order(points)
        rows = [table.row_of(each, ladder, []) for each in ladder]
        return {(row["variant"], row["dtype"]): (row["before"], row["first"]) for row in rows}

    def test_speed_ups_compare_time_per_element(self) -> None:
        columns = self.columns(LADDER)
        self.assertEqual(columns["per_element", "f32"], ("-", "-"))
        self.assertEqual(columns["per_row", "f32"], ("100x", "100x"))  # a tenth of the time for ten times the rows
        self.assertEqual(columns["tree", "f32"], ("2.00x", "200x"))

    def test_another_dtype_follows_the_last_rung(self) -> None:
        columns = self.columns(LADDER)
        self.assertEqual(columns["f16", "f16"], ("2.00x", "400x"))
        self.assertEqual(columns["f16x2", "f16"], ("1.25x", "500x"))

    def test_top_k_is_compared_with_top_k_of_its_dtype(self) -> None:
        columns = self.columns(LADDER)
        self.assertEqual(columns["three_pass", "f32"], ("-", "-"))
        self.assertEqual(columns["online", "f32"], ("2.00x", "2.00x"))
        self.assertEqual(columns["three_pass", "f16"], ("-", "1.33x"))
        self.assertEqual(columns["online", "f16"], ("3.00x", "4.00x"))

    def test_ladder_order(self) -> None:
        shuffled = LADDER[5:] + [point("lab02_smem", "tree", 0.5, source="student")] + LADDER[:5]
        order = [(each["variant"], each["dtype"], each["source"]) for each in results.ladder_order(shuffled)]
        whole = [(each["variant"], each["dtype"], "solution") for each in LADDER]
        whole[3:3] = [("tree", "f32", "student")]  # after the solution's
        whole[-4:] = [(name, dtype, "solution") for dtype in ("f32", "f16") for name in ("three_pass", "online")]
        self.assertEqual(order, whole)

    def test_layout(self) -> None:
        code, out, err = run(LADDER + [point("lab01_naive", "per_row", 0.5, cols=600, input="bigrams")])
        self.assertEqual((code, err), (0, ""))
        self.assertTrue(all(len(line) < 120 for line in out.splitlines()))
        self.assertNotIn("\033", out)
        self.assertTrue(out.startswith("Synthetic machine  |  cpu  |  2000-01-01"))
        self.assertLess(out.index("normal logits, 1000 columns"), out.index("bigrams of the course's own text, 600"))
        head = next(line for line in out.splitlines() if line.startswith("lab "))
        rows = cells(out)
        self.assertEqual(len(rows), len(LADDER))
        end = head.index("before") + len("before")
        for name, row in rows.items():  # right-aligned: a column ends where its head ends
            self.assertRegex(row["line"][:end], r"(x|-)$", name)
            self.assertIn(row["line"][end:end + 1], (" ", ""), name)
        self.assertEqual(out.count("fewer rows: cost grows with cols squared"), 1)
        self.assertEqual(out.count("lab04_f16x8"), 1)  # a lab is named in its first row
        self.assertTrue(rows["per_element", "f32"]["line"].endswith("(1)"))
        self.assertNotIn("(1)", rows["per_row", "f32"]["line"])

    def test_units(self) -> None:
        for seconds, text in ((2.5, "2.50 s"), (0.9996, "1.00 s"), (1.2e-3, "1.20 ms"), (45.6e-6, "45.6 us"),
                              (7e-7, "700 ns")):
            self.assertEqual(table.format_time(seconds), text)
        for value, text in ((0.00123, "0.00123"), (0.4, "0.400"), (9.999, "10.0"), (99.96, "100"), (12345.6, "12346")):
            self.assertEqual(results.three_digits(value), text)
        row = table.row_of(LADDER[1], LADDER, [])
        self.assertEqual((row["time"], row["GB/s"], row["rows x cols"]), ("100 ms", "0.000800", "10 x 1000"))

    def test_counted_bytes_an_element(self) -> None:
        counted = dict(LADDER[1], l1_bytes=128 * 10 * 1000, footprint_bytes=8 * 10 * 1000, counted_rows=8)
        self.assertEqual(table.row_of(counted, [counted], [])["B/elem"], "128")
        self.assertEqual(table.row_of(LADDER[1], LADDER, [])["B/elem"], "-")

    def test_long_texts_stay_within_the_width(self) -> None:
        points = [point("lab01_naive", name, 0.5, note="word " * 60) for name in ("a", "b")]
        _, out, _ = run(points, machine="Long " * 40)
        self.assertTrue(all(len(line) < 120 for line in out.splitlines()))
        self.assertEqual(out.count("word"), 60)  # two rows share the note

    def test_source(self) -> None:
        points = LADDER + [point("lab02_smem", "tree", 0.5, source="student")]
        _, out, _ = run(points, "--source", "student")
        self.assertEqual(list(cells(out)), [("tree", "f32")])
        code, out, err = run(points, "--source", "nobody")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("'nobody'; the file has: solution, student", err)

    def test_colour_only_on_a_terminal_without_no_color(self) -> None:
        class Terminal(io.StringIO):
            def isatty(self) -> bool:
                return True

        with mock.patch.dict("os.environ"):
            table.os.environ.pop("NO_COLOR", None)
            _, coloured, _ = run(LADDER, stream=Terminal())
            table.os.environ["NO_COLOR"] = "1"
            _, plain, _ = run(LADDER, stream=Terminal())
        self.assertIn("\033[", coloured)
        self.assertNotIn("\033", plain)
        self.assertEqual(re.sub("\033\\[\\d+m", "", coloured), plain)

    def test_roofs_are_not_needed_but_points_are(self) -> None:
        code, out, err = run([])
        self.assertEqual((code, out), (1, ""))
        self.assertIn("no points", err)
        with contextlib.redirect_stderr(io.StringIO()) as err:
            self.assertEqual(table.main(["/nonexistent.json"]), 1)
        self.assertIn("no such file", err.getvalue())


if __name__ == "__main__":
    unittest.main()
