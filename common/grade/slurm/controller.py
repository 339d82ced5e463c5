"""make check ON=slurm, on the machine from which jobs are submitted: cuts what is to be graded into tasks, watches OUT and the queue, and
submits again what is missing.

What is done is decided by what is in OUT, and never by what Slurm says. Slurm says which tasks have ended. What such a task had begun and
not finished is then graded alone, in a task of one submission; if that one is killed, too, the submission is marked. What it had not begun
goes into new tasks.
"""

from __future__ import annotations

import contextlib
import json
import shlex
import shutil
import signal
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import classrun
import ingest
import judge
import sandbox
import store
from classrun import ClassError, ClassRun, duration, note, percent, plan_for, some
from ingest import Submission
from slurm.board import SIGN_OF_LIFE, Board, Task, counted, current
from slurm.keys import fingerprint, still_to_grade
from slurm.scheduler import MOST_IN_AN_ARRAY, NEVER, Job, NoAnswer, Refused, Slurm

LOOK = 2.0  # seconds between two looks at OUT and the queue
NO_ANSWER_BEFORE = 60.0  # seconds that Slurm may be silent before anything has been submitted
NEVER_AFTER = 20.0  # seconds that all tasks may wait for what cannot be
MOMENT = 20.0  # seconds in which a task that has graded everything should have ended
TRIES = 3  # tasks that may be lost with a submission, by no fault of its own
HINTS = {"time": "was ended when its time was over; TIME= gives more", "memory": "was ended for its memory; MEM= gives more",
         "killed": "died, of too little memory perhaps; MEM= gives more"}
TASK = ["common/commands/check.sh", "task"]


class SlurmRun(ClassRun):
    """slurm: with its options. task: the program that is run on a node, with the run's folder as its last argument."""

    def __init__(self, the_judge, out: Path, submissions: list[Submission], others: list[str], lock, folder: Path, points: Path, slurm: Slurm,
                 task: list[str] | None = None, sign_of_life: float = SIGN_OF_LIFE):
        super().__init__(the_judge, out, submissions, others, lock)
        self.folder, self.points, self.slurm, self.task, self.sign_of_life = folder, points, slurm, task or TASK, sign_of_life
        self.options = slurm.options
        self.by_id = {submission.id: submission for submission in submissions}
        self.wanted: dict[str, Submission] = {}  # what is neither graded nor marked
        self.dropped: dict[str, str] = {}  # id -> whose task was cancelled
        self.bad_nodes: dict[str, str] = {}  # node -> why it grades nothing
        self.seen: set[tuple[str, str, str]] = set()  # events that have been shown
        self.changed_meanwhile: dict[str, int] = {}
        self.as_found: dict[str, tuple[list[str], str]] = {}  # notes and problem of a submission, before its files were taken
        self.silent_since = self.never_since = 0.0
        self.hold_until = 0.0

    # ---- The run -------------------------------------------------------------------------------------

    def run(self) -> None:
        self.write_class()
        for submission in self.submissions:
            self.as_found[submission.id] = (list(submission.notes), submission.problem)
            ingest.take(submission, self.all_labs, self.judge.limits)
            if still_to_grade(self.judge, submission, self.store.read(submission.id), self.options.gpus):
                self.wanted[submission.id] = submission
        self.board = self.go_on_with() or self.begin()
        try:
            self.keep_those_graded()
            while self.wanted.keys() - self.dropped.keys():
                self.step()
                time.sleep(LOOK)
        except (KeyboardInterrupt, sandbox.Stopped) as error:
            self.interrupted(*error.args[:1])
            raise
        except ClassError:
            self.board.end()
            self.slurm.cancel_run(self.board.run)
            raise
        finally:
            self.progress.close()
        self.let_tasks_end()
        self.board.end()
        if self.dropped:
            raise ClassError(f"{counted(len(self.dropped), 'submission')} not graded, since tasks were cancelled: {some(sorted(self.dropped))}. What is "
                             f"graded is kept; the same command grades the rest")
        if not self.failed and not self.bad_nodes:
            shutil.rmtree(self.store.out / "slurm", ignore_errors=True)  # nobody will ask

    def let_tasks_end(self) -> None:
        """All is graded, and the last tasks have a word to say. What then is left has nothing to grade."""
        until = time.monotonic() + MOMENT
        while any(task.begun and not task.ended and not task.over for task in self.board.tasks()) and time.monotonic() < until:
            time.sleep(min(LOOK, 0.5))
        if any(not task.ended and not task.over for task in self.board.tasks()):
            self.slurm.cancel_run(self.board.run)

    def keep_those_graded(self) -> None:
        """Only what the record says besides the grade may be new."""
        for submission in self.submissions:
            if submission.id not in self.wanted:
                self.progress.begins(submission.name)
                earlier = self.store.read(submission.id)
                submission.notes += [text for text in plan_for(self.judge, submission, earlier).notes if text not in submission.notes]
                grade = store.totalled({**earlier, "student": submission.name, **judge.about(submission)})
                if grade != earlier:
                    self.lock.check()
                    self.store.write(submission.id, grade)
                    with contextlib.suppress(*classrun.reports.RULES_ERRORS):  # said once, when the class's reports are written
                        classrun.reports.write_student(self.store.folder(submission.id))
                self.kept += 1
                self.progress.ends(submission.name, graded=False)

    def begin(self) -> Board:
        for path in self.store.out.glob("slurm/*/"):  # logs of an earlier run
            shutil.rmtree(path, ignore_errors=True)
        return Board.new(self.store.out, {
            "submissions": str(self.folder), "points": str(self.points), "only": ",".join(self.judge.labs) or "none", "jobs_at_a_time": self.options.cores,
            "gpus": self.options.gpus, "fingerprint": fingerprint(self.judge, self.folder, self.options.gpus), "sign_of_life": self.sign_of_life, "jobs": []})

    def go_on_with(self) -> Board | None:
        """The run of a command that has ended without its tasks, if it does what is wanted now; its tasks end if it does not."""
        if not (run := current(self.store.out)):
            return None
        board = Board(self.store.out, run)
        if board.description().get("fingerprint") == fingerprint(self.judge, self.folder, self.options.gpus):
            note("note: an earlier command has ended before its tasks; this one goes on with them")
            return board
        note("note: the tasks of an earlier command are ended: they grade another state of the course, or other submissions")
        board.end()
        self.slurm.cancel_run(run)
        return None

    def interrupted(self, number: object = signal.SIGINT) -> None:
        """Ctrl-C ends the tasks. Who is hung up on, or told to end, leaves them at work."""
        if not self.board.description().get("jobs"):
            self.board.end()
        elif number not in (signal.SIGTERM, signal.SIGHUP):
            self.board.end()
            self.slurm.cancel_run(self.board.run)
            note("the tasks are cancelled")
        else:
            note("the tasks go on; the same command goes on with them")

    # ---- One look --------------------------------------------------------------------------------------

    def step(self) -> None:
        self.lock.check()
        jobs = self.look_at_queue()
        tasks = self.board.tasks()
        for task in tasks:
            self.hear(task)
        if jobs is not None:
            for task in tasks:
                if not task.over and (ended := self.end_of(task, jobs.get(task.name))):
                    self.board.give_up(task.name, **ended)
                    task.over = ended
                    self.judge_end(task)
            self.refuse_to_wait_for_ever(tasks, jobs)
        self.mark_hopeless(tasks)
        if jobs is not None:
            self.submit(tasks)
        self.show(tasks, jobs)
        self.write_reports()

    def look_at_queue(self) -> dict[str, Job] | None:
        try:
            jobs = self.slurm.jobs(self.board.run)
            self.silent_since = 0.0
            return jobs
        except NoAnswer as error:
            self.silent_since = self.silent_since or time.monotonic()
            if not self.board.tasks() and time.monotonic() - self.silent_since > NO_ANSWER_BEFORE:
                raise ClassError(f"Slurm does not answer ({error}); nothing was submitted") from None
            return None

    def hear(self, task: Task) -> None:
        """Shows what is new, and takes over what is graded: by what lies in OUT."""
        finished = task.finished
        for entry in task.events:
            what, student = str(entry.get("event")), str(entry.get("id", ""))
            if (task.name, what, student) in self.seen:
                continue
            self.seen.add((task.name, what, student))
            if student in self.wanted:
                if what == "began" and student not in finished and not task.over and not task.ended:
                    self.progress.begins(self.wanted[student].name)
                elif what == "graded":
                    self.graded(student)
                elif what == "failed":
                    self.mark(student, str(entry.get("why", "")))

    def graded(self, student: str) -> None:
        submission, grade = self.by_id[student], self.store.read(student)
        if grade is None or not (self.is_of(submission, grade) or self.is_of(self.found_again(submission), grade)):
            self.changed_meanwhile[student] = self.changed_meanwhile.get(student, 0) + 1
            if self.changed_meanwhile[student] >= TRIES:
                self.mark(student, "could not be graded: its files change while it is graded, or its grade does not stay in OUT")
            return
        del self.wanted[student]
        history = self.store.history(student)
        if history and history[-1].get("points") != grade["points"] and grade.get("why") != "the first grading":
            self.changed.append(f"{submission.name}: {history[-1].get('points', 0):g} points before, {grade['points']:g} now ({grade.get('why', '')})")
        self.progress.ends(submission.name, f"{grade['verdict']:<14}  {percent(grade['points'], grade['out_of']):>8}  {grade['seconds']:5.1f} s")

    def is_of(self, submission: Submission, grade: dict) -> bool:
        """Whether the grade is that of the submission's files as they are now."""
        notes, submission.problem = self.as_found[submission.id]
        submission.labs, submission.notes = {}, list(notes)
        ingest.take(submission, self.all_labs, self.judge.limits)
        return not still_to_grade(self.judge, submission, grade, self.options.gpus)

    def found_again(self, submission: Submission) -> Submission:
        """With the files and archives that are there now, which takes a look at all of SUBMISSIONS."""
        if again := next((one for one in ingest.find(self.folder)[0] if one.id == submission.id), None):
            submission.parts, self.as_found[submission.id] = again.parts, (again.notes, again.problem)
        return submission

    def mark(self, student: str, why: str) -> None:
        submission = self.wanted.pop(student)
        self.failed[student] = why
        self.progress.ends(submission.name, why, failed=True)
        self.write_class()

    # ---- Tasks that have ended ---------------------------------------------------------------------------

    def end_of(self, task: Task, job: Job | None) -> dict | None:
        """Why a task will do nothing more; None as long as it may."""
        if task.ended and not task.ended.get("stopped"):
            return {"cause": str(task.ended.get("cause", "done")), "node": task.node, "words": str(task.ended.get("words", ""))}
        if job and job.lives:
            return None
        if not task.ended and task.age is not None and task.age < 3 * self.sign_of_life:
            return None  # Slurm does not know it, or not any more, and it lives
        if job is None:
            return {"cause": "lost", "node": task.node, "words": "Slurm does not know its task any more"}
        return {"cause": job.cause, "node": task.node or job.nodes, "words": job.words() if task.begun else f"{job.words()}, {job.reason}"}

    def judge_end(self, task: Task) -> None:
        """Once, when a task is found to have ended. A node whose task says nothing, or that it is not fit, gets no other."""
        cause, node = task.over["cause"], task.over["node"]
        for student in task.unfinished:
            if student in self.wanted:
                self.progress.stops(self.wanted[student].name)
        self.remember_timed_out(task)
        if cause == "cancelled":
            self.dropped |= {student: task.name for student in task.ids if student in self.wanted}
        why = task.unfit
        if not why and cause == "killed" and not task.begun:
            why = self.board.log_of(task.name) or (
                f"its task ended ({task.over['words']}) and left no word in {self.board.folder}: the course, SUBMISSIONS and OUT must lie on a file "
                f"system that all nodes share, at the same place")
        if why and not node:
            raise ClassError(f"Slurm does not begin the tasks: {task.over['words']}. They asked for {' '.join(self.options.arguments())}")
        if why and node not in self.bad_nodes:
            self.bad_nodes[node] = why
            self.progress.line(f"note: node {node} grades nothing: {why}")
            if (nodes := self.slurm.nodes()) and nodes <= self.bad_nodes.keys():
                reasons = list(dict.fromkeys(self.bad_nodes.values()))
                raise ClassError(f"no node can grade. {some(sorted(self.bad_nodes))}: {'; '.join(reasons[:3])}")

    def remember_timed_out(self, task: Task) -> None:
        """The files that took all of a lab's time, for all later tasks and runs."""
        if found := store.read_json(self.board.folder / f"{task.name}.timed_out"):
            path = self.store.out / "timed_out.json"
            known = store.read_json(path) or {}
            if not found.keys() <= known.keys():
                store.write(path, json.dumps({**known, **found}))

    def mark_hopeless(self, tasks: list[Task]) -> None:
        """Who was alone in a task that was killed; who was lost with a node several times; whose turn never comes."""
        for student in sorted(self.wanted):
            fruitless, lost = [], []
            for task in tasks:
                if student not in task.ids or not task.over or student in task.finished:
                    continue
                words = task.over["words"] or task.over["cause"]
                if student in task.unfinished:
                    if task.alone and task.over["cause"] in HINTS:
                        self.mark(student, f"could not be graded: a task with nothing else to do {HINTS[task.over['cause']]} ({words})")
                        break
                    lost.append(words)
                elif task.begun and not task.finished and task.over["cause"] in ("time", "memory", "killed", "done", "lost"):
                    fruitless.append(words)
            else:
                if len(lost) > TRIES or len(fruitless) >= TRIES:
                    words = ", ".join(dict.fromkeys(lost + fruitless))
                    self.mark(student, f"could not be graded: {len(lost) + len(fruitless)} of its tasks ended too early ({words})")

    def refuse_to_wait_for_ever(self, tasks: list[Task], jobs: dict[str, Job]) -> None:
        waiting = [jobs[task.name] for task in tasks if not task.over and task.name in jobs]
        if not waiting or any(job.state != "PENDING" or job.reason not in NEVER for job in waiting):
            self.never_since = 0.0
            return
        self.never_since = self.never_since or time.monotonic()
        if time.monotonic() - self.never_since > NEVER_AFTER:
            bad = f" (without {', '.join(sorted(self.bad_nodes))}: {next(iter(self.bad_nodes.values()))})" if self.bad_nodes else ""
            raise ClassError(f"Slurm accepts the tasks but will not begin them: {', '.join(sorted({job.reason for job in waiting}))}{bad}. They asked for "
                             f"{' '.join(self.options.arguments())}; PARTITION=, TIME=, MEM=, GPUS= and JOBS= change that")

    # ---- Submitting ------------------------------------------------------------------------------------

    def submit(self, tasks: list[Task]) -> None:
        """Whatever is wanted and in no task: what another task has died of alone, the rest many to a task."""
        if time.monotonic() < self.hold_until:
            return
        placed = {student for task in tasks if not task.over for student in task.ids}
        suspects = {student for task in tasks if task.over for student in task.unfinished}
        left = [student for student in self.by_id if student in self.wanted and student not in placed and student not in self.dropped]
        alone = [[student] for student in left if student in suspects]
        rest = [student for student in left if student not in suspects]
        size = self.options.per_task
        for groups, is_alone in (([rest[i:i + size] for i in range(0, len(rest), size)], False), (alone, True)):
            for first in range(0, len(groups), MOST_IN_AN_ARRAY):
                if not self.submit_wave(groups[first:first + MOST_IN_AN_ARRAY], is_alone, tasks):
                    return

    def submit_wave(self, groups: list[list[str]], alone: bool, tasks: list[Task]) -> bool:
        wave = 1 + max((int(path.name[1:].partition("-")[0]) for path in self.board.folder.glob("w*-*.*")), default=0)
        names = [f"w{wave}-{index}" for index in range(len(groups))]
        for name, ids in zip(names, groups):
            self.board.add(name, ids, alone)
        try:
            job = self.slurm.submit(f"ladder-{self.board.run}-w{wave}", len(groups), self.script(wave), sorted(self.bad_nodes))
        except Refused as error:
            for name in names:
                self.board.take_back(name)
            if any(not task.over for task in tasks):  # a limit on the number of jobs, most likely: some of ours will end
                self.hold_until = time.monotonic() + 30
                self.progress.line(f"note: Slurm takes no more tasks now ({error}); it is asked again")
                return False
            raise ClassError(f"Slurm refuses the tasks: {error}. They asked for {' '.join(self.options.arguments())}; what is graded is kept") from None
        except NoAnswer as error:
            # If it was heard all the same, its tasks find no list, or the one of the next attempt, which only one of the two can begin.
            for name in names:
                self.board.take_back(name)
            self.hold_until = time.monotonic() + 5
            self.progress.line(f"note: {error}; it is asked again")
            return False
        self.board.update(jobs=[*self.board.description().get("jobs", []), job])
        how = "each in a task of its own" if alone else f"{counted(len(groups), 'task')} of up to {max(map(len, groups))}"
        self.progress.line(f"job {job}: {counted(sum(map(len, groups)), 'submission')}, {how}")
        return True

    def script(self, wave: int) -> str:
        """What a node runs. Where it does not see the files there is nobody whom it could tell, but for its exit status."""
        board, course = shlex.quote(str(self.board.folder)), shlex.quote(str(classrun.COURSE))
        backend = "unset PREBUILT; export BACKEND=cuda" if self.options.gpus else "export PREBUILT=1 BACKEND=cpu"
        return f"""#!/bin/bash
cd {course} && [ -r {board}/run.json ] || exit 3
{backend} LADDER_TASK=w{wave}-$SLURM_ARRAY_TASK_ID
exec >>{board}/$LADDER_TASK.log 2>&1 </dev/null
exec {shlex.join(self.task)} {board}
"""

    # ---- Showing ---------------------------------------------------------------------------------------

    def show(self, tasks: list[Task], jobs: dict[str, Job] | None) -> None:
        living = [task for task in tasks if not task.over]
        at_work = [task for task in living if task.begun]
        nodes = len({task.node for task in at_work})
        text = f"in {counted(len(at_work), 'task')} on {counted(nodes, 'node')}" if at_work else ""
        waiting = [jobs[task.name] for task in living if jobs and not task.begun and task.name in jobs and jobs[task.name].state == "PENDING"]
        if waiting:
            reasons = ", ".join(sorted({job.reason for job in waiting} - {"None", ""}))
            text += f"{', ' if text else ''}{counted(len(waiting), 'task')} in the queue{f' ({reasons})' if reasons else ''}"
        if self.silent_since:
            text += f", Slurm has not answered for {duration(time.monotonic() - self.silent_since)}"
        self.progress.where = text


@dataclass(frozen=True)
class OnSlurm:
    """What check_class does otherwise where the nodes of a cluster grade."""

    slurm: Slurm
    folder: Path
    points: Path

    def box(self, stopping: threading.Event | None) -> sandbox.Sandbox:
        """Only the course's own solutions are run here. Raises ClassError where no jobs can be submitted."""
        if not shutil.which("sbatch"):
            raise ClassError("ON=slurm is for a machine from which jobs are submitted: sbatch is not installed here")
        try:
            return sandbox.find(stopping=stopping)
        except sandbox.SandboxError:
            return sandbox.Sandbox("none", stopping=stopping or threading.Event())

    def words(self, number: int) -> str:
        options = self.slurm.options
        where = f" in partition {options.partition}" if options.partition else ""
        speed = f", speed on {options.gpus} GPU a task" if options.gpus else ""
        return f"grading {counted(number, 'submission')} on Slurm{where}, up to {options.per_task} a task, {options.cores} at a time in each{speed}"

    def run(self, the_judge, out: Path, submissions: list[Submission], others: list[str], lock) -> SlurmRun:
        return SlurmRun(the_judge, out, submissions, others, lock, self.folder, self.points, self.slurm)
