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
import zipfile
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


# ---- Each format, read back: {id: (verdict, points, out_of, {lab: the same}, {(lab, verdict): (points, out_of) of its items})} ----

def from_records(values: list[dict]) -> dict:
    # What is asked of every format, straight from the JSON.
    def of(value: dict) -> tuple:
        return (value["verdict"], value["points"], value["out_of"])

    def sums(value: dict) -> dict:
        found: dict = {}
        for lab in value["labs"]:
            for item in lab["items"]:
                points, out_of = found.get((lab["lab"], item["verdict"]), (0, 0))
                found[lab["lab"], item["verdict"]] = (round(points + item["points"], 2), round(out_of + item["out_of"], 2))
        return found

    return {v["id"]: (*of(v), {lab["lab"]: of(lab) for lab in v["labs"]}, sums(v)) for v in values}


def added(found: dict, key: tuple, points: float, out_of: float) -> None:
    before = found.get(key, (0, 0))
    found[key] = (round(before[0] + points, 2), round(before[1] + out_of, 2))


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
        elif entry := re.match(rf"- \*\*({VERDICT})\*\*, (\S+) of (\S+): ", line):
            added(items, (name, entry[1]), float(entry[2]), float(entry[3]))
    assert rows == labs, (rows, labs)
    return whole[1], float(whole[2]), float(whole[3]), labs, items


def from_gradescope(text: str) -> tuple:
    value = json.loads(text)
    extra = value["extra_data"]
    assert value["test_output_format"] == value["test_name_format"] == "text" and value["visibility"] == "visible"
    items: dict = {}
    for test in value["tests"]:
        if test["extra_data"].get("decided"):  # information
            assert not {"score", "max_score", "status"} & set(test), test
            continue
        key, verdict = (test["extra_data"]["lab"], test["extra_data"]["verdict"]), test["extra_data"]["verdict"]
        if verdict == "not run":
            assert not {"score", "max_score", "status"} & set(test), test
            added(items, key, 0, float(re.search(r"Not run here: (\S+) points", test["output"])[1]))
        else:
            assert test["status"] == ("passed" if verdict == "pass" else "failed"), test
            added(items, key, test["score"], test["max_score"])
    labs = {lab["lab"]: (lab["verdict"], lab["points"], lab["out_of"]) for lab in extra["labs"]}
    return extra["verdict"], value["score"], extra["out_of"], labs, items


def from_gradebook(text: str) -> dict:
    group = {}
    for row in csv.DictReader(io.StringIO(text.lstrip("\ufeff"), newline="")):
        labs = {head.split()[0] for head in row if head.startswith("lab")}
        group[row["id"]] = (row["verdict"], float(row["points"]), float(row["out_of"]),
                            {lab: (row[f"{lab} verdict"], float(row[f"{lab} points"]), float(row[f"{lab} out_of"])) for lab in labs})
    return group


def from_workbook(data: bytes) -> dict:
    """The same of the cells of gradebook.xlsx; numbers must be numbers, and texts texts."""
    space = {"m": "http://schemas.openxmlformats.org/spreadsheetml/2006/main"}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        sheet = ET.fromstring(archive.read("xl/worksheets/sheet1.xml"))
    rows = []
    for row in sheet.findall(".//m:row", space):
        cells = {}
        for cell in row.findall("m:c", space):
            text = cell.find("m:is/m:t", space)
            assert (text is not None) == (cell.get("t") == "inlineStr")
            cells[re.match("[A-Z]+", cell.get("r"))[0]] = text.text if text is not None else float(cell.find("m:v", space).text)
        rows.append(cells)
    head = rows[0]
    group = {}
    for cells in rows[1:]:
        row = {name: cells.get(place) for place, name in head.items()}
        labs = {name.split()[0] for name in row if name.startswith("lab")}
        group[row["id"]] = (row["verdict"], row["points"], row["out_of"],
                            {lab: (row[f"{lab} verdict"], row[f"{lab} points"], row[f"{lab} out_of"]) for lab in labs})
    return group


def from_junit(text: str) -> dict:
    group = {}
    verdicts = {"failure": "fail", "skipped": "not run", "error": "needs a person"}
    for suite in ET.fromstring(text):
        values = {p.get("name"): p.get("value") for p in suite.find("properties")}
        labs = {}
        for case in suite.findall("testcase"):
            ends = [verdicts[child.tag] for child in case if child.tag in verdicts]
            mine = {p.get("name"): p.get("value") for p in case.find("properties")}
            labs[case.get("name")] = ((ends or ["pass"])[0], float(mine["points"]), float(mine["out_of"]))
        for tag, verdict in verdicts.items():
            count = {"failure": "failures", "error": "errors"}.get(tag, tag)
            assert int(suite.get(count)) == sum(lab[0] == verdict for lab in labs.values())
        group[values["id"]] = (values["verdict"], float(values["points"]), float(values["out_of"]), labs)
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
        self.assertEqual(reports.write_class(self.out).ungraded, [])
        for id, of in wanted.items():
            folder = self.out / "students" / id
            self.assertEqual(from_feedback((folder / "feedback.md").read_text()), of, id)
            self.assertEqual(from_gradescope((folder / "results.json").read_text()), of, id)
        without_items = {id: of[:4] for id, of in wanted.items()}
        self.assertEqual(from_gradebook((self.out / "gradebook.csv").read_bytes().decode()), without_items)
        self.assertEqual(from_workbook((self.out / "gradebook.xlsx").read_bytes()), without_items)
        self.assertEqual(from_html((self.out / "report.html").read_text()), without_items)
        self.assertEqual(from_junit((self.out / "junit.xml").read_text()), without_items)

    def test_every_item_is_named(self) -> None:
        items = [sample.item(f"correctness/{i}", verdict, 0, 1, f"word{i}x") for i, verdict in enumerate(["fail", "fail", "needs a person", "not run", "pass"])]
        items += [{**sample.item("a", "fail", 0, 1), "name": f"tree f32: {name}", "reason": "one reason"} for name in ("first", "second")]
        items = [{**item, "id": f"i{i}"} for i, item in enumerate(items)]
        sample.write(self.out, sample.record("ada", "Ada", [sample.lab("lab02_smem", items, "fail")]))
        reports.write_class(self.out)
        for name in ("feedback.md", "results.json"):
            text = (self.out / "students/ada" / name).read_text()
            for i in range(5):
                self.assertIn(f"name word{i}x", text, name)
            for i in range(2):
                self.assertIn(f"reason word{i}x", text, name)
            self.assertEqual(text.count("one reason"), 1, name)
            self.assertIn("tree f32: first, second", text, name)

    def test_long_details_are_cut(self) -> None:
        items = [{**sample.item(f"i{i}", "fail", 0, 1), "reason": f"cause {'abc'[i]}", "details": "d" * 9000} for i in range(3)]
        sample.write(self.out, sample.record("ada", "Ada", [sample.lab("lab02_smem", items, "fail")]))
        reports.write_class(self.out)
        for name in ("feedback.md", "results.json"):
            text = (self.out / "students/ada" / name).read_text()
            self.assertEqual(text.count("more characters)"), 2, name)
            self.assertLess(len(text), 2500, name)

    def test_a_class_of_a_thousand_stays_small(self) -> None:
        """The sizes of before: 304 KB of reports per student and 71 KB of JUnit, of records in which much fails with long texts."""
        labs = []
        for number in range(7):
            items = [{**sample.item(f"correctness/v{i // 12} f32/{i}", "fail", 0, 1.5), "name": f"variant{i // 12} f32: rows of group {i % 12}",
                      "reason": f"{i % 9} of 11 cases wrong, first normal-7x{i}: far off (logic?)", "details": "\n".join(
                          f"normal-{line}x{i}\n  {line} of 231 elements are wrong; the first is row {line}, column {i}" for line in range(12))} for i in range(36)]
            labs.append(sample.lab(f"lab0{number + 1}_x", items, "fail"))
        sample.write(self.out, sample.record("ada", "Ada", labs))
        reports.write_class(self.out)
        sizes = {name: (self.out / name).stat().st_size / 1000 for name in ("students/ada/feedback.md", "students/ada/results.json", "junit.xml")}
        self.assertLess(sizes["students/ada/feedback.md"] + sizes["students/ada/results.json"], 30.4, sizes)
        self.assertLess(sizes["junit.xml"], 7.1, sizes)

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
                        if path.is_file() and path.name != "grade.json" and path.suffix != ".xlsx"}
        with zipfile.ZipFile(self.out / "gradebook.xlsx") as archive:
            self.written |= {self.out / name: archive.read(name).decode() for name in archive.namelist()}

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
                self.assertRegex(attributes["href"], r"^(#all|students/s\d{3}/feedback\.md|similar/index\.html)$")
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
                         str(2 + sum(i[0] == "needs a person" for of in from_junit_good(self.out).values() for i in of[3].values())))
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
