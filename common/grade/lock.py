"""One grader at a time writes into a folder: FOLDER/lock says who, since when and on which machine.

The lock is a file that only one process can create: a hard link to a file that is already written, which is atomic on local file
systems and on NFS. A process that has died gives the lock up: on its own machine that is seen at once, from its process number
and the time of its start. From another machine it cannot be seen; there the lock counts as given up after SILENT seconds without a
sign of life, which is the file's time. A holder that was silent for so long (a laptop that slept) finds out before its next
write, by `check`, that the lock is no longer its own.
"""

from __future__ import annotations

import getpass
import json
import os
import socket
import threading
import time
from datetime import datetime
from pathlib import Path

NAME = "lock"
SIGN_OF_LIFE = 20.0  # seconds between two
SILENT = 300.0


class LockError(Exception):
    """Somebody else has the folder; the text says who, and what to do."""


def _start_of(pid: int) -> str:
    """When the process was started, in ticks since the machine was; "" if there is none. A number is used again, this is not."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rsplit(b") ", 1)[1].split()
        return "" if fields[0] in (b"Z", b"X") else fields[19].decode()
    except (OSError, IndexError):
        return ""


def _machine() -> str:
    """The run of the machine and the space of process numbers (a container has its own) in which a process number means something."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return f"{socket.gethostname()} ?"


def now_in(folder: Path) -> float:
    """The time by the clock of the file system, which all machines see."""
    probe = folder / f"{NAME}.{os.getpid()}.{os.urandom(4).hex()}.time"
    try:
        probe.touch()
        return probe.stat().st_mtime
    except OSError:
        return time.time()
    finally:
        probe.unlink(missing_ok=True)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.geteuid())


class Lock:
    """Taken for a while, by one thread:  with Lock(folder): ...   Raises LockError."""

    def __init__(self, folder: Path, doing: str = "graded into"):
        self.folder, self.path, self.doing = folder, folder / NAME, doing
        self.token = os.urandom(16).hex()
        self.taken_over = ""  # in words, from whom
        self.ended = threading.Event()

    def __enter__(self) -> Lock:
        mine = self._write_own()
        try:
            while not self._link(mine):
                holder = self._holder()
                if holder is None:
                    continue  # it was given up in between
                if self._lives(holder):
                    raise LockError(f"{self.folder} is being {self.doing} by {self._words(holder)}: wait until it has ended, or use "
                                    f"another folder. If that machine is gone for good: rm {self.path}")
                self._remove_stale(holder)
        finally:
            mine.unlink(missing_ok=True)
        threading.Thread(target=self._show_life, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        if self.is_mine():
            self.path.unlink(missing_ok=True)

    def is_mine(self) -> bool:
        holder = self._holder()
        return holder is not None and holder.get("token") == self.token

    def check(self) -> None:
        """Before each write. Raises LockError."""
        if not self.is_mine():
            holder = self._holder()
            now = f"; {self._words(holder)} has it now" if holder else ""
            raise LockError(f"this grader no longer has {self.folder}: its lock was removed, or it gave no sign of life for "
                            f"{SILENT / 60:.0f} minutes{now}. What it has graded is kept; start it again")

    # ---- The file ----------------------------------------------------------------------------------

    def _write_own(self) -> Path:
        mine = self.folder / f"{NAME}.{self.token}"
        text = json.dumps({"user": _user(), "host": socket.gethostname(), "pid": os.getpid(), "start": _start_of(os.getpid()),
                           "machine": _machine(), "since": datetime.now().astimezone().isoformat(timespec="seconds"), "token": self.token})
        with mine.open("w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        return mine

    def _link(self, mine: Path) -> bool:
        try:
            os.link(mine, self.path)
            return True
        except FileExistsError:
            return False
        except OSError:
            # NFS may have done it and lost the answer. And a file system without hard links (FAT, some network drives) can still create
            # a file that is not there yet.
            if self.is_mine():
                return True
        try:
            with os.fdopen(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "w") as file:
                file.write(mine.read_text())
            return True
        except FileExistsError:
            return False

    def _holder(self) -> dict | None:
        """What the lock says, with `age`, the seconds since the last sign of life by the clock of the file system; None if there is none."""
        try:
            with self.path.open() as file:
                text, status = file.read(), os.fstat(file.fileno())
        except FileNotFoundError:
            return None
        try:
            holder = json.loads(text)
        except ValueError:
            holder = {}  # being written, or not ours: only its age counts
        holder = holder if isinstance(holder, dict) else {}
        return {**holder, "age": now_in(self.folder) - status.st_mtime}

    def _lives(self, holder: dict) -> bool:
        if holder.get("machine") == _machine() and isinstance(holder.get("pid"), int):
            return _start_of(holder["pid"]) == holder.get("start") != ""
        return holder["age"] < SILENT

    def _words(self, holder: dict) -> str:
        age = max(0, holder["age"])
        ago = f"{age:.0f} s" if age < 100 else f"{age / 60:.0f} min"
        return (f"{holder.get('user', 'somebody')} on {holder.get('host', 'an unknown machine')} (process {holder.get('pid', '?')}, since "
                f"{holder.get('since', '?')}, last sign of life {ago} ago)")

    def _remove_stale(self, holder: dict) -> None:
        """One process at a time, or the second would remove the new lock of the first."""
        turn = self.folder / f"{NAME}.turn"
        try:
            os.close(os.open(turn, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644))
        except FileExistsError:
            try:
                if now_in(self.folder) - turn.stat().st_mtime > 10:  # whose turn it was has died in it
                    turn.unlink(missing_ok=True)
            except FileNotFoundError:
                pass
            time.sleep(0.1)
            return
        try:
            now = self._holder()
            if now and now.get("token") == holder.get("token") and not self._lives(now):
                self.taken_over = self._words(now)
                self.path.unlink(missing_ok=True)
        finally:
            turn.unlink(missing_ok=True)

    def _show_life(self) -> None:
        while not self.ended.wait(SIGN_OF_LIFE):
            try:
                if self.is_mine():
                    os.utime(self.path)
            except OSError:
                pass  # the file system may be away for a moment
