#!/usr/bin/env python3
"""For tests of the scheduling: the command and its tasks, with a judge that is made up and takes no time.

    stand_in.py check FOLDER [NAME=VALUE...]    grades FOLDER/in into FOLDER/out: ON=slurm and its options, or on this machine
    stand_in.py task OUT/slurm/<run>            what a node runs

A file FOLDER/do/<student> says what happens while the student is graded: "wait" (as long as the file is there), "eat" (memory), "die".
FOLDER/taken has a line for each student whose files were taken to be graded, FOLDER/graded one for each grading that came to its end: the
student, the task and the node. FOLDER/unfit/<node> is what that node's
doctor says.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import check  # noqa: E402
import classrun  # noqa: E402
from slurm import controller, scheduler, task  # noqa: E402
from test_classrun import LIMITS, MadeUpJudge  # noqa: E402

SIGN_OF_LIFE = 0.5


def made_up(folder: Path, cores: int, box: classrun.sandbox.Sandbox) -> MadeUpJudge:
    node = os.environ.get("SLURMD_NODENAME", "here")

    def first(student: str) -> None:
        wish = folder / "do" / student
        what = wish.read_text() if wish.exists() else ""
        with (folder / "taken").open("a") as file:
            file.write(f"{student}\n")
        if what == "eat":
            eaten = [bytearray(b"x") * (1 << 20) for _ in range(600)]
            time.sleep(60)
            del eaten
        if what == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        while wish.exists():
            box.go_on()
            time.sleep(0.05)

    the_judge = MadeUpJudge(first=first)
    the_judge.jobs, the_judge.box, graded = cores, box, the_judge.grade

    def grade(submission, only):
        result = graded(submission, only)
        with (folder / "graded").open("a") as file:
            file.write(f"{submission.name} {os.environ.get('LADDER_TASK', '-')} {node}\n")
        return result

    the_judge.grade = grade
    return the_judge


def patched(folder: Path) -> ExitStack:
    """Within it the judge is made up, and nothing is run."""
    stack = ExitStack()
    stack.enter_context(mock.patch.object(classrun.judge, "Judge", lambda *arguments, **_: made_up(folder, arguments[4], arguments[2])))
    stack.enter_context(mock.patch.object(classrun.sandbox, "find", lambda stopping: classrun.sandbox.Sandbox("none", stopping=stopping)))
    stack.enter_context(mock.patch.object(task.points, "load", lambda *_: SimpleNamespace(limits=LIMITS)))
    return stack


def run_task(board: Path) -> int:
    folder = board.parents[2]

    def doctor() -> None:
        path = folder / "unfit" / os.environ["SLURMD_NODENAME"]
        if path.exists():
            raise task.Unfit(f"make check-doctor fails there: {path.read_text()}")

    with patched(folder), mock.patch.object(task, "prove_sandbox", doctor):
        return task.main([str(board)])


def run_check(folder: Path, given: dict[str, str]) -> int:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job, as the tests may be, begins with it ignored
    stopping = check.end_on_signals()
    table = SimpleNamespace(limits=LIMITS)
    on = None
    if given.pop("ON", ""):
        slurm = scheduler.Slurm(scheduler.options_from(given, int(given.pop("JOBS", "1")), 64))
        on = controller.OnSlurm(slurm, folder / "in", folder / "no points")
        program = [sys.executable, str(Path(__file__).resolve()), "task"]
        on_run = controller.SlurmRun
        on = SimpleNamespace(box=on.box, words=on.words,
                             run=lambda *arguments: on_run(*arguments, folder / "in", folder / "no points", slurm, program, SIGN_OF_LIFE))
    controller.LOOK, controller.NEVER_AFTER = 0.3, 2.0
    with patched(folder):
        try:
            return classrun.check_class(folder / "in", folder / "out", table, 1, "", lambda: None, False, lambda text="": print(text, flush=True), stopping, on)
        except check.ERRORS as error:
            print(f"error: {error}")
            return 2
        except (KeyboardInterrupt, check.sandbox.Stopped):
            print("interrupted")
            return 130


if __name__ == "__main__":
    if sys.argv[1] == "task":
        sys.exit(run_task(Path(sys.argv[2])))
    sys.exit(run_check(Path(sys.argv[2]), dict(pair.split("=", 1) for pair in sys.argv[3:])))
