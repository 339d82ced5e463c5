#!/usr/bin/env python3
"""One task, on a node: proves that the node sees the files and that its sandbox holds, and grades the submissions of its list.

    LADDER_TASK=w1-0 task.py OUT/slurm/<run>

Whatever this process is told to end for, it leaves no grade of what it had not finished; the command that submitted it finds out.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import check  # noqa: E402
import classrun  # noqa: E402
import gpu  # noqa: E402
import ingest  # noqa: E402
import judge  # noqa: E402
import points  # noqa: E402
import sandbox  # noqa: E402
import store  # noqa: E402
from slurm.board import Board, NotWanted, Voice  # noqa: E402
from slurm.keys import fingerprint  # noqa: E402

SETTLE = 0.3  # seconds between the end of a submission's programs and the belief that they were not ended together with this task


class KilledForMemory(Exception):
    """The kernel has killed a process of this task for the task's memory: what it was part of is no grade."""


class Unfit(Exception):
    """This node cannot grade; the text says why."""


def kills_for_memory(cgroups: Path = Path("/proc/self/cgroup"), top: Path = Path("/sys/fs/cgroup")) -> int:
    """How many processes the kernel has killed for the memory limits of this task, its step and its job."""
    killed = 0
    try:
        lines = cgroups.read_text().splitlines()
    except OSError:
        return 0
    for line in lines:
        _, kind, path = (*line.split(":", 2), "", "")[:3]
        if kind not in ("", "memory"):
            continue
        root = top / "memory" if kind else top
        place = root / path.lstrip("/")
        while place != root and root in place.parents:
            for name in ("memory.events", "memory.oom_control"):
                try:
                    killed += sum(int(entry.split()[1]) for entry in (place / name).read_text().splitlines() if entry.startswith("oom_kill "))
                except (OSError, ValueError, IndexError):
                    pass
            place = place.parent
    return killed


class Fence:
    """Stands where on one machine the lock of OUT does: asked before each write."""

    def __init__(self, voice: Voice, box: sandbox.Sandbox, kills=kills_for_memory):
        self.voice, self.box, self.kills, self.before = voice, box, kills, kills()

    def check(self) -> None:
        # Slurm ends all processes of a task at once. A program of a submission may be gone before this one has heard of it.
        time.sleep(SETTLE)
        self.box.go_on()
        if self.kills() != self.before:
            raise KilledForMemory
        self.voice.check()


class TaskRun(classrun.ClassRun):
    """Grades as on one machine; says what it does instead of showing it."""

    def __init__(self, the_judge: judge.Judge, out: Path, submissions: list[ingest.Submission], fence: Fence, voice: Voice):
        super().__init__(the_judge, out, submissions, [], fence)
        self.voice = voice

    def one(self, submission: ingest.Submission) -> None:
        self.judge.box.go_on()
        self.voice.check()
        self.voice.say("began", id=submission.id)
        try:
            super().one(submission)
        except (OSError, MemoryError, RuntimeError, ValueError, KeyError, TypeError) as error:  # costs this one alone
            self.lock.check()
            self.voice.say("failed", id=submission.id, why=f"could not be graded: {type(error).__name__}: {error}")
        else:
            self.voice.say("graded", id=submission.id)

    def run(self) -> None:
        with ThreadPoolExecutor(self.judge.jobs) as pool:
            jobs = [pool.submit(self.one, submission) for submission in self.submissions]
            try:
                for job in as_completed(jobs):
                    job.result()
            except BaseException:
                self.judge.box.stop()
                pool.shutdown(cancel_futures=True)
                raise


def prove_sandbox() -> None:
    """make check-doctor, on this node."""
    done = subprocess.run((sys.executable, str(HERE.parent / "check.py"), "--doctor"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace")
    print(done.stdout, flush=True)
    if done.returncode:
        lines = [line.strip() for line in done.stdout.splitlines() if line.startswith(("ESCAPED", "UNTRIED", "error"))] or done.stdout.strip().splitlines()[-1:]
        raise Unfit(f"make check-doctor fails there: {'; '.join(lines)[:500]}")


def submissions_of(folder: Path, ids: list[str]) -> list[ingest.Submission]:
    try:
        found = {submission.id: submission for submission in ingest.find(folder)[0]}
    except ingest.IngestError as error:
        raise Unfit(f"{error}. SUBMISSIONS must lie on a file system that all nodes share") from None
    if missing := [one for one in ids if one not in found]:
        raise Unfit(f"it does not see {classrun.some(missing)} in {folder}: SUBMISSIONS must lie on a file system that all nodes share")
    return [found[one] for one in ids]


def grade(board: Board, voice: Voice, stopping: threading.Event) -> None:
    """Raises Unfit, NotWanted, KilledForMemory, sandbox.Stopped."""
    told = board.description()
    ids = [str(one) for one in (store.read_json(board.folder / f"{voice.name}.json") or {}).get("ids", [])]
    voice.check()
    if not ids:
        raise NotWanted("the command has taken this task back")
    folder = Path(told["submissions"])
    submissions = submissions_of(folder, ids)
    prove_sandbox()
    try:
        table = points.load(Path(told["points"]), list(judge.labs_of(classrun.COURSE)))
        box = sandbox.find(stopping=stopping)
        device = gpu.find(classrun.COURSE) if told["gpus"] else None
        remembered = board.folder / f"{voice.name}.timed_out"
        if (known := store.read_json(board.out / "timed_out.json")) is not None:
            store.write(remembered, (board.out / "timed_out.json").read_bytes() if known else "{}")
        the_judge = judge.Judge(classrun.COURSE, table, box, store.secret_of(board.out), told["jobs_at_a_time"], told["only"], device, remembered)
    except check.ERRORS as error:
        raise Unfit(str(error)) from None
    try:
        if fingerprint(the_judge, folder, told["gpus"]) != told["fingerprint"]:
            raise Unfit("it has another state of the course, its points or OUT/secret than the machine that submitted it")
        try:
            the_judge.prepare(print)
        except check.ERRORS as error:
            raise Unfit(str(error)) from None
        TaskRun(the_judge, board.out, submissions, Fence(voice, box), voice).run()
        for warning in the_judge.warnings:
            print(f"note: {warning}", flush=True)
    finally:
        the_judge.close()


def main(arguments: list[str]) -> int:
    board = Board.of(Path(arguments[0]))
    try:
        voice = Voice(board, os.environ["LADDER_TASK"], float(board.description().get("sign_of_life", 5.0)))
    except FileExistsError:
        print("this task has begun before; the command gives its submissions to another one")
        return 1
    node = os.environ.get("SLURMD_NODENAME") or socket.gethostname()
    stopping = check.end_on_signals()
    voice.say("started", node=node)
    check.tidy()
    try:
        grade(board, voice, stopping)
    except Unfit as error:
        voice.say("unfit", why=str(error))
        voice.end(cause="unfit", words=str(error))
        return 1
    except NotWanted as error:
        print(error)
        voice.end(cause="not wanted", words=str(error))
        return 1
    except KilledForMemory:
        voice.end(cause="memory", words=f"more memory than the task has, on {node}")
        return 1
    except (KeyboardInterrupt, sandbox.Stopped):
        voice.end(stopped=True)
        return 130
    except BaseException as error:
        voice.end(cause="killed", words=f"{type(error).__name__}: {error}")
        raise
    voice.end(cause="done")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
