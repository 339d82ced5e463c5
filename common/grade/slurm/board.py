"""OUT/slurm: what the command and its tasks on the nodes tell each other, in files alone.

    OUT/slurm/current               which run may write into OUT; the tasks of any other write nothing
    OUT/slurm/<run>/run.json        what is graded, and how
    OUT/slurm/<run>/<task>.json     which submissions a task has
    OUT/slurm/<run>/<task>.events   what it has done, a line each; the file's time is the task's sign of life
    OUT/slurm/<run>/<task>.over     the command has given the task up, and why: it writes nothing more
    OUT/slurm/<run>/<task>.log      what it printed

A task that Slurm has given up may live on, on a node that has lost the network. So a task asks before each write whether it is still
wanted, and nobody else is given its submissions before it is told that it is not. The command itself keeps nothing in its head: another one
finds all of this, and goes on.
"""

from __future__ import annotations

import json
import os
import threading
from dataclasses import dataclass, field
from pathlib import Path

import store
from lock import now_in

SIGN_OF_LIFE = 5.0  # seconds between two; a run may have another
SILENT = 300.0  # seconds after which a task of which nothing else is known counts as dead


class NotWanted(Exception):
    """This task may write nothing more; the text says why."""


@dataclass
class Task:
    """One task, as its files show it."""

    name: str
    ids: list[str]
    alone: bool  # it has one submission, one that another task has died of
    events: list[dict] = field(default_factory=list)
    over: dict | None = None
    age: float | None = None  # seconds since the last sign of life; None: it has not begun

    def _of(self, event: str) -> list[dict]:
        return [entry for entry in self.events if entry.get("event") == event]

    @property
    def begun(self) -> bool:
        return self.age is not None

    @property
    def ended(self) -> dict | None:
        return next(iter(self._of("ended")), None)

    @property
    def unfit(self) -> str:
        return next((str(entry.get("why", "")) for entry in self._of("unfit")), "")

    @property
    def node(self) -> str:
        return next((str(entry.get("node", "")) for entry in self._of("started")), "")

    @property
    def finished(self) -> dict[str, dict]:
        """id -> the event, of what it has graded or could not grade."""
        return {str(entry.get("id")): entry for entry in self.events if entry.get("event") in ("graded", "failed")}

    @property
    def unfinished(self) -> list[str]:
        """What it had begun and did not finish."""
        finished = self.finished
        return [str(entry.get("id")) for entry in self._of("began") if entry.get("id") not in finished]


def counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def current(out: Path) -> str:
    try:
        return (out / "slurm/current").read_text().strip()
    except OSError:
        return ""


class Board:
    """The folder of one run."""

    def __init__(self, out: Path, run: str):
        self.out, self.run = out, run
        self.folder = out / "slurm" / run

    @classmethod
    def of(cls, folder: Path) -> Board:
        return cls(folder.parents[1], folder.name)

    @classmethod
    def new(cls, out: Path, description: dict) -> Board:
        board = cls(out, os.urandom(4).hex())
        board.folder.mkdir(parents=True)
        store.write(board.folder / "run.json", json.dumps(description))
        store.write(out / "slurm/current", board.run)
        return board

    def is_current(self) -> bool:
        return current(self.out) == self.run

    def end(self) -> None:
        """From now on no task of it writes anything."""
        if self.is_current():
            (self.out / "slurm/current").unlink(missing_ok=True)

    def description(self) -> dict:
        return store.read_json(self.folder / "run.json") or {}

    def update(self, **changes: object) -> None:
        store.write(self.folder / "run.json", json.dumps({**self.description(), **changes}))

    # ---- Tasks, as the command sees them ---------------------------------------------------------------

    def add(self, name: str, ids: list[str], alone: bool) -> None:
        store.write(self.folder / f"{name}.json", json.dumps({"ids": ids, "alone": alone}))

    def take_back(self, name: str) -> None:
        (self.folder / f"{name}.json").unlink(missing_ok=True)

    def give_up(self, name: str, **why: object) -> None:
        store.write(self.folder / f"{name}.over", json.dumps(why))

    def tasks(self) -> list[Task]:
        now = now_in(self.folder)
        return [self._task(path, now) for path in sorted(self.folder.glob("w*-*.json"), key=_by_number)]

    def _task(self, path: Path, now: float) -> Task:
        told = store.read_json(path) or {}
        task = Task(path.stem, [str(one) for one in told.get("ids", [])], bool(told.get("alone")), over=store.read_json(path.with_suffix(".over")))
        try:
            with path.with_suffix(".events").open("rb") as file:
                lines, task.age = file.read().split(b"\n"), max(0.0, now - os.fstat(file.fileno()).st_mtime)
        except OSError:
            return task
        for line in lines[:-1]:  # the last one is empty, or still being written
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if isinstance(entry, dict):
                task.events.append(entry)
        return task

    def log_of(self, name: str, most: int = 400) -> str:
        try:
            return (self.folder / f"{name}.log").read_text(errors="replace").strip()[-most:]
        except OSError:
            return ""


def _by_number(path: Path) -> tuple[int, int]:
    wave, _, index = path.stem[1:].partition("-")
    return (int(wave) if wave.isdigit() else 0, int(index) if index.isdigit() else 0)


class Voice:
    """What a task says, and its signs of life. Raises FileExistsError if a task of this name has begun before: none begins twice."""

    def __init__(self, board: Board, name: str, sign_of_life: float = SIGN_OF_LIFE):
        self.board, self.name = board, name
        self.path = board.folder / f"{name}.events"
        self.lock, self.silent = threading.Lock(), threading.Event()
        os.close(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644))
        threading.Thread(target=self._show_life, args=(sign_of_life,), daemon=True).start()

    def say(self, event: str, **more: object) -> None:
        """Closed after each line: others on a network file system see what has been closed."""
        line = json.dumps({"event": event, **more}).encode() + b"\n"
        with self.lock, self.path.open("ab") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())

    def check(self) -> None:
        """Raises NotWanted."""
        if not self.board.is_current():
            raise NotWanted("the run that this task belongs to has ended")
        if (self.board.folder / f"{self.name}.over").exists():
            raise NotWanted("the command has given this task up")

    def end(self, **more: object) -> None:
        self.say("ended", **more)
        self.silent.set()

    def _show_life(self, seconds: float) -> None:
        while not self.silent.wait(seconds):
            try:
                os.utime(self.path)
            except OSError:
                pass  # the file system may be away for a moment


def refuse_beside_tasks(out: Path, error: type[Exception]) -> None:
    """For who has OUT's lock and grades on this machine: raises `error` while tasks of a command that has died still grade into OUT. Those
    that wait in the queue will find that they are not wanted."""
    run = current(out)
    if not run:
        return
    board = Board(out, run)
    if not (living := _living(board)):
        board.end()
        if living := _living(board):  # one has begun meanwhile
            store.write(out / "slurm/current", run)
    if living:
        jobs = [str(job) for job in board.description().get("jobs", [])]
        nodes = ", ".join(sorted({task.node for task in living}))
        verb = "grades" if len(living) == 1 else "grade"
        raise error(f"{counted(len(living), 'task')} of Slurm job {', '.join(jobs)} still {verb} into {out} (on {nodes}; the last sign of life was "
                    f"{min(task.age or 0 for task in living):.0f} s ago). The same command with ON=slurm goes on with them; `scancel {' '.join(jobs)}` "
                    f"ends them")


def _living(board: Board) -> list[Task]:
    return [task for task in board.tasks() if task.age is not None and not task.ended and not task.over and task.age < SILENT]
