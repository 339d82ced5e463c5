"""A class and its OUT folder, with a judge that is made up: what is graded again, what stays, what is refused, and that no grade is lost."""

from __future__ import annotations

import contextlib
import csv
import hashlib
import io
import json
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import check  # noqa: E402
import classrun  # noqa: E402
import ingest  # noqa: E402
import judge  # noqa: E402
import lock  # noqa: E402
import sample_records as sample  # noqa: E402
import sandbox  # noqa: E402
import store  # noqa: E402

LABS = judge.labs_of(HERE.parents[1])
WAIT = 300.0  # seconds for what takes none; so long only if it never comes
LIMITS = {"files": 100, "source_kib": 16, "archive_mib": 1}


class MadeUpJudge:
    """A file's points are the number in it. `course` changes what a grade depends on."""

    def __init__(self, only: str = "", course: str = "1", first=lambda name: None, fails: str = ""):
        """first: called with a student's name before the grade is made."""
        self.labs = {lab: kernel for lab, kernel in LABS.items() if only in lab}
        self.jobs, self.limits, self.course, self.warnings, self.version, self.fails = 2, LIMITS, HERE.parents[1], [], course, fails
        self.graded: list[tuple[str, str]] = []
        self.first = first
        self.box = sandbox.Sandbox("none")

    def prepare(self, *_) -> None:
        pass

    def close(self) -> None:
        pass

    def key(self, lab: str, taken: ingest.Taken) -> str:
        return hashlib.sha256(f"{self.version} {lab} {taken.source!r}".encode()).hexdigest()

    def grade(self, submission: ingest.Submission, only: list[str]) -> dict:
        self.first(submission.name)
        if submission.name == self.fails:
            raise ValueError("the judge broke")
        labs = []
        for lab in only:
            taken = submission.labs[lab]
            points = float(re.search(rb"\d+", taken.source or b"0")[0])
            entry = sample.lab(lab, [sample.item("correctness/a", "pass" if points == 100 else "fail", points, 100.0)], "pass" if points == 100 else "fail")
            labs.append({**entry, "key": self.key(lab, taken), "graded": store.now(), "file": judge.file_digest(taken)})
            self.graded.append((submission.name, lab))
        return {"schema": 1, "student": submission.name, "id": submission.id, "backend": "cpu", "machine": "m", "seconds": 1.0, "graded": store.now(),
                "labs": labs, **judge.about(submission)}


class ClassFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.submissions, self.out = self.root / "in", self.root / "out"
        for name in ("ann", "bob", "cy"):
            self.hand_in(name, lab01_naive=40, lab02_smem=100)

    def hand_in(self, student: str, **points: int) -> None:
        for lab, number in points.items():
            path = self.submissions / student / LABS[lab]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"// {number}\n")

    def grade(self, a_judge: MadeUpJudge | None = None, keep: bool = False, submissions: Path | None = None) -> tuple[int, str]:
        a_judge = a_judge or MadeUpJudge()
        said = io.StringIO()
        with mock.patch.object(classrun.judge, "Judge", lambda *_, **__: a_judge), mock.patch.object(classrun.sandbox, "find", lambda **_: a_judge.box), \
                contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            status = classrun.check_class(submissions or self.submissions, self.out, SimpleNamespace(limits=LIMITS), 2, "", lambda: None, keep,
                                          lambda text="": print(text))
        return status, said.getvalue()

    def points(self) -> dict[str, dict[str, float]]:
        place = store.Store(self.out)
        return {student: {lab["lab"]: lab["points"] for lab in place.read(student)["labs"] if lab.get("file")} for student in place.ids()}

    def rows(self) -> dict[str, dict[str, str]]:
        return {row["id"]: row for row in csv.DictReader(io.StringIO((self.out / "gradebook.csv").read_bytes().decode("utf-8-sig")))}


class Keeping(ClassFolder):
    def test_one_lab_into_an_out_that_has_all(self):
        self.grade()
        before = self.points()
        self.assertEqual(before["ann"], {"lab01_naive": 40, "lab02_smem": 100})
        self.hand_in("ann", lab01_naive=70, lab02_smem=50)
        only = MadeUpJudge("lab02")
        status, said = self.grade(only)
        self.assertEqual(only.graded, [("ann", "lab02_smem")])
        self.assertEqual(self.points(), {**before, "ann": {"lab01_naive": 40, "lab02_smem": 50}})
        self.assertIn("changed: ann: 140 points before, 90 now (lab02_smem: another file)", said)
        self.assertEqual(self.rows()["ann"]["points"], "90")

    def test_every_earlier_grade_is_in_the_history(self):
        self.grade()
        for number in (60, 70):
            self.hand_in("ann", lab01_naive=number)
            self.grade()
        self.grade(MadeUpJudge(course="2"))
        place = store.Store(self.out)
        earlier = place.history("ann")
        self.assertEqual([grade["points"] for grade in earlier], [140, 160, 170])
        self.assertEqual([grade["why"] for grade in earlier], ["the first grading", "lab01_naive: another file", "lab01_naive: another file"])
        self.assertIn("the course, its points or the secret changed", place.read("ann")["why"])
        for grade in earlier:
            self.assertRegex(grade["graded"], r"^20\d\d-\d\d-\d\dT")
        self.assertEqual(len(place.history("bob")), 1)

    def test_who_is_not_in_submissions_is_not_lost(self):
        self.grade()
        before = self.points()
        other = self.root / "other"
        (other / "dan").mkdir(parents=True)
        (other / "dan/softmax_smem.cu").write_text("// 10")
        with self.assertRaisesRegex(classrun.ClassError, r"grades of 3 who are not in .*other: ann, bob, cy\. .*KEEP=1"):
            self.grade(submissions=other)
        self.assertEqual(self.points(), before)
        self.grade(submissions=other, keep=True)
        self.assertEqual({**before, "dan": {"lab02_smem": 10}}, self.points())
        self.assertEqual(set(self.rows()), {"ann", "bob", "cy", "dan"})
        self.assertIn("was not in SUBMISSIONS in the last run", (self.out / "report.html").read_text())

    def test_a_file_that_is_gone_takes_no_grade_away(self):
        self.grade()
        (self.submissions / "ann" / LABS["lab02_smem"]).rename(self.submissions / "ann" / "Softmax_smem.cu")
        for path in (self.submissions / "bob").iterdir():
            path.unlink()
        (self.submissions / "bob").rmdir()
        (self.submissions / "bob.zip").write_bytes(b"broken")
        self.grade(MadeUpJudge(course="2"))
        self.assertEqual(self.points()["ann"], {"lab01_naive": 40, "lab02_smem": 100})
        self.assertEqual(self.points()["bob"], {"lab01_naive": 40, "lab02_smem": 100})
        page = (self.out / "report.html").read_text()
        self.assertIn("is it Softmax_smem.cu? Its name must be softmax_smem.cu; the grade of 20", page)
        self.assertEqual(self.rows()["bob"]["verdict"], "needs a person")
        self.assertIn("cannot be read", self.rows()["bob"]["problem"])

    def test_what_has_not_changed_is_not_graded_again(self):
        self.grade()
        again = MadeUpJudge()
        files = {path: path.read_bytes() for path in self.out.rglob("*") if path.is_file()}
        _, said = self.grade(again)
        self.assertEqual(again.graded, [])
        self.assertIn("3 were graded before", said)
        self.assertEqual(files, {path: path.read_bytes() for path in self.out.rglob("*") if path.is_file()})
        self.hand_in("cy", lab03_online=5)
        self.grade(again)
        self.assertEqual(again.graded, [("cy", "lab03_online")])

    def test_everybody_has_a_row(self):
        (self.submissions / "empty").mkdir()
        (self.submissions / "pdf").mkdir()
        (self.submissions / "pdf/a.pdf").write_bytes(b"%PDF")
        (self.submissions / "seven.7z").write_bytes(b"7z\xbc\xaf\x27\x1c")
        (self.submissions / "notes.txt").write_text("")
        status, said = self.grade(MadeUpJudge(fails="bob"))
        self.assertEqual(status, 1)
        rows = self.rows()
        self.assertEqual(set(rows), {"ann", "bob", "cy", "empty", "pdf", "seven"})
        page = (self.out / "report.html").read_text()
        person = page[page.index('id="person"'):page.index('id="all"')]
        for student, words in (("empty", "it is empty"), ("pdf", "it holds a.pdf"), ("seven", "not read here"), ("bob", "the judge broke")):
            self.assertEqual(rows[student]["verdict"], "needs a person", student)
            self.assertIn(words, rows[student]["problem"])
            self.assertIn(words, person)
        self.assertIn("notes.txt in SUBMISSIONS is no submission", page)
        self.grade()
        self.assertEqual(self.rows()["bob"]["verdict"], "fail")

    def test_out_and_submissions_must_not_lie_in_each_other(self):
        for self.out in (self.submissions, self.submissions / "out", self.root):
            with self.assertRaisesRegex(classrun.ClassError, "lie in each other"):
                self.grade()


class Rules(ClassFolder):
    def test_a_mistake_in_the_rules_stops_before_and_not_in_the_middle(self):
        self.grade()
        self.assertTrue((self.out / "policy.toml").read_text().startswith("# What becomes"))
        (self.out / "policy.toml").write_text("[lat]")
        a_judge = MadeUpJudge(course="2")
        with self.assertRaisesRegex(classrun.policy.PolicyError, "no table"):
            self.grade(a_judge)
        self.assertEqual(a_judge.graded, [])
        (self.out / "policy.toml").write_text("")
        a_judge = MadeUpJudge(course="2")
        grade = a_judge.grade

        def edited(submission, only):
            (self.out / "decisions.toml").write_text("[[decision")
            return grade(submission, only)

        a_judge.grade = edited
        with self.assertRaisesRegex(classrun.reports.RULES_ERRORS[0], "is not TOML"):  # at the end, when all is graded
            self.grade(a_judge)
        self.assertEqual(len(a_judge.graded), 3 * len(LABS))
        (self.out / "decisions.toml").write_text("")
        again = MadeUpJudge(course="2")
        self.grade(again)
        self.assertEqual(again.graded, [])

    def test_a_lab_that_is_not_graded_is_refused(self):
        for name, why in (("lab42", "no graded lab has 'lab42'"), ("lab09", "no graded lab has 'lab09'"),
                          ("lab01,lab42", "no graded lab has 'lab42'"), ("lab01,", "there is nothing before or after one of its commas")):
            ended = subprocess.run([sys.executable, str(HERE / "check.py"), "--submissions", str(HERE), "--out", "/nowhere", "--only", name],
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            self.assertEqual(ended.returncode, 2, ended.stdout)
            said = " ".join(ended.stdout.split())
            self.assertIn(f"LABS={name}: it can be labs with commas", said)
            self.assertIn(why, said)

    def test_labs_with_commas_between_them_are_graded(self):
        with mock.patch.object(sys, "argv", ["check.py", "--submissions", str(self.submissions), "--out", str(self.out), "--only", "lab02, lab08"]), \
                mock.patch.object(check, "end_on_signals"), mock.patch.object(check.classrun, "check_class", return_value=0) as began:
            self.assertEqual(check.main(), 0)
        only = began.call_args.args[4]
        self.assertEqual(judge.manifest.chosen(only, list(LABS)), ["lab02_smem", "lab08_rms_norm"])

    def test_what_was_decided_counts_in_the_end(self):
        for name in ("bob", "cy"):
            for path in (self.submissions / name).iterdir():
                path.unlink()
            (self.submissions / name).rmdir()
        for lab in LABS:
            self.hand_in("ann", **{lab: 100})
        self.hand_in("ann", lab01_naive=99)
        self.assertEqual(self.grade()[0], 1)
        (self.out / "decisions.toml").write_text("[[decision]]\nstudent='ann'\nlab='lab01'\npoints=100\n")
        self.assertEqual(self.rows()["ann"]["points"], str(100 * len(LABS) - 1))
        self.grade()
        self.assertEqual(self.rows()["ann"]["points"], str(100 * len(LABS)))


class Running(ClassFolder):
    def test_reports_are_there_with_the_first_grade(self):
        for number in range(6):
            self.hand_in(f"s{number}", lab02_smem=100)
        seen, written = [], threading.Event()
        first_ones: list[str] = []

        def wait(name):
            """The first is graded at once, all others only when its reports have been written."""
            first_ones.append(name)
            if first_ones[0] != name:
                written.wait(WAIT)

        write = classrun.reports.write_class_pages

        def watched(out):
            group = write(out)
            seen.append((len(group.students), len(group.ungraded), (out / "report.html").read_text()))
            written.set()
            return group

        with mock.patch.object(classrun, "FIRST_REPORTS", 0.0), mock.patch.object(classrun, "SHARE", 1e9), \
                mock.patch.object(classrun.reports, "write_class_pages", watched):
            _, said = self.grade(MadeUpJudge(first=wait))
        self.assertEqual(seen[0][0], 1)
        self.assertEqual({students + others for students, others, _ in seen}, {9})
        self.assertRegex(seen[0][2], r"<strong>8 of them are not graded yet")
        self.assertNotIn("not graded yet", seen[-1][2])
        self.assertRegex(said, r"(?m)^   1/9 .* \d running, \S+ s left$")

    def test_files_that_are_alike_are_listed(self):
        code = "__device__ float f(float a, float b) {" + "".join(f" a = b * {i} + fmaxf(a, b);" if i % 3 else " b = expf(a) - b;" for i in range(40)) + " return a; }"
        for name in ("ann", "bob"):
            self.hand_in(name, lab02_smem=40)
            path = self.submissions / name / LABS["lab02_smem"]
            path.write_text(f"// 40 of {name}\n{code}\n")
        _, said = self.grade()
        self.assertIn("files that are alike: 1 pairs", said)
        self.assertIn("ann, bob", (self.out / "similar/index.html").read_text())
        self.assertIn('href="similar/index.html"', (self.out / "report.html").read_text())

    def test_two_graders_at_once(self):
        """The second is refused and says who is at work; what the first graded is there."""
        first: list = []
        at_work, tried = threading.Event(), threading.Event()

        def wait(_):
            at_work.set()
            tried.wait(WAIT)

        thread = threading.Thread(target=lambda: first.append(self.grade(MadeUpJudge(first=wait))))
        thread.start()
        self.assertTrue(at_work.wait(WAIT))
        try:
            with self.assertRaisesRegex(lock.LockError, "is being graded into by .* wait until it has ended"):
                with lock.Lock(self.out):
                    pass
        finally:
            tried.set()
            thread.join()
        self.assertEqual(first[0][0], 1)
        self.assertEqual(set(self.points()), {"ann", "bob", "cy"})
        self.assertFalse((self.out / "lock").exists())

    def test_who_loses_the_lock_writes_nothing_more(self):
        def steal(_):
            theirs = self.out / "theirs"
            theirs.write_text(json.dumps({"user": "eve", "token": "x"}))
            theirs.replace(self.out / "lock")  # at once, as a lock is taken: nobody reads half of it

        with self.assertRaisesRegex(lock.LockError, "eve"):
            self.grade(MadeUpJudge(first=steal))
        self.assertEqual(self.points(), {})

    def test_a_run_that_breaks_off_stops_what_it_runs_and_nothing_else(self):
        """Each student runs a program for ten minutes; then the reports cannot be written, as on a full disk."""
        a_judge, another = MadeUpJudge(), sandbox.Sandbox("none")
        limits, stopped = sandbox.Limits(2 * WAIT, 2 * WAIT, 1000, 100), []
        graded = a_judge.grade

        def grade(submission, only):
            if submission.name == "ann":
                return graded(submission, only)
            try:
                return a_judge.box.run(["/bin/sleep", "600"], limits)
            except sandbox.Stopped:
                stopped.append(submission.name)
                raise

        a_judge.grade = grade
        begun = time.monotonic()
        with mock.patch.object(classrun.reports, "write_class_pages", side_effect=OSError("No space left on device")), \
                self.assertRaisesRegex(OSError, "No space left"):
            self.grade(a_judge)
        self.assertLess(time.monotonic() - begun, WAIT)
        self.assertIn("bob", stopped)  # and cy, who began when ann had ended
        self.assertEqual(set(self.points()), {"ann"})
        self.assertEqual(another.run(["/bin/echo", "works"], limits).stdout, b"works\n")
        self.assertEqual(sandbox.Sandbox("none").run(["/bin/true"], limits).status, 0)


if __name__ == "__main__":
    unittest.main()
