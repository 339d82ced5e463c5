"""The sandbox: what runs in it sees a root of its own and nothing of this machine.

    bubblewrap   fresh user, pid, network, mount, ipc and uts namespaces. Run by root, it is entered as an unprivileged user
                 whose number belongs to no other submission.
    unshare      the same namespaces from util-linux, where there is no bubblewrap.

Around it: an empty environment, a read-only root, a sized /tmp, and limits on cpu time, wall time, memory, processes, the
size of files and of output. Without either tool there is no sandbox, and foreign code is not run.
"""

from __future__ import annotations

import ctypes
import os
import re
import selectors
import shlex
import shutil
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
FIRST_UID, LAST_UID = 50000, 59999  # for submissions, where the judge is root
MIB = 1 << 20
SEEN_LATE = 1.0  # seconds of processor time that a process may take after it was last looked at


class SandboxError(Exception):
    """There is no sandbox here; the text says what to do."""


class Stopped(Exception):
    """Grading has been interrupted: what was being run is not finished, and must not be taken for a result."""


@dataclass(frozen=True)
class Limits:
    cpu_seconds: int
    wall_seconds: float
    memory_mib: int  # of all processes together, and address space of one
    processes: int
    file_mib: int = 1  # size of one file
    temporary_mib: int = 0  # size of /tmp; 0: there is none to write to
    output_kib: int = 256  # of stdout and stderr each; what is more is read and dropped
    devices: tuple[str, ...] = ()  # names in /dev of a GPU, for who may use it
    cores: int = 0  # for the executor's blocks; 0: all


@dataclass
class Ended:
    status: int  # as of subprocess: negative for a signal
    stdout: bytes
    stderr: bytes
    seconds: float
    cause: str = ""  # "time", "memory" or "output" if a limit ended it


def works(command: list[str]) -> str:
    """'' if the command succeeds, else what it said."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=20, cwd="/")
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    text = done.stdout.decode(errors="replace").strip()
    return "" if done.returncode == 0 else text or f"exit status {done.returncode}"


class Users:
    """Hands out user numbers, each once, to a judge that is root."""

    def __init__(self):
        self.lock = threading.Lock()
        taken = set()
        try:
            import pwd
            taken = {entry.pw_uid for entry in pwd.getpwall()}
        except ImportError:
            pass
        free = [uid for uid in range(FIRST_UID, LAST_UID + 1) if uid not in taken]
        start = int.from_bytes(os.urandom(4), "big") % len(free)  # so that two judges hardly meet
        self.numbers = free[start:] + free[:start]
        self.next = 0

    def new(self) -> int:
        with self.lock:
            for _ in range(len(self.numbers)):
                uid = self.numbers[self.next % len(self.numbers)]
                self.next += 1
                if not processes_of(uid):
                    return uid
        raise SandboxError("no user number is free for a submission")


def state_of(pid: int) -> tuple[str, int]:
    """("Z", number of its parent); ("", 0) if there is no such process."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rsplit(b") ", 1)[1].split()
        return fields[0].decode(), int(fields[1])
    except (OSError, IndexError, ValueError):
        return "", 0


def is_ending(pid: int) -> bool:
    """Whether a process has been killed already and only takes its time: it has a SIGKILL waiting, or is being taken apart, which
    for gigabytes of memory takes seconds on a busy machine."""
    pf_exiting, sigkill = 0x4, 1 << (signal.SIGKILL - 1)
    try:
        flags = int(Path(f"/proc/{pid}/stat").read_bytes().rsplit(b") ", 1)[1].split()[6])
        masks = re.findall(r"(?m)^(?:SigPnd|ShdPnd):\s*([0-9a-f]+)", Path(f"/proc/{pid}/status").read_text())
    except (OSError, IndexError, ValueError):
        return True
    return bool(flags & pf_exiting) or any(int(mask, 16) & sigkill for mask in masks)


def processes_of(uid: int) -> list[int]:
    """Those that still run under a user's number; what has ended and only waits to be noticed is none."""
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                if entry.stat().st_uid == uid and state_of(int(entry.name))[0] not in ("Z", "X", ""):
                    found.append(int(entry.name))
            except OSError:
                pass
    return found


_running: set[int] = set()  # what Sandbox.run waits for itself


def ends_with_this_process(command: list[str]) -> list[str]:
    """The same command, ended by the kernel if this process is killed. For programs of the course; a sandbox sees to it itself."""
    program = shutil.which("setpriv")
    return [program, "--pdeathsig", "KILL", "--", *command] if program else command


def adopt_orphans() -> None:
    """What a killed sandbox leaves, its first process, then becomes a child of this process instead of the machine's init, which in a
    container may never look after it."""
    pr_set_child_subreaper = 36
    ctypes.CDLL(None, use_errno=True).prctl(pr_set_child_subreaper, 1, 0, 0, 0)


def reap_orphans() -> None:
    """Takes note of adopted processes that have ended. Only sandboxes are adopted."""
    try:
        children = [int(child) for task in os.listdir("/proc/self/task")
                    for child in Path(f"/proc/self/task/{task}/children").read_text().split()]
    except OSError:
        return
    for pid in children:
        try:
            if pid not in _running and state_of(pid)[0] == "Z" and Path(f"/proc/{pid}/comm").read_text().strip() in ("bwrap", "unshare", "sh", "worker"):
                os.waitpid(pid, os.WNOHANG)
        except OSError:
            pass


def descendants(pid: int) -> list[int]:
    found, todo = [], [pid]
    while todo:
        one = todo.pop()
        found.append(one)
        try:
            for task in os.listdir(f"/proc/{one}/task"):
                todo += [int(child) for child in Path(f"/proc/{one}/task/{task}/children").read_text().split()]
        except OSError:
            pass
    return found


def processor_seconds(pid: int) -> float:
    """What a process has taken so far, of the system's time, too."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rsplit(b") ", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError, ValueError):
        return 0.0


def resident_mib(pids: list[int]) -> float:
    pages = 0
    for pid in pids:
        try:
            pages += int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        except (OSError, IndexError, ValueError):
            pass
    return pages * os.sysconf("SC_PAGE_SIZE") / MIB


@dataclass
class Sandbox:
    """A way to run commands apart. kind: "bwrap", "unshare" or "none" (only for one's own files)."""

    kind: str
    version: str = ""
    users: Users | None = None
    options: list[str] = field(default_factory=list)
    stopping: threading.Event = field(default_factory=threading.Event)  # of this sandbox: another one in this process goes on

    def stop(self) -> None:
        """Ends what run() runs, in all threads, and lets it run nothing more: it raises Stopped."""
        self.stopping.set()

    def go_on(self) -> None:
        """Raises Stopped after stop()."""
        if self.stopping.is_set():
            raise Stopped("interrupted")

    def new_user(self) -> int | None:
        return self.users.new() if self.users else None

    def settle(self, stage: Path) -> None:
        """Puts what the sandbox's users must be able to read into the stage."""
        if self.kind == "unshare":
            shutil.copyfile(HERE / "enter.sh", stage / "enter.sh")
            (stage / "enter.sh").chmod(0o755)
            self.options = [str(stage / "enter.sh")]

    def helpers(self) -> tuple[str, ...]:
        """Programs that must be in a root to enter it."""
        return ("umount", "setpriv") if self.kind == "unshare" else ()

    def describe(self) -> str:
        if self.kind == "none":
            return "no sandbox"
        who = "an unprivileged user of its own" if self.users else "user namespaces"
        return f"{self.version}, {who}"

    def command(self, command: list[str], root: Path, limits: Limits, uid: int | None, mounts: dict[str, Path] | None = None) -> list[str]:
        """The command line that runs `command` in the sandbox. mounts: read-only, place inside -> folder or file outside."""
        # A CUDA process takes hundreds of GiB of addresses, so that its data is limited instead.
        space = "data" if limits.devices else "as"
        inner = ["/usr/bin/prlimit", f"--nproc={limits.processes}", f"--{space}={limits.memory_mib * MIB}", f"--cpu={limits.cpu_seconds}",
                 f"--fsize={limits.file_mib * MIB}", "--core=0", "--nofile=256", "--msgqueue=0", "--memlock=65536", "--", *command]
        outer = [shutil.which("env") or "/usr/bin/env", "-i", "PATH=/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL=C"]
        cores = {"SIMT_CORES": str(limits.cores)} if limits.cores else {}
        outer += [f"{name}={value}" for name, value in cores.items()]
        drop = []
        if self.users:
            drop = [shutil.which("setpriv"), "--reuid", str(uid), "--regid", str(uid), "--clear-groups", "--pdeathsig", "KILL", "--"]
        if self.kind == "bwrap":
            box = [shutil.which("bwrap"), "--unshare-all", "--unshare-user", *self.options, "--new-session", "--die-with-parent",
                   "--uid", "1000", "--gid", "1000", "--hostname", "sandbox", "--ro-bind", str(root), "/", "--proc", "/proc", "--dev", "/dev"]
            for device in limits.devices:
                box += ["--dev-bind", f"/dev/{device}", f"/dev/{device}"]
            box += ["--remount-ro", "/dev"]
            for place, source in (mounts or {}).items():
                box += ["--ro-bind", str(source), place]
            if limits.temporary_mib:
                box += ["--size", str(limits.temporary_mib * MIB), "--tmpfs", "/tmp"]
            for name, value in {"PATH": "/usr/bin", "LC_ALL": "C", **cores}.items():
                box += ["--setenv", name, value]
            return [*outer, *drop, *box, "--chdir", "/course", "--", *inner]
        if self.kind == "unshare":
            # A signal from the parent's death is lost when the user changes, and is asked for again.
            pairs = [f"{source}={place}" for place, source in (mounts or {}).items()]
            box = [shutil.which("unshare"), "--user", "--map-root-user", "--mount", "--pid", "--net", "--ipc", "--uts", "--fork", "--kill-child",
                   "--propagation", "private", "/bin/sh", str(self.options[0]), str(root), str(limits.temporary_mib), " ".join(limits.devices), *pairs, "--"]
            return [*outer, *drop, *box, *inner]
        raise SandboxError("there is no sandbox")

    def run(self, command: list[str], limits: Limits, given: bytes = b"", environment: dict[str, str] | None = None, cwd: str = "/",
            most_stdout: int | None = None) -> Ended:
        """Runs a command line, of command() or the course's own, to its end, or to that of its limits, and leaves no process behind. most_stdout: bytes of stdout that
        are kept; one more ends it. Raises Stopped."""
        self.go_on()
        keep = {"stdout": most_stdout if most_stdout is not None else limits.output_kib * 1024, "stderr": limits.output_kib * 1024}
        begun = time.monotonic()
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd, env=environment,
                                   start_new_session=True)
        _running.add(process.pid)
        got = {"stdout": bytearray(), "stderr": bytearray()}
        cause, worked = "", 0.0  # worked: most seconds of processor time that one of its processes was seen to have

        def feed() -> None:
            try:
                process.stdin.write(given)
                process.stdin.close()
            except OSError:
                pass

        threading.Thread(target=feed, daemon=True).start()
        with selectors.DefaultSelector() as waiting:
            waiting.register(process.stdout, selectors.EVENT_READ, "stdout")
            waiting.register(process.stderr, selectors.EVENT_READ, "stderr")
            looked = begun
            while waiting.get_map():
                for key, _ in waiting.select(timeout=0.1):
                    data = os.read(key.fd, 65536)
                    if not data:
                        waiting.unregister(key.fileobj)
                    elif len(got[key.data]) < keep[key.data]:
                        got[key.data] += data[: keep[key.data] - len(got[key.data])]
                    elif key.data == "stdout" and most_stdout is not None:
                        cause = cause or "output"
                now = time.monotonic()
                if self.stopping.is_set():
                    break
                if now - begun > limits.wall_seconds:
                    cause = cause or "time"
                elif now - looked > 0.2:
                    looked = now
                    family = descendants(process.pid)
                    worked = max(worked, *map(processor_seconds, family))
                    if resident_mib(family) > limits.memory_mib:
                        cause = cause or "memory"
                if cause or (process.poll() is not None and not waiting.select(timeout=0)):
                    break
        kill_tree(process)
        # The kernel ends who has used up its processor time, and what is seen of that differs: unshare 2.38 ends with status 1.
        if process.returncode and worked >= limits.cpu_seconds - SEEN_LATE:
            cause = cause or "time"
        for pipe in (process.stdout, process.stderr):
            pipe.close()
        self.go_on()
        return Ended(process.returncode, bytes(got["stdout"]), bytes(got["stderr"]), time.monotonic() - begun, cause)


WHAT_TO_INSTALL = ("install bubblewrap (apt-get install bubblewrap); without it util-linux's unshare and setpriv are used, where user "
                   "namespaces are allowed (sysctl kernel.unprivileged_userns_clone=1, user.max_user_namespaces > 0, and on Ubuntu "
                   "kernel.apparmor_restrict_unprivileged_userns=0)")


def find(wanted: str = "", stopping: threading.Event | None = None) -> Sandbox:
    """The best sandbox that works on this machine. wanted: only this kind. stopping: set by whoever interrupts. Raises SandboxError."""
    problems: list[str] = []
    root = os.geteuid() == 0
    if root and not shutil.which("setpriv"):
        raise SandboxError("there is no sandbox: setpriv is missing; " + WHAT_TO_INSTALL)
    if not shutil.which("prlimit"):
        raise SandboxError("there is no sandbox: prlimit is missing; " + WHAT_TO_INSTALL)
    users = Users() if root else None
    for kind in ("bwrap", "unshare"):
        if wanted and kind != wanted:
            continue
        program = shutil.which(kind)
        if not program:
            problems.append(f"{'bubblewrap' if kind == 'bwrap' else kind} is not installed")
            continue
        version = subprocess.run((program, "--version"), stdout=subprocess.PIPE, text=True).stdout.strip()
        options: list[str] = []
        if kind == "bwrap":
            usage = subprocess.run((program, "--help"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
            options = [option for option in ("--disable-userns", "--clearenv") if option in usage]
        if problems and not wanted:
            version += f" ({'; '.join(problems)})"
        sandbox = Sandbox(kind, version, users, options, stopping or threading.Event())
        drop = ["setpriv", "--reuid", str(LAST_UID), "--regid", str(LAST_UID), "--clear-groups", "--"] if root else []
        trial = {"bwrap": ["bwrap", "--unshare-all", "--unshare-user", *options, "--ro-bind", "/", "/", "--proc", "/proc", "true"],
                 "unshare": ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--net", "--ipc", "--uts", "--fork", "true"]}[kind]
        said = works(drop + trial)
        if not said:
            return sandbox
        problems.append(f"{kind} does not work here: {said}")
    raise SandboxError(f"there is no sandbox: {'; '.join(problems)}. To get one, {WHAT_TO_INSTALL}")



def kill_tree(process: subprocess.Popen) -> None:
    """Ends a process and what it has started. Killing the first process of a pid namespace ends all that is in it."""
    family = descendants(process.pid)
    for pid in family:
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass
    process.wait()
    _running.discard(process.pid)
    reap_orphans()


def kill_user(uid: int | None, grace: float = 3.0) -> int:
    """Ends whatever still runs under a submission's user. Returns how many processes nobody had ended after the grace in which a
    namespace is taken down: 0, or the sandbox has not done its work. Who has been killed and is still ending is none of them."""
    if uid is None:
        return 0
    until = time.monotonic() + grace
    while (left := [pid for pid in processes_of(uid) if not is_ending(pid)]) and time.monotonic() < until:
        time.sleep(0.02)
    for pid in processes_of(uid):
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass
    return len(left)
