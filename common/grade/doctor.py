"""make check-doctor: proves the sandbox before anything is graded, by trying to get out of it. One line an attempt.

Each attempt runs a program of the course (escapes.cpp) in the sandbox as a submission would be run. The sandbox holds if the program
says that it began and managed nothing, and if what can be seen from outside agrees: nothing was reached, killed or left behind. What could
not be tried proves nothing, and counts as if it had got out.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import roots
import sandbox
import stages

COURSE = Path(__file__).resolve().parents[2]
LIMITS = sandbox.Limits(cpu_seconds=2, wall_seconds=3, memory_mib=512, processes=40, temporary_mib=16, file_mib=32, output_kib=64)
GRACE = 10  # seconds in which what has been killed must be gone, on a busy machine, too
MARK = "ladder-doctor-was-here"
NOT_TRIED = 2  # status of escapes that could not try
UNTRIED = "could not be tried"


@dataclass
class Attempt:
    says: str  # what holds if the sandbox does
    name: str
    arguments: list[str]
    ended_by: tuple[str, ...] = ()  # limits that may end it; empty: it ends by itself


class Doctor:
    def __init__(self, box: sandbox.Sandbox):
        sandbox.adopt_orphans()
        self.box = box
        self.stage = stages.make()
        box.settle(self.stage)
        self.root = self.stage / "run"
        roots.make_run_root(self.root, COURSE, box.helpers())
        program = COURSE / "build/grade/escapes"
        shutil.copyfile(program, self.root / "escapes")
        (self.root / "escapes").chmod(0o755)
        for library in roots.libraries_of(str(program)):
            roots_copy(self.root, library)
        self.other = self.stage / "another-submission"
        self.other.mkdir(mode=0o711)
        (self.other / "kernel.cu").write_text("// of another student\n")
        (self.other / "kernel.cu").chmod(0o644)

    def close(self) -> None:
        stages.remove(self.stage)

    def run(self, attempt: Attempt) -> list[str]:
        """What the attempt managed; empty if it held."""
        uid = self.box.new_user()
        command = self.box.command(["/escapes", attempt.name, *attempt.arguments], self.root, LIMITS, uid)
        mine = set(sandbox.descendants(os.getpid()))
        environment = {**os.environ, "LADDER_DOCTOR": MARK}
        ended = self.box.run(command, LIMITS, environment=environment)
        lines = ended.stdout.decode(errors="replace").split("\n")
        managed = [line.removeprefix("managed ") for line in lines if line.startswith("managed ")][:5]
        # Who is to be ended may end in any way, but for one.
        if lines[0] != f"began {attempt.name}" or ended.status == NOT_TRIED or (ended.status not in (0, 1) and not attempt.ended_by):
            managed.append(f"{UNTRIED}: status {ended.status}, {ended.stderr.decode(errors='replace').strip()[-300:]}")
        elif attempt.ended_by and ended.cause not in attempt.ended_by and not ("killed" in attempt.ended_by and was_killed(ended.status)):
            managed.append("was not ended by its limit")
        if ended.seconds > LIMITS.wall_seconds + GRACE:
            managed.append(f"went on for {ended.seconds:.0f} s")
        left = sandbox.kill_user(uid)
        if uid is None:
            until = time.monotonic() + 3
            while (left := living(mine)) and time.monotonic() < until:
                time.sleep(0.05)
        if left:
            managed.append(f"{left} of its processes were left")
        return [line for line in managed if line]


def was_killed(status: int) -> bool:
    """By a signal: of the sandbox's first process, or of the one in it, of which the first one tells as a shell does."""
    return status < 0 or status > 128


def living(before: set[int]) -> int:
    """How many descendants there are that were not there before."""
    return len([pid for pid in set(sandbox.descendants(os.getpid())) - before if sandbox.state_of(pid)[0] not in ("Z", "")])


def roots_copy(root: Path, library: str) -> None:
    place = root / os.path.normpath(library).lstrip("/")
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(library, place)
        place.chmod(0o755)


def attempts(doctor: Doctor, port: int, abstract: str, victim: int, key: int) -> list[Attempt]:
    home = os.path.expanduser("~")
    # What is in the course's folder, and not the folder: the sandbox has a /course of its own, and the course may lie there, too.
    files = [home, "/root", "/home", "/etc/passwd", "/etc/shadow", "/etc/hostname", str(COURSE / "Makefile"), str(COURSE / "solutions"), "/sys"]
    return [
        Attempt("network: no connection to this machine or beyond", "network", [str(port), abstract]),
        Attempt("files: no home folder, no solutions, nothing of this machine", "read", files),
        Attempt("files: no other submission", "read", [str(doctor.other / "kernel.cu"), str(doctor.other), str(doctor.stage)]),
        Attempt("files: nothing can be written outside of /tmp", "write", []),
        Attempt("files: the disk cannot be flooded", "disk_flood", [str(LIMITS.temporary_mib)]),
        Attempt("processes: none outside is seen, traced or killed", "processes", [str(victim)]),
        Attempt("processes: their number is limited", "fork_bomb", [str(LIMITS.processes)]),
        Attempt("processes: none is left, not even a daemon", "daemon", []),
        Attempt("memory: it is limited, for all processes together", "memory_bomb", [str(LIMITS.memory_mib)], ("memory", "time", "killed")),
        Attempt("memory: none is shared with this machine", "shared_memory", [str(key)]),
        Attempt("rights: no root, no setuid, no capability, no namespace", "privileges", []),
        Attempt("environment: nothing of the judge's is in it", "environment", [MARK[::-1]]),
        Attempt("descriptors: none is inherited, no terminal", "descriptors", []),
        Attempt("devices: none but null, zero, random and the like", "devices", []),
        Attempt("time: who sleeps for ever is ended", "sleeper", [], ("time",)),
        Attempt("time: who computes for ever is ended", "spinner", [], ("time", "killed")),
        Attempt("output: who prints for ever is ended, and little is kept", "output_flood", [], ("time", "killed")),
    ]


def main() -> int:
    try:
        box = sandbox.find(os.environ.get("SANDBOX", ""))
    except sandbox.SandboxError as error:
        print(f"error: {error}", file=sys.stderr)
        print("own files can be graded without a sandbox; submissions of others cannot", file=sys.stderr)
        return 2
    print(f"{box.describe()}, run by {'root' if os.geteuid() == 0 else 'an ordinary user'}")
    doctor = Doctor(box)
    listener = socket.create_server(("127.0.0.1", 0))
    abstract = f"ladder-doctor-{os.getpid()}"
    unix = socket.socket(socket.AF_UNIX)
    unix.bind(b"\0" + abstract.encode())
    unix.listen()
    victim = subprocess.Popen(("sleep", "600"))
    libc = ctypes.CDLL(None)
    key = 0x4C000000 + os.getpid()
    segment = libc.shmget(key, 4096, 0o1666)
    broken = 0
    try:
        for attempt in attempts(doctor, listener.getsockname()[1], abstract, victim.pid, key):
            managed = doctor.run(attempt)
            if victim.poll() is not None:
                managed.append("killed a process outside")
                victim = subprocess.Popen(("sleep", "600"))
            word = "holds  " if not managed else "UNTRIED" if all(line.startswith(UNTRIED) for line in managed) else "ESCAPED"
            print(f"{word}  {attempt.says}" + "".join(f"\n           {line}" for line in managed), flush=True)
            broken += bool(managed)
    finally:
        victim.kill()
        victim.wait()
        listener.close()
        unix.close()
        libc.shmctl(segment, 0, None)
        doctor.close()
    print()
    if broken:
        print(f"{broken} attempts got out or could not be tried: do not grade foreign code on this machine")
        return 1
    print("the sandbox holds; next: make check SUBMISSIONS=folder OUT=folder")
    return 0
