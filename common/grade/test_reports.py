"""Tests of the reports on made-up records: all formats agree, and nothing that a stranger wrote gets out of its place."""

from __future__ import annotations

import contextlib
import csv
import html.parser
import io
import json
import re
import sys
import tempfile
import unicodedata
import unittest
import xml.etree.ElementTree as ET
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import record  # noqa: E402
import reports  # noqa: E402
import sample_records as sample  # noqa: E402

VERDICT = "pass|fail|not run|needs a person"


class TempFolder(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = Path(folder.name)


# ---- Each format, read back: {id: (verdict, points, out_of, {lab: the same}, {(lab, item): the same})} ----

def from_records(values: list[dict]) -> dict:
    # What is asked of every format, straight from the JSON; item ids as readers see them.
    def of(value: dict) -> tuple:
        return (value["verdict"], value["points"], value["out_of"])
    return {v["id"]: (*of(v), {lab["lab"]: of(lab) for lab in v["labs"]},
                      {(lab["lab"], record.shortened(record.visible(i["id"].strip()), record.LONGEST_LINE)): of(i)
                       for lab in v["labs"] for i in lab["items"]}) for v in values}


def uncode(span: str) -> str:
    fence = re.match("`+", span)[0]
    text = span[len(fence):-len(fence)]
    return text[1:-1] if text.startswith(" `") or text.endswith("` ") else text


def from_feedback(text: str) -> tuple:
    whole = re.search(rf"^\*\*({VERDICT})\*\*, (\S+) of (\S+) points", text, re.M)
    labs, items, rows, fence = {}, {}, {}, ""
    name = ""
    for line in text.splitlines():
        if fence:
            fence = "" if line.strip() == fence else fence
            continue
        if opening := re.match(r" *(`{3,})text$", line):
            fence = opening[1]
        elif row := re.match(rf"\| (lab\S+) \| ({VERDICT}) \| (\S+) \| (\S+) \|", line):
            rows[row[1]] = (row[2], float(row[3]), float(row[4]))
        elif head := re.match(r"## (lab\w+): ", line):
            name = head[1]
        elif name and (total := re.match(rf"\*\*({VERDICT})\*\*, (\S+) of (\S+) points", line)):
            labs[name] = (total[1], float(total[2]), float(total[3]))
        elif entry := re.match(rf"- \*\*({VERDICT})\*\*, (\S+) of (\S+): .*?(?<!\\)\((`.*`)\)$", line):
            items[name, uncode(entry[4])] = (entry[1], float(entry[2]), float(entry[3]))
    assert rows == labs, (rows, labs)
    return whole[1], float(whole[2]), float(whole[3]), labs, items


def from_gradescope(text: str) -> tuple:
    value = json.loads(text)
    extra = value["extra_data"]
    items = {}
    for test in value["tests"]:
        key, verdict = (test["extra_data"]["lab"], test["extra_data"]["id"]), test["extra_data"]["verdict"]
        if verdict == "not run":
            assert not {"score", "max_score", "status"} & set(test), test
            worth = re.search(r"Not run here: (\S+) points", test["output"])
            items[key] = (verdict, 0, float(worth[1]))
        else:
            assert test["status"] == ("passed" if verdict == "pass" else "failed"), test
            assert test["output_format"] == "text" and test["visibility"] == "visible"
            items[key] = (verdict, test["score"], test["max_score"])
    labs = {lab["lab"]: (lab["verdict"], lab["points"], lab["out_of"]) for lab in extra["labs"]}
    return extra["verdict"], value["score"], extra["out_of"], labs, items


def from_gradebook(text: str) -> dict:
    group = {}
    for row in csv.DictReader(io.StringIO(text.lstrip("\ufeff"), newline="")):
        labs = {head.split()[0] for head in row if head.startswith("lab")}
        group[row["id"]] = (row["verdict"], float(row["points"]), float(row["out_of"]),
                            {lab: (row[f"{lab} verdict"], float(row[f"{lab} points"]), float(row[f"{lab} out_of"])) for lab in labs})
    return group


def from_junit(text: str) -> dict:
    group = {}
    verdicts = {"failure": "fail", "skipped": "not run", "error": "needs a person"}
    for suite in ET.fromstring(text):
        values = {p.get("name"): p.get("value") for p in suite.find("properties")}
        items = {}
        for case in suite.findall("testcase"):
            points, out_of = map(float, case.find("properties/property[@name='points']").get("value").split(" of "))
            ends = [verdicts[child.tag] for child in case if child.tag in verdicts]
            items[case.get("classname").split(".")[-1], case.get("name").split(": ")[0]] = ((ends or ["pass"])[0], points, out_of)
        labs = {name.split()[0]: tuple(f(values[f"{name.split()[0]} {what}"]) for what, f in
                                       (("verdict", str), ("points", float), ("out_of", float)))
                for name in values if name.endswith(" verdict")}
        for tag, verdict in verdicts.items():
            count = {"failure": "failures", "error": "errors"}.get(tag, tag)
            assert int(suite.get(count)) == sum(i[0] == verdict for i in items.values())
        group[values["id"]] = (values["verdict"], float(values["points"]), float(values["out_of"]), labs, items)
    return group


class Page(html.parser.HTMLParser):
    """The rows of the table with the id "class", every tag with its attributes, and the text of what needs a person."""

    def __init__(self, text: str):
        super().__init__()
        self.rows: list[list[str]] = []
        self.tags: list[tuple[str, dict]] = []
        self.heads: list[str] = []
        self.inside = self.section = ""
        self.person = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "table":
            self.inside = dict(attrs).get("id", "")
        if tag == "section":
            self.section = dict(attrs).get("id", "")
        if self.inside == "class" and tag == "tr":
            self.rows.append([])
        if self.inside == "class" and tag in ("td", "th"):
            self.rows[-1].append("")
        if self.inside == "class" and "aria-label" in dict(attrs):
            self.rows[-1][-1] += f" {dict(attrs)['aria-label']} "

    def handle_data(self, data: str) -> None:
        if self.section == "person":
            self.person += data
        if self.inside == "class" and self.rows and self.rows[-1]:
            self.rows[-1][-1] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "table":
            self.inside = ""


def from_html(text: str) -> dict:
    head, *rows = Page(text).rows
    group = {}
    for row in rows:
        cells = dict(zip(head, row))
        labs = {}
        for name in head:
            if name.startswith("lab"):
                points, out_of, verdict = re.fullmatch(rf"(\S+) / (\S+)\s+({VERDICT}) .", cells[name]).groups()
                labs[name] = (verdict, float(points), float(out_of))
        points, out_of = cells["points"].split(" / ")
        group[cells["id"]] = (cells["verdict"], float(points), float(out_of), labs)
    return group


class Agreement(TempFolder):
    def test_all_formats_agree_on_every_point_and_verdict(self) -> None:
        values = sample.write_class(self.out)
        wanted = from_records(values)
        self.assertEqual(reports.write_class(self.out).unreadable, [])
        for id, of in wanted.items():
            folder = self.out / "students" / id
            self.assertEqual(from_feedback((folder / "feedback.md").read_text()), of, id)
            self.assertEqual(from_gradescope((folder / "results.json").read_text()), of, id)
        without_items = {id: of[:4] for id, of in wanted.items()}
        self.assertEqual(from_gradebook((self.out / "gradebook.csv").read_bytes().decode()), without_items)
        self.assertEqual(from_html((self.out / "report.html").read_text()), without_items)
        self.assertEqual(from_junit((self.out / "junit.xml").read_text()), wanted)

    def test_junit_is_short(self) -> None:
        """A class whose every case fails with long texts stays a file that a program reads in a moment."""
        for id, reasons, most in (("same", 1, 450), ("others", 200, 850)):  # details are told once a reason
            items = [{**sample.item(f"correctness/{i}", "fail", 0, 0.5), "reason": f"{i % reasons} " + "r" * 900, "details": "x" * 5000}
                     for i in range(200)]
            out = self.out / id
            sample.write(out, sample.record(id, id, [sample.lab("lab02_smem", items, "fail")], "fail"))
            reports.write_class(out)
            size = (out / "junit.xml").stat().st_size / 200
            self.assertTrue(0.8 * most < size < most, f"{id}: {size:.0f} bytes a case")

    def test_the_points_of_gradescope_sum_to_the_score(self) -> None:
        sample.write_class(self.out)
        for student in reports.write_class(self.out).students:
            value = json.loads((self.out / "students" / student.id / "results.json").read_text())
            self.assertAlmostEqual(sum(test.get("score", 0) for test in value["tests"]), value["score"], places=2)

    def test_what_needs_a_person_is_listed_first(self) -> None:
        items = [sample.item("speed/tree", "needs a person", 0, 20, "faster than the roof", "speed"), sample.item("a", "pass", 80, 80)]
        sample.write(self.out, sample.record("ada", "Ada", [sample.lab("lab02_smem", items, "needs a person")], "needs a person"))
        reports.write_class(self.out)
        text = (self.out / "report.html").read_text()
        self.assertIn("faster than the roof", Page(text).person)
        self.assertLess(text.index('id="person"'), text.index('id="all"'))

    def test_twice_the_same_bytes(self) -> None:
        sample.write_class(self.out)
        reports.write_class(self.out)
        first = {path: path.read_bytes() for path in self.out.rglob("*") if path.is_file()}
        reports.write_class(self.out)
        self.assertEqual(first, {path: path.read_bytes() for path in self.out.rglob("*") if path.is_file()})


class Escaping(TempFolder):
    def setUp(self) -> None:
        super().setUp()
        sample.write_class(self.out)
        reports.write_class(self.out)
        self.written = {path: path.read_bytes().decode() for path in sorted(self.out.rglob("*"))
                        if path.is_file() and path.name != "grade.json"}

    def test_no_hidden_character_anywhere(self) -> None:
        allowed = "\n\t\u200c\u200d"
        for path, text in self.written.items():
            text = text.lstrip("\ufeff").replace("\r\n", "\n")
            hidden = {c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") and c not in allowed}
            self.assertFalse(hidden, path)
            # The JSON names them by \u escapes: decoded, they must be gone as well.
            if path.suffix == ".json":
                texts = [test["name"] + test["output"] for test in json.loads(text)["tests"]]
                self.assertFalse({c for c in "".join(texts) if unicodedata.category(c) in ("Cc", "Cf", "Cs") and c not in allowed}, path)

    def test_csv_has_no_formula(self) -> None:
        # Read with each separator that a spreadsheet may choose.
        text = (self.out / "gradebook.csv").read_bytes().decode("utf-8-sig")
        for separator in ",;\t":
            for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator):
                for cell in row:
                    self.assertNotRegex(cell, "^\\s*[=+\\-@\uff1d\uff0b\uff0d\uff20]", row)

    def test_html_has_only_our_own_elements(self) -> None:
        text = (self.out / "report.html").read_text()
        tags = Page(text).tags
        self.assertEqual([tag for tag, _ in tags].count("script"), 1)
        self.assertFalse({"img", "iframe", "object", "link", "b", "code"} & {tag for tag, _ in tags})
        for tag, attributes in tags:
            self.assertFalse([name for name in attributes if name.startswith("on") or name in ("src", "style")], (tag, attributes))
            if "href" in attributes:
                self.assertRegex(attributes["href"], r"^(#all|students/s\d{3}/feedback\.md)$")
        self.assertNotRegex(text, r"(https?:)?//(?!evil\.example)[a-z]+\.")  # nothing is loaded
        self.assertIn("default-src 'none'", text)

    def test_markdown_details_stay_in_their_fence(self) -> None:
        item = sample.item("a", "fail", 0, 100, "````\n</code>\n~~~\n```\n# out")
        sample.write(self.out, sample.record("fence", "F", [sample.lab("lab02_smem", [item], "fail")]))
        text = (reports.write_student(self.out / "students" / "fence") and
                (self.out / "students" / "fence" / "feedback.md").read_text())
        self.assertEqual(re.findall(r"^ *(`{3,})(?:text)?$", text, re.M).count("`````"), 2)
        self.assertNotRegex(text, r"(?m)^# out")

    def test_markdown_escapes(self) -> None:
        from escape import code_span, for_markdown
        for text, wanted in (("<b>&", "&lt;b&gt;&amp;"), ("a*b*", "a\\*b\\*"), ("tree_f32x4", "tree_f32x4"), ("__b__", "\\_\\_b\\_\\_"),
                             ("# h", "\\# h"), ("1. x", "1\\. x"), ("- x", "\\- x"), ("[x](y)", "\\[x\\](y)"),
                             ("http://a", "http\\://a"), ("www.a", "www\\.a"), ("@all", "\\@all"), ("|", "\\|"), ("`", "\\`")):
            self.assertEqual(for_markdown(text), wanted)
        self.assertEqual(code_span("a`b"), "``a`b``")
        self.assertEqual(code_span("`"), "`` ` ``")


class BadRecords(TempFolder):
    def expect(self, text: str | None, problem: str) -> None:
        folder = self.out / "students" / "bad"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "grade.json").unlink(missing_ok=True)
        if text is not None:
            (folder / "grade.json").write_text(text)
        with self.assertRaisesRegex(record.RecordError, problem) as caught:
            reports.write_student(folder)
        self.assertIn(str(folder / "grade.json"), str(caught.exception))

    def test_each_is_a_clear_error(self) -> None:
        good = sample.record("bad", "B", [sample.lab("lab02_smem", [sample.item("a", "pass", 100, 100)], "pass")])
        self.expect(None, "is missing.*run make check again")
        self.expect("", "is not JSON")
        self.expect('{"schema": 1', "is not JSON")
        self.expect("[" * 100000, "is not JSON")
        self.expect("[1]", "not a JSON object")
        self.expect(json.dumps({**good, "schema": 2}), "these reports understand 1")
        self.expect(json.dumps({**good, "id": "../bad"}), "not safe")
        self.expect(json.dumps({**good, "id": "other"}), "the folder is \"bad\"")
        self.expect(json.dumps({**good, "verdict": "passed"}), "\"passed\", not one of")
        self.expect(json.dumps({**good, "points": 99}), "is 99, but its parts sum to 100")
        self.expect(json.dumps({**good, "points": -1}), "not a number from 0 up")
        self.expect(json.dumps({**good, "points": True}), "not a number from 0 up")
        self.expect(json.dumps({**good, "points": float("nan")}), "NaN is not a number")
        self.expect(json.dumps({k: v for k, v in good.items() if k != "labs"}), "has no \"labs\"")
        for change, problem in (({"points": 101}, "101 points out of 100"), ({"verdict": "not run"}, "has points, but"),
                                ({"reason": 3}, "not a text"), ({"category": "x"}, "not one of")):
            entry = sample.lab("lab02_smem", [{**sample.item("a", "pass", 100, 100), **change}], "pass")
            self.expect(json.dumps({**good, "labs": [entry]}), problem)
        entry = good["labs"][0]
        self.expect(json.dumps({**good, "labs": [{**entry, "items": [*entry["items"], sample.item("a", "fail", 0, 0)]}]}), "there twice")

    def test_the_others_are_still_reported(self) -> None:
        sample.write_class(self.out, 3)
        (self.out / "students" / "s001" / "grade.json").write_text("{")
        (self.out / "students" / "never_graded").mkdir()
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(reports.main([str(self.out)]), 1)
        for name in ("s001", "never_graded"):
            self.assertIn(f"students/{name}/grade.json", errors.getvalue())
            self.assertIn(name, Page((self.out / "report.html").read_text()).person)
        rows = {row["id"]: row for row in csv.DictReader(io.StringIO((self.out / "gradebook.csv").read_bytes().decode("utf-8-sig")))}
        self.assertEqual((rows["s001"]["verdict"], rows["s001"]["points"]), ("needs a person", ""))
        self.assertIn("is not JSON", rows["s001"]["problem"])
        self.assertEqual(len(rows), 4)
        self.assertEqual(ET.fromstring((self.out / "junit.xml").read_text()).get("errors"),
                         str(2 + sum(i[0] == "needs a person" for of in from_junit_good(self.out).values() for i in of[4].values())))
        self.assertTrue((self.out / "students" / "s002" / "feedback.md").exists())

    def test_an_empty_class(self) -> None:
        (self.out / "students").mkdir()
        self.assertEqual(reports.write_class(self.out).students, [])
        self.assertIn("0 submissions", (self.out / "report.html").read_text())

    def test_usage(self) -> None:
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors):
            self.assertEqual(reports.main([str(self.out / "nowhere")]), 2)
        self.assertIn("usage", errors.getvalue())


def from_junit_good(out: Path) -> dict:
    """Those suites of junit.xml that belong to readable records."""
    root = ET.fromstring((out / "junit.xml").read_text())
    for suite in list(root):
        if suite.find("testcase").get("name") == "grade.json":
            root.remove(suite)
    return from_junit(ET.tostring(root, encoding="unicode"))


if __name__ == "__main__":
    unittest.main()
