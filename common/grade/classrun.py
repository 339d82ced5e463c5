"""Grades a class into OUT: every folder and archive of SUBMISSIONS, several at a time, and goes on where an earlier run was interrupted.

Nothing is taken away. A grade that changes is kept in the student's history; a lab that is not graded in this run keeps its grade; and a run
that does not have all of the students of OUT refuses to begin, unless it is told to keep their grades as they are.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path

import decided
import ingest
import judge
import policy
import record
import reports
import sandbox
import similar_report
import store
from lock import Lock
from progress import Progress, duration
from slurm.board import refuse_beside_tasks

COURSE = Path(__file__).resolve().parents[2]
FIRST_REPORTS, SHARE = 20.0, 0.05  # seconds between two writings of the class's reports, and the share of time that they may take


class ClassError(Exception):
    """The class cannot be graded so; the text says why and what to do."""


def note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def percent(points: float, out_of: float) -> str:
    return f"{100 * points / out_of:.1f} %" if out_of else "nothing was run"


def some(names: list[str], most: int = 5) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


@dataclass
class Plan:
    """What is to be done about one submission."""

    labs: list[str] = field(default_factory=list)  # to be graded
    why: str = ""
    notes: list[str] = field(default_factory=list)


def plan_for(the_judge: judge.Judge, submission: ingest.Submission, earlier: dict | None) -> Plan:
    """Grades again what has changed. A file that is no longer there takes no grade away."""
    before = {lab["lab"]: lab for lab in (earlier or {}).get("labs", []) if isinstance(lab, dict) and "lab" in lab}
    plan, new, other, course = Plan(), [], [], []
    for lab, kernel in the_judge.labs.items():
        taken, was = submission.labs[lab], before.get(lab)
        if was is None:
            new.append(lab)
        elif taken.source is None and was.get("file"):
            plan.notes.append(f"{lab}: {taken.problem or f'{kernel} is not in the submission'}; the grade of {str(was.get('graded'))[:10]} stays")
        elif was.get("key") != the_judge.key(lab, taken):
            (course if was.get("file", "") == judge.file_digest(taken) else other).append(lab)
    plan.labs = [lab for lab in the_judge.labs if lab in new + other + course]
    words = ((other, "another file"), (course, "the course, its points or the secret changed"), (new, "graded for the first time"))
    plan.why = "; ".join(f"{', '.join(labs)}: {text}" for labs, text in words if labs) if before else "the first grading"
    return plan


class ClassRun:
    def __init__(self, the_judge: judge.Judge, out: Path, submissions: list[ingest.Submission], others: list[str], lock: Lock):
        self.judge, self.store, self.submissions, self.others, self.lock = the_judge, store.Store(out), submissions, others, lock
        self.progress = Progress(len(submissions))
        self.all_labs = judge.labs_of(the_judge.course)
        self.group = record.Class()
        self.similar = 0
        self.changed: list[str] = []
        self.failed: dict[str, str] = {}  # id -> why it could not be graded
        self.kept = 0
        self.reports_due, self.report_seconds = 0.0, 0.0

    def one(self, submission: ingest.Submission) -> tuple[dict, bool]:
        """The grade, and whether anything of it is new."""
        self.progress.begins(submission.name)
        ingest.take(submission, self.all_labs, self.judge.limits)
        earlier = self.store.read(submission.id)
        plan = plan_for(self.judge, submission, earlier)
        submission.notes += plan.notes
        if plan.labs or earlier is None:
            grade = store.merged(earlier, {**self.judge.grade(submission, plan.labs), "why": plan.why})
            self.judge.box.go_on()  # or what was being run when it was interrupted becomes a grade
        else:
            grade = store.totalled({**earlier, "student": submission.name, **judge.about(submission)})
        if grade != earlier:
            self.lock.check()
            self.store.write(submission.id, grade)
            with contextlib.suppress(*reports.RULES_ERRORS):  # said once, when the class's reports are written
                reports.write_student(self.store.folder(submission.id))
        if earlier and plan.labs and earlier.get("points") != grade["points"]:
            self.changed.append(f"{submission.name}: {earlier.get('points', 0):g} points before, {grade['points']:g} now ({plan.why})")
        return grade, bool(plan.labs)

    def run(self) -> None:
        self.write_class()
        with ThreadPoolExecutor(self.judge.jobs) as pool:
            jobs = {pool.submit(self.one, submission): submission for submission in self.submissions}
            try:
                for job in as_completed(jobs):
                    self.finished(jobs[job], job)
                    self.write_reports()
            except BaseException:
                self.judge.box.stop()
                pool.shutdown(cancel_futures=True)
                raise
            finally:
                self.progress.close()

    def finished(self, submission: ingest.Submission, job) -> None:
        try:
            grade, fresh = job.result()
        except (OSError, MemoryError, RuntimeError, ValueError, KeyError, TypeError) as error:  # costs this one alone
            self.failed[submission.id] = f"could not be graded: {type(error).__name__}: {error}"
            self.progress.ends(submission.name, self.failed[submission.id], failed=True)
            self.write_class()
            return
        self.kept += not fresh
        text = f"{grade['verdict']:<14}  {percent(grade['points'], grade['out_of']):>8}  {grade['seconds']:5.1f} s"
        self.progress.ends(submission.name, text if fresh else "", fresh)

    def write_class(self) -> None:
        """For the reports: who should be in them, graded or not yet."""
        self.lock.check()
        students = [{"id": s.id, "student": s.name, "problem": self.failed.get(s.id, "")} for s in self.submissions]
        self.store.write_class(students, self.others, list(self.judge.labs))

    def write_reports(self, last: bool = False) -> None:
        """As soon as there is one grade, and then from time to time."""
        begun = time.monotonic()
        if not last and begun < self.reports_due:
            return
        self.lock.check()
        try:
            self.group = reports.write_class_pages(self.store.out)
        except reports.RULES_ERRORS as error:  # somebody edits a file while the class is graded: that must cost no grade
            if last:
                raise
            self.progress.line(f"note: the reports are not written: {error}")
        self.report_seconds = time.monotonic() - begun
        self.reports_due = time.monotonic() + max(FIRST_REPORTS, self.report_seconds / SHARE)


    def write_similar(self) -> None:
        """From this run's files."""
        self.lock.check()
        handed_in = {lab: [(s.name, s.id, s.labs[lab].source) for s in self.submissions if lab in s.labs and s.labs[lab].source is not None]
                     for lab in self.judge.labs}
        self.similar = similar_report.write(self.store.out, self.judge.course, self.judge.labs, handed_in)


def refuse_to_lose(place: store.Store, submissions: list[ingest.Submission], folder: Path, keep: bool) -> None:
    gone = sorted(set(place.ids()) - {submission.id for submission in submissions})
    if gone and not keep:
        raise ClassError(f"{place.out} has grades of {len(gone)} who are not in {folder}: {some(gone)}. If they belong to this class, "
                         f"add KEEP=1: their grades stay as they are. For another class use another OUT")


def check_class(folder: Path, out: Path, table, jobs: int, only: str, find_gpu, keep: bool, say,
                stopping: threading.Event | None = None, on=None) -> int:
    """Exit status. stopping: set by whoever interrupts. on: a slurm.controller.OnSlurm, where a cluster's nodes grade. Raises ClassError and what ingest, judge, sandbox and lock raise."""
    if folder == out or folder in out.parents or out in folder.parents:
        raise ClassError(f"OUT ({out}) and SUBMISSIONS ({folder}) lie in each other: choose a folder of its own for OUT")
    submissions, others = ingest.find(folder)
    if not submissions:
        raise ClassError(f"{folder}: no folder and no archive ({', '.join(ingest.ENDINGS)}) in it")
    box = on.box(stopping) if on else sandbox.find(stopping=stopping)  # or no grading: foreign code is not run without one
    make_folder(out)
    begun = time.monotonic()
    with Lock(out) as lock:
        if lock.taken_over:
            note(f"note: a grader that has ended had not given {out} back: {lock.taken_over}")
        if not on:
            refuse_beside_tasks(out, ClassError)
        refuse_to_lose(store.Store(out), submissions, folder, keep)
        decided.rules_of(out)  # or nobody learns of a mistake in them before the end
        if not (out / policy.NAME).exists():
            store.write(out / policy.NAME, policy.EXAMPLE)
        for other in others:
            note(f"note: {other} is no submission, which is a folder or an archive, and is not graded")
        device = find_gpu()
        at_once = f"{jobs} at a time, {box.describe()}"
        say(on.words(len(submissions)) if on else
            f"grading {len(submissions)} submissions on the CPU{f' and speed on the {device.name}, one at a time' if device else ''}, {at_once}")
        the_judge = judge.Judge(COURSE, table, box, store.secret_of(out), jobs, only, device, out / "timed_out.json")
        try:
            the_judge.prepare(note)
            run = (on.run if on else ClassRun)(the_judge, out, submissions, others, lock)
            run.run()
            run.write_similar()
            run.write_reports(last=True)
        finally:
            the_judge.close()
    return summary(run, out, begun, say)


def make_folder(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
        (out / "students").mkdir(exist_ok=True)
    except OSError as error:
        raise ClassError(f"cannot write to {out}: {error.strerror}") from None


def summary(run: ClassRun, out: Path, begun: float, say) -> int:
    if run.kept:
        say(f"{run.kept} were graded before and have not changed")
    for warning in run.judge.warnings:
        note(f"note: {warning}")
    for text in run.changed[:10]:
        say(f"changed: {text}")
    if len(run.changed) > 10:
        say(f"and {len(run.changed) - 10} more whose points changed; the earlier grades are in {out}/students/*/history")
    mine = {submission.id for submission in run.submissions}
    verdicts = [entry.verdict for entry in (*run.group.students, *run.group.ungraded) if entry.id in mine]
    say(", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in sorted(set(verdicts))) + f" in {duration(time.monotonic() - begun)}")
    for problem in run.group.problems:
        note(f"note: {problem}")
    if run.similar:
        say(f"files that are alike: {run.similar} pairs, {out}/similar/index.html")
    if record.PERSON in verdicts:
        say(f"what waits for a person: make decide OUT={out}")
    say(f"next: {out}/report.html, {out}/gradebook.xlsx")
    return 0 if set(verdicts) <= {record.PASS} else 1
