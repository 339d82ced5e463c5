"""What persons decide and what a class's rules say: that it counts, everywhere the same, survives regrading, and is refused if it cannot be meant."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from unittest import mock

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import decide  # noqa: E402
import decided  # noqa: E402
import decisions  # noqa: E402
import policy  # noqa: E402
import reports  # noqa: E402
import sample_records as sample  # noqa: E402
import store  # noqa: E402
import test_reports as formats  # noqa: E402

LAB1, LAB2 = "lab01_naive", "lab02_smem"


def waiting(points: float, out_of: float, id: str = "correctness/a") -> dict:
    return {**sample.item(id, "needs a person", 0, out_of), "waits": points, "reason": f"{points:.2f} of {out_of:.2f} points wait for a person: an odd thing"}


class Decided(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = Path(folder.name)
        self.record("ann", "Ann Lee", [waiting(60, 60), sample.item("b", "pass", 30, 30), sample.item("speed/x", "not run", 0, 10)])
        self.record("bob", "Bob", [sample.item("a", "fail", 20, 60), sample.item("b", "pass", 30, 30)])

    def record(self, id: str, name: str, items: list[dict], file: str = "f1f1", people: list | None = None, **of_lab: str) -> None:
        verdict = "needs a person" if any(item["verdict"] == "needs a person" for item in items) else "fail"
        labs = [{**sample.lab(LAB1, [sample.item("a", "pass", 80, 80)], "pass"), "file": "a1", **of_lab},
                {**sample.lab(LAB2, items, verdict), "file": file, **of_lab}]
        value = {**sample.record(id, name, labs, verdict), "people": people or []}
        folder = self.out / "students" / id
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "grade.json").write_text(json.dumps(value))

    def decide(self, *arguments: str, status: int = 0) -> str:
        said = io.StringIO()
        with mock.patch.object(sys, "argv", ["decide.py", "--out", str(self.out), *arguments]), contextlib.redirect_stdout(said), \
                contextlib.redirect_stderr(said):
            self.assertEqual(decide.main(), status, said.getvalue())
        return said.getvalue()

    def toml(self, text: str, name: str = "decisions.toml") -> None:
        (self.out / name).write_text(text)

    def points(self, id: str = "ann") -> tuple:
        """(verdict, points, {lab: points}) as all reports have it."""
        group = reports.write_class(self.out)
        student = next(student for student in group.students if student.id == id)
        wanted = (student.verdict, student.points, student.out_of, {lab.lab: (lab.verdict, lab.points, lab.out_of) for lab in student.labs})
        folder = self.out / "students" / id
        self.assertEqual(formats.from_feedback((folder / "feedback.md").read_text())[:4], wanted)
        self.assertEqual(formats.from_gradescope((folder / "results.json").read_text())[:4], wanted)
        self.assertEqual(formats.from_gradebook((self.out / "gradebook.csv").read_bytes().decode())[id], wanted)
        self.assertEqual(formats.from_workbook((self.out / "gradebook.xlsx").read_bytes())[id], wanted)
        self.assertEqual(formats.from_html((self.out / "report.html").read_text())[id], wanted)
        self.assertEqual(formats.from_junit((self.out / "junit.xml").read_text())[id], wanted)
        return student.verdict, student.points, {lab.lab: lab.points for lab in student.labs}

    def problem(self, id: str = "ann") -> str:
        return next(student for student in decided.read_class(self.out).students if student.id == id).problem


class ByAPerson(Decided):
    def test_release(self):
        self.assertEqual(self.points(), ("needs a person", 110, {LAB1: 80, LAB2: 30}))
        self.assertIn("60 points wait", (self.out / "report.html").read_text())
        said = self.decide("--student", "ann", "--lab", "lab02", "--release", "--comment", "only a hint", "--by", "Eve")
        self.assertIn("Ann Lee: pass, 110 points before, 170 of 170 now", said)
        self.assertEqual(self.points(), ("pass", 170, {LAB1: 80, LAB2: 90}))
        for name in ("feedback.md", "results.json"):
            self.assertRegex((self.out / "students/ann" / name).read_text(), r"released by Eve on \d{4}-\d\d-\d\d: only a hint")

    def test_release_gives_what_was_earned_and_no_more(self):
        self.record("ann", "Ann Lee", [waiting(25, 60), sample.item("b", "pass", 30, 30)])
        self.decide("--student", "Ann Lee", "--lab", "2", "--release")
        self.assertEqual(self.points(), ("fail", 135, {LAB1: 80, LAB2: 55}))

    def test_deny(self):
        self.decide("--student", "ann", "--lab", "lab02", "--deny", "--comment", "computed on the host")
        self.assertEqual(self.points(), ("fail", 110, {LAB1: 80, LAB2: 30}))
        self.assertIn("not given, by", (self.out / "students/ann/feedback.md").read_text())
        self.decide("--student", "ann", "--lab", "lab02", "--release")  # on second thoughts
        self.assertEqual(self.points()[1], 170)

    def test_one_item(self):
        self.record("ann", "Ann Lee", [waiting(40, 40, "x"), {**waiting(50, 50, "y"), "name": "the other"}])
        self.decide("--student", "ann", "--lab", "lab02", "--item", "the other", "--release")
        self.assertEqual(self.points(), ("needs a person", 130, {LAB1: 80, LAB2: 50}))
        self.assertIn("there is no item 'z'", self.decide("--student", "ann", "--lab", "lab02", "--item", "z", "--release", status=2))

    def test_points_bonus_and_comment(self):
        self.decide("--student", "ann", "--lab", LAB2, "--points", "42,5")
        self.assertEqual(self.points(), ("fail", 122.5, {LAB1: 80, LAB2: 42.5}))
        self.decide("--student", "ann", "--lab", LAB2, "--bonus", "3")
        self.decide("--student", "ann", "--bonus", "5", "--comment", "for the talk")
        self.decide("--student", "bob", "--bonus", "-2")
        self.decide("--student", "bob", "--comment", "see me\nplease")
        self.assertEqual(self.points(), ("fail", 130.5, {LAB1: 80, LAB2: 45.5}))
        self.assertEqual(self.points("bob"), ("fail", 128, {LAB1: 80, LAB2: 50}))
        self.assertIn("for the talk", (self.out / "students/ann/results.json").read_text())
        self.assertIn("- please", (self.out / "students/bob/feedback.md").read_text())
        self.decide("--student", "ann", "--lab", LAB2, "--points", "0")
        self.decide("--student", "ann", "--bonus", "-500")
        self.assertEqual(self.points()[1], 0, "below 0")

    def test_undo(self):
        self.decide("--student", "ann", "--lab", LAB2, "--points", "42")
        self.decide("--student", "ann", "--bonus", "5")
        self.decide("--student", "ann", "--lab", LAB2, "--undo")
        self.assertEqual(self.points(), ("needs a person", 115, {LAB1: 80, LAB2: 30}))
        self.decide("--student", "ann", "--undo")
        self.assertEqual(self.points()[1], 110)
        self.assertEqual((self.out / "decisions.toml").read_text().count("[[decision]]"), 4)

    def test_it_survives_regrading_and_holds_for_one_file(self):
        self.decide("--student", "ann", "--lab", LAB2, "--release")
        self.record("ann", "Ann Lee", [waiting(50, 60), sample.item("b", "fail", 10, 30)])  # the course has changed
        self.assertEqual(self.points(), ("fail", 140, {LAB1: 80, LAB2: 60}))
        self.record("ann", "Ann Lee", [waiting(60, 60), sample.item("b", "pass", 30, 30)], file="other")
        self.assertEqual(self.points(), ("needs a person", 110, {LAB1: 80, LAB2: 30}))
        self.assertIn("decided was about another file; look again", self.problem())
        self.assertIn("look again", (self.out / "report.html").read_text())
        self.decide("--student", "ann", "--lab", LAB2, "--deny")
        self.assertEqual(self.points()[0], "fail")

    def test_somebody_who_handed_in_nothing(self):
        value = sample.record("cy", "Cy", [sample.lab(lab, [sample.item("a", "fail", 0, 90)], "fail") for lab in (LAB1, LAB2)], "needs a person")
        sample.write(self.out, {**value, "problem": "the archive cannot be read"})
        self.assertEqual(self.points("cy")[0], "needs a person")
        self.decide("--student", "cy", "--deny", "--comment", "never answered")
        self.assertEqual(self.points("cy")[0], "fail")
        self.decide("--student", "cy", "--undo")
        self.assertEqual(self.points("cy")[0], "needs a person")
        self.assertRegex(self.decide(), r"STUDENT=cy DENY=1")
        self.decide("--student", "cy", "--lab", "lab02", "--points", "50")
        self.assertEqual(self.points("cy")[:2], ("fail", 50))

    def test_what_was_decided_about_nothing_does_not_hold_for_what_comes_later(self):
        """No points for a broken archive; then another broken one comes, and then a right file that is odd."""
        value = sample.record("cy", "Cy", [sample.lab(lab, [sample.item("a", "fail", 0, 90)], "fail") for lab in (LAB1, LAB2)], "needs a person")
        for decision in (("--deny",), ("--lab", "lab02", "--points", "0")):
            self.toml("")
            sample.write(self.out, {**value, "problem": "the archive cannot be read"})
            self.decide("--student", "cy", *decision)
            self.assertEqual(self.points("cy")[0], "fail", decision)
            sample.write(self.out, {**value, "problem": "is it softmax_smem (1).cu?"})
            self.assertEqual(self.points("cy")[0], "needs a person", decision)
            self.record("cy", "Cy", [waiting(60, 60), sample.item("b", "pass", 30, 30)])
            self.assertEqual(self.points("cy"), ("needs a person", 110, {LAB1: 80, LAB2: 30}), decision)

    def test_all_that_waits_is_decided_file_by_file(self):
        """Two labs wait: the decision is about both files, and about no later one."""
        items = [waiting(60, 60), sample.item("b", "pass", 30, 30)]
        labs = [{**sample.lab(lab, items, "needs a person"), "file": f"f{lab}"} for lab in (LAB1, LAB2)]
        sample.write(self.out, sample.record("cy", "Cy", labs, "needs a person"))
        self.decide("--student", "cy", "--deny")
        self.decide("--student", "cy", "--release")  # what was denied waits no more, but can still be given
        self.assertEqual(self.points("cy"), ("pass", 180, {LAB1: 90, LAB2: 90}))
        sample.write(self.out, sample.record("cy", "Cy", [labs[0], {**labs[1], "file": "another"}], "needs a person"))
        self.assertEqual(self.points("cy"), ("needs a person", 120, {LAB1: 90, LAB2: 30}))

    def test_late_days_that_cost_nothing_are_said(self):
        self.assertIn("late days cost nothing", self.decide("--student", "bob", "--lab", "lab02", "--late-days", "2"))
        self.toml("[late]\nper_day = 10\n", "policy.toml")
        self.assertNotIn("cost nothing", self.decide("--student", "bob", "--lab", "lab02", "--late-days", "1"))

    def test_what_waits_is_listed_with_the_command(self):
        said = self.decide()
        self.assertIn("Ann Lee, lab02_smem: 60 points wait", said)
        self.assertRegex(said, r"make decide OUT=\S+ STUDENT=ann LAB=lab02_smem RELEASE=1")
        self.decide("--student", "ann", "--release")
        self.assertEqual(self.decide(), "nothing waits for a person\n")

    def test_a_second_rung_by_its_number(self):
        labs = [sample.lab(lab, [waiting(60, 60)], "needs a person") for lab in ("lab06_limit", "lab06b_topk")]
        (self.out / "students/eve").mkdir()
        (self.out / "students/eve/grade.json").write_text(json.dumps({**sample.record("eve", "Eve", [{**lab, "file": "f"} for lab in labs], "needs a person"),
                                                                      "people": []}))
        for number in "6b", "06b", "lab06b":
            self.decide("--student", "eve", "--lab", number, "--release")
            student = next(student for student in decided.read_class(self.out).students if student.id == "eve")
            self.assertEqual([lab.points for lab in student.labs], [0, 60])
            self.decide("--student", "eve", "--lab", number, "--undo")

    def test_what_cannot_be_meant_is_refused_and_nothing_is_written(self):
        self.record("dan", "Bob", [sample.item("a", "pass", 90, 90)])
        for words, arguments in (("there is no student 'an'; near names: ", ("--student", "an", "--release")),
                                 ("2 students are called 'Bob'; use the id: bob, dan", ("--student", "Bob", "--bonus", "1")),
                                 ("there is no lab 'lab09'", ("--student", "ann", "--lab", "lab09", "--release")),
                                 ("POINTS=many: it can be a number, for example 8.5", ("--student", "ann", "--lab", "lab02", "--points", "many")),
                                 ("LATE_DAYS=1.5: it can be a whole number, for example 2", ("--student", "ann", "--lab", "lab02", "--late-days", "1.5")),
                                 ("from 0 to", ("--student", "ann", "--lab", "lab02", "--points=-5")),
                                 ("points are those of a lab", ("--student", "bob", "--points", "5")),
                                 ("exclude each other", ("--student", "ann", "--release", "--deny")),
                                 ("it decides nothing", ("--student", "ann")),
                                 ("lab02_smem has 100 points; what is given beyond them is a BONUS", ("--student", "ann", "--lab", "lab02", "--points", "850")),
                                 ("nothing of Bob, lab01_naive, waits", ("--student", "bob", "--lab", "lab01", "--release")),
                                 ("nothing of Bob waits", ("--student", "bob", "--deny")),
                                 ("STUDENT=id is missing", ("--release",))):
            self.assertIn(words, self.decide(*arguments, status=2))
        self.assertFalse((self.out / "decisions.toml").exists())

    def test_a_file_with_a_mistake_is_named_and_not_added_to(self):
        for text, words in (("[[decision]\n", "is not TOML"), ("[decision]\nstudent='ann'\n", r"two pairs of brackets"), ("x = 1\n", "there is no 'x'"),
                            ("[[decision]]\nstudent = 'ann'\nrelaese = true\n", r"decision 1 \(ann\): there is no 'relaese'; a decision has: student"),
                            ("[[decision]]\nstudent = 'ann'\nrelease = 'yes'\n", "release is true"),
                            ("[[decision]]\nstudent = 'ann'\nbonus = nan\n", "bonus = nan is not a number"),
                            ("[[decision]]\nrelease = true\n", "it names no student")):
            self.toml(text)
            with self.assertRaisesRegex(decisions.DecisionError, words):
                reports.write_class(self.out)
            self.assertRegex(self.decide("--student", "ann", "--release", status=2), words)
            with self.assertRaises(decisions.DecisionError):
                decisions.add(self.out, decisions.Decision("ann", comment="x"))
            self.assertEqual((self.out / "decisions.toml").read_text(), text)

    def test_by_hand(self):
        self.toml("# mine\n[[decision]]\nstudent = \"Ann Lee\" # her\nlab = \"lab02\"\nrelease = true\non = 2026-07-05\nby = \"Z\"\n"
                  "[[decision]]\nstudent = \"nobody\"\nbonus = 1\n[[decision]]\nstudent = \"bob\"\nlab = \"lab07\"\ndeny = true\n")
        self.assertEqual(self.points()[1], 170)
        page = (self.out / "report.html").read_text()
        self.assertIn("there is no student &#x27;nobody&#x27;", page)
        self.assertIn("there is no lab &#x27;lab07&#x27;", page)
        self.decide("--student", "bob", "--bonus", "1")
        self.assertTrue((self.out / "decisions.toml").read_text().startswith("# mine\n"))
        self.assertIn("released by Z on 2026-07-05", (self.out / "students/ann/feedback.md").read_text())

    def test_strange_texts_come_back_as_they_were(self):
        text = "quote \" backslash \\ tab\tbell\x07 del\x7f \u202e ''' \U0001f600 = [[decision]]"
        self.decide("--student", "ann", "--comment", text, "--by", "=1+1")
        [decision] = decisions.load(self.out)
        self.assertEqual(decision.comment, "quote \" backslash \\ tab\tbell\\x07 del\\x7f \\u202e ''' \U0001f600 = [[decision]]")
        self.points()

    def test_two_at_once_are_both_there(self):
        with ThreadPoolExecutor(12) as pool:
            list(pool.map(lambda i: decisions.add(self.out, decisions.Decision("ann", comment=f"c{i}")), range(12)))
        self.assertEqual({decision.comment for decision in decisions.load(self.out)}, {f"c{i}" for i in range(12)})
        self.assertEqual([path.name for path in self.out.iterdir() if path.name.startswith(".")], [])


class Rules(Decided):
    def late(self, text: str = "", **stamps: str) -> None:
        self.toml("[late]\nper_day = 10\n" + text + "\n[deadlines]\nlab01 = 2026-10-01T12:00:00Z\nlab02 = 2026-10-08T12:00:00Z\n", "policy.toml")
        if stamps:
            self.record("bob", "Bob", [sample.item("a", "fail", 20, 60), sample.item("b", "pass", 30, 30)], **stamps)

    def test_days_from_the_platforms_times(self):
        self.late(handed_in="2026-10-03T12:00:01Z")  # two days and a second after the first deadline, before the second
        self.assertEqual(self.points("bob"), ("fail", 106, {LAB1: 56, LAB2: 50}))
        text = (self.out / "students/bob/feedback.md").read_text()
        self.assertIn("- -24 points: 3 days late: 10 % of 80 points for each of 3", text)
        self.assertIn("-24 points: 3 days late", (self.out / "students/bob/results.json").read_text())
        self.late("grace_minutes = 1", handed_in="2026-10-03T12:00:01Z")
        self.assertEqual(self.points("bob")[2][LAB1], 64)
        self.late("of = 'maximum'", handed_in="2026-10-09T12:00:00Z")
        self.assertEqual(self.points("bob")[2], {LAB1: 16, LAB2: 41})
        self.late("most_days = 7", handed_in="2026-10-09T12:00:00Z")
        self.assertEqual(self.points("bob")[2], {LAB1: 0, LAB2: 45})

    def test_free_days_go_in_the_order_of_the_deadlines(self):
        self.late("free_days = 9", handed_in="2026-10-09T12:00:00Z")  # 8 days and 1
        self.assertEqual(self.points("bob")[2], {LAB1: 80, LAB2: 50})
        self.late("free_days = 7", handed_in="2026-10-09T12:00:00Z")
        self.assertEqual(self.points("bob")[2], {LAB1: 72, LAB2: 45})
        self.assertIn("8 days late, 7 of them free", (self.out / "students/bob/feedback.md").read_text())

    def test_the_files_own_times_only_if_they_are_believed(self):
        self.late(file_time="2026-10-03T12:00:00Z")
        self.assertEqual(self.points("bob")[1], 130)
        self.late("file_times = true", file_time="2026-10-03T12:00:00Z")
        self.assertEqual(self.points("bob")[2][LAB1], 64)

    def test_a_table_and_a_person_say_otherwise(self):
        self.late(handed_in="2026-10-03T12:00:00Z")
        self.toml("student,lab,handed_in\nbob,lab01,2026-10-02 11:00:00 +0000\nBob,,2030-01-01 00:00\nnobody,,2026-01-01\n", "handed_in.csv")
        self.assertEqual(self.points("bob")[2][LAB1], 72)
        self.assertIn("handed_in.csv: there is no student &#x27;nobody&#x27;", (self.out / "report.html").read_text())
        self.decide("--student", "bob", "--lab", "lab01", "--late-days", "0")
        self.assertEqual(self.points("bob")[2][LAB1], 80)
        self.decide("--student", "bob", "--lab", "lab01", "--late-days", "4")
        self.assertEqual(self.points("bob")[2][LAB1], 48)
        self.decide("--student", "bob", "--lab", "lab01", "--points", "77")
        self.assertEqual(self.points("bob")[2][LAB1], 77, "what a person has set is final")

    def test_times_as_people_write_them(self):
        for text in ("2026-01-15 10:20", "2026-01-15T10:20:00", "2026-01-15 10:20:00", "Thursday, 15 January 2026, 10:20 AM", "15/01/2026 10:20"):
            self.assertEqual(policy.parse_time(text), datetime(2026, 1, 15, 10, 20).astimezone(), text)
        self.assertEqual(policy.parse_time("2026-01-15 10:20:00 UTC"), policy.parse_time("2026-01-15T10:20:00Z"))
        self.assertIsNone(policy.parse_time("yesterday"))
        self.late()
        self.toml("student;handed_in\nbob;yesterday\n", "handed_in.csv")
        with self.assertRaisesRegex(policy.PolicyError, "line 2: 'yesterday' is no time"):
            reports.write_class(self.out)

    def test_bonus_labs_and_per_cent(self):
        self.toml("[bonus]\nlabs = ['lab01']\n", "policy.toml")
        group = reports.write_class(self.out)
        bob = next(student for student in group.students if student.id == "bob")
        self.assertEqual((bob.points, bob.out_of, bob.percent), (130, 90, 144.44))
        rows = {row["id"]: row for row in csv.DictReader(io.StringIO((self.out / "gradebook.csv").read_bytes().decode("utf-8-sig")))}
        self.assertEqual(rows["bob"]["percent"], "144.44")

    def test_a_curve(self):
        self.toml("[curve]\npoints = [[0, 10], [50, 60], [100, 100]]\n", "policy.toml")
        curve = policy.load(self.out).curved
        self.assertEqual([curve(x) for x in (0, 25, 50, 75, 100, 144)], [10, 35, 60, 80, 100, 100])
        group = reports.write_class(self.out)
        self.assertEqual([(s.percent, s.final) for s in group.students if s.id == "bob"], [(76.47, 81.18)])
        self.assertIn("76.47 %, 81.18 % after the curve", (self.out / "students/bob/feedback.md").read_text())
        self.assertIn("\"81.18\"", (self.out / "gradebook.csv").read_text())
        self.assertIn("\"81.18\"", (self.out / "import/grades.csv").read_text())

    def test_mistakes_are_named(self):
        for text, words in (("[late]\nper_days = 1\n", "does not know 'per_days'; it has: per_day"), ("[late]\nper_day = 200\n", "from 0 to 100"),
                            ("[lat]\n", r"there is no table \[lat\]"), ("[deadlines]\nlab01 = 'soon'\n", "is no time"), ("[late]\nof = 'x'\n", "neither"),
                            ("[curve]\npoints = [[0, 0], [0, 5]]\n", "further right"), ("[curve]\npoints = [[0, 9], [5, 5]]\n", "not lower"),
                            ("[curve]\npoints = 3\n", "pairs"), ("[late\n", "is not TOML"), ("[late]\nfree_days = 1.5\n", "whole number")):
            self.toml(text, "policy.toml")
            with self.assertRaisesRegex(policy.PolicyError, words):
                policy.load(self.out)

    def test_the_example_is_right_with_and_without_its_marks(self):
        self.toml(policy.EXAMPLE, "policy.toml")
        self.assertEqual(policy.load(self.out), policy.Policy())
        self.toml(re.sub(r"(?m)^# (?=\[|\w+ = )", "", policy.EXAMPLE), "policy.toml")
        loaded = policy.load(self.out)
        self.assertEqual((loaded.per_day, loaded.free_days, loaded.bonus_labs, len(loaded.deadlines), len(loaded.curve)), (10, 3, ("lab07",), 2, 3))
        self.assertEqual(loaded.deadline("lab02_smem").strftime("%H:%M:%S"), "23:59:59")


class Imports(Decided):
    def setUp(self):
        super().setUp()
        self.record("jane", "Jane Doe", [sample.item("a", "pass", 90, 90)], people=[{"name": "Jane Doe", "number": "00123", "email": "jane@x.edu"}])
        value = json.loads((self.out / "students/jane/grade.json").read_text())
        for id, system, people in (("mo", "Moodle", [{"name": "Mo Ode", "number": "1234"}]), ("ca_7", "Canvas", [{"name": "ca_7", "number": "7"}]),
                                   ("team", "Gradescope", [{"name": "P One", "number": "1e5", "email": "p@x"}, {"name": "=P Two", "number": "2024-01"}])):
            sample.write(self.out, {**value, "id": id, "student": id, "system": system, "people": people})
        reports.write_class(self.out)

    def rows(self, name: str) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO((self.out / "import" / name).read_text(), newline="")))

    def test_columns(self):
        self.assertEqual(self.rows("moodle.csv"), [{"Identifier": "Participant 1234", "Full name": "Mo Ode", "Grade": "100", "Maximum Grade": "100",
                                                    "Last modified (grade)": "", "Feedback comments": ""}])
        canvas = (self.out / "import/canvas.csv").read_text().splitlines()
        self.assertEqual(canvas[0], '"Student","ID","SIS User ID","SIS Login ID","Section","lab01_naive","lab02_smem"')
        self.assertEqual(canvas[1], '"    Points Possible","","","","","80","90"')
        self.assertIn('"ca_7","7","","","","80","90"', canvas)
        scope = {row["Name"]: row for row in self.rows("gradescope.csv")}
        self.assertEqual((scope["P One"]["SID"], scope["P One"]["Email"], scope["P One"]["Total Score"], scope["P One"]["Max Points"]), ("1e5", "p@x", "170", "170"))
        self.assertEqual(scope["'=P Two"]["SID"], "2024-01")
        plain = {row["number"]: row for row in self.rows("grades.csv")}
        self.assertEqual((plain["00123"]["percent"], plain["00123"]["email"]), ("100", "jane@x.edu"))

    def test_ids_stay_text_for_spreadsheets(self):
        rows = {row["id"]: row for row in csv.DictReader(io.StringIO((self.out / "gradebook.csv").read_bytes().decode("utf-8-sig")))}
        self.assertEqual((rows["jane"]["number"], rows["team"]["number"]), ("'00123", "'1e5, 2024-01"))

    def fill(self, text: str, *arguments: str, status: int = 0) -> tuple[str, list[list[str]]]:
        path = self.out / "exported.csv"
        path.write_text(text)
        said = self.decide("--fill", str(path), *arguments, status=status)
        filled = self.out / "import/exported.csv"
        return said, list(csv.reader(io.StringIO(filled.read_text()))) if filled.exists() else []

    def test_a_platforms_own_file_is_filled(self):
        said, rows = self.fill("\ufeffIdentifier,\"Full name\",\"Email address\",Status,Grade,\"Maximum Grade\",\"Last modified (grade)\"\n"
                               "\"Participant 1234\",\"Somebody Else\",mo@x,Submitted,,20.00,-\nParticipant 99,Bob,,No submission,,20.00,-\n"
                               "Participant 98,Never Came,,,,20.00,-\nParticipant 97,jane,JANE@x.edu,,3,20.00,-\n")
        self.assertEqual([row[4] for row in rows], ["Grade", "20", "15.29", "", "20"])
        self.assertIn("1 rows have nobody of the class and stay as they are: Never Came", said)
        self.assertIn("3 of the class are not in it: Ann Lee, ca_7, team", said)

    def test_a_name_that_two_have_fills_nothing(self):
        self.record("jane2", "Jane Doe", [sample.item("a", "fail", 1, 90)], people=[{"name": "Jane Doe", "number": "9"}])
        _, rows = self.fill("Name,SID,Grade\nJane Doe,,\nJane Doe,9,\n")
        self.assertEqual([row[2] for row in rows[1:]], ["", "47.65"])

    def test_a_number_that_a_spreadsheet_has_shortened_is_named_and_not_filled(self):
        said, rows = self.fill("SID,Section,Grade\n123,A,\n00123,B,\n124,C,\n")
        self.assertEqual([row[2] for row in rows[1:]], ["", "100", ""])
        self.assertIn("2 rows have nobody of the class and stay as they are: 123 (or is it 00123, saved by a spreadsheet?", said)
        self.assertTrue(said.split("downloaded)")[1].startswith(", 124\n"), said)

    def test_canvas_own_file_is_filled_in_one_column(self):
        text = ("Student,ID,SIS User ID,SIS Login ID,Section,Lab 1 (10),Lab 2 (11)\n    Points Possible,,,,,5.00,50.00\n"
                "\"Seven, Ca\",7,s7,ca7,A,1,\n\"Doe, Jane\",55,00123,,A,,\n")
        said, rows = self.fill(text, "--column", "Lab 2", "--lab", "lab02")
        self.assertEqual(rows[2:], [["Seven, Ca", "7", "s7", "ca7", "A", "1", "50"], ["Doe, Jane", "55", "00123", "", "A", "", "50"]])
        self.assertIn("no column is called 'Lab 3'", self.fill(text, "--column", "Lab 3", status=2)[0])
        self.assertIn("which column takes the grade", self.fill(text, status=2)[0])
        self.assertIn("it is no table", self.fill("x\n", status=2)[0])


if __name__ == "__main__":
    unittest.main()
