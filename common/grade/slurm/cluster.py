"""A Slurm of one's own, for tests: slurmctld and two nodes on this machine, with folders and ports of their own, as an ordinary user.

Where the tests are run by root the daemons, the commands and the tasks are those of `nobody`, if that user can read the course.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import sandbox

COURSE = Path(__file__).resolve().parents[3]
NODES = ("n1", "n2")
CORES = 3  # of each, as far as Slurm knows
CONFIGURATION = """
ClusterName=ladder-test
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
SlurmctldPort={ctld_port}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerParameters=sched_interval=1,batch_sched_delay=0,bf_interval=1,sched_min_interval=0
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
ReturnToService=2
KillWait=2
SlurmdParameters=config_overrides
{nodes}
PartitionName=main Nodes=ALL Default=YES State=UP MaxTime=INFINITE
"""

# Waits for the end of the tests, and ends what they had no time to end because they were killed.
GUARD = """
import os, shutil, signal, sys, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
sys.stdin.read()
folder, until = sys.argv[1], time.monotonic() + 60
quiet = 0  # rounds in which nothing was left: a process may be forked while the others are looked at
while quiet < 5 and time.monotonic() < until:
    quiet += not os.path.exists(folder)
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                if f"SLURM_CONF={folder}/".encode() in file.read() and int(pid) != os.getpid():
                    quiet = 0
                    os.kill(int(pid), signal.SIGKILL)
        except OSError:
            pass
    shutil.rmtree(folder, ignore_errors=True)
    time.sleep(0.1)
"""


class Ended(AssertionError):
    """A daemon of the cluster has ended by itself; the text says which, and what it wrote."""


def why_not(null: str = "/dev/null") -> str:
    """'' where such a cluster can be started. null: what slurmd opens for reading and writing."""
    if missing := [name for name in ("slurmctld", "slurmd", "sbatch") if not program(name)]:
        return f"{', '.join(missing)} not installed (apt-get install slurm-wlm)"
    user, prefix = ordinary_user()
    said = sandbox.works([*prefix, "sh", "-c", ': <>"$1"', "sh", null])
    return f"the cluster's user, {user}, cannot open {null} for reading and writing, and slurmd does not start without: {said}" if said else ""


def program(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


def ordinary_user() -> tuple[str, list[str]]:
    """Whose the cluster is, and what makes a command line one of that user's."""
    import pwd
    mine = pwd.getpwuid(os.geteuid()).pw_name
    other = ["setpriv", "--reuid", "nobody", "--regid", str(pwd.getpwnam("nobody").pw_gid), "--clear-groups", "--"]
    if os.geteuid() == 0 and shutil.which("setpriv"):
        if not sandbox.works([*other, "test", "-r", str(COURSE / "Makefile"), "-a", "-x", sys.executable]):
            return "nobody", other
    return mine, []


def free_ports(number: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


class Cluster:
    """folder: for what tests make; the cluster's user can write there."""

    def __init__(self):
        sandbox.adopt_orphans()  # what a daemon leaves behind becomes this process's, and is ended by it
        self.before = set(sandbox.descendants(os.getpid()))
        self.user, self.prefix = ordinary_user()
        self.folder = Path(tempfile.mkdtemp(prefix="ladder-slurm-"))
        self.daemons: dict[str, subprocess.Popen] = {}
        host = socket.gethostname().split(".")[0]
        ports = free_ports(1 + len(NODES))
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM", "SBATCH", "LADDER"))}
        self.environment |= {"SLURM_CONF": str(self.folder / "slurm.conf"), "HOME": str(self.folder), "USER": self.user, "LOGNAME": self.user,
                             "TMPDIR": str(self.folder / "tmp"), "PYTHONDONTWRITEBYTECODE": "1"}
        nodes = "\n".join(f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={CORES} RealMemory=64000"
                          for name, port in zip(NODES, ports[1:]))
        text = CONFIGURATION.format(host=host, user=self.user, ctld_port=ports[0], folder=self.folder, nodes=nodes)
        (self.folder / "slurm.conf").write_text(text)
        for name in ("state", "tmp", *(f"spool.{node}" for node in NODES)):
            (self.folder / name).mkdir()
        if self.prefix:
            for path in (self.folder, *self.folder.iterdir()):
                shutil.chown(path, self.user)
        self.folder.chmod(0o755)

    def __enter__(self) -> Cluster:
        self.guard = subprocess.Popen([sys.executable, "-c", GUARD, str(self.folder)], stdin=subprocess.PIPE, start_new_session=True)
        self.before.add(self.guard.pid)
        try:
            for name in ("slurmctld", *NODES):
                self.start(name)
            self.wait_for_nodes()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self, name: str, inside: list[str] | None = None) -> None:
        """A daemon. inside: a command line that runs it, as in a sandbox."""
        command = [program("slurmctld"), "-D"] if name == "slurmctld" else [program("slurmd"), "-D", "-N", name]
        with (self.folder / f"{name}.out").open("ab") as output:
            self.daemons[name] = subprocess.Popen(sandbox.ends_with_this_process([*self.prefix, *(inside or []), *command]), env=self.environment,
                                                  stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd=self.folder)

    def stop(self, name: str, how: int = signal.SIGTERM) -> None:
        daemon = self.daemons.pop(name)
        daemon.send_signal(how)
        daemon.wait(60)

    def __exit__(self, *_: object) -> None:
        """Ends everything that was begun since: daemons, steps, tasks and what they started."""
        until = time.monotonic() + 60
        while (left := set(sandbox.descendants(os.getpid())) - self.before) and time.monotonic() < until:
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    pass
            for daemon in self.daemons.values():
                daemon.poll()
            for pid in left - {daemon.pid for daemon in self.daemons.values()}:
                try:
                    os.waitpid(pid, os.WNOHANG)
                except OSError:
                    pass
            time.sleep(0.02)
        self.guard.stdin.close()
        self.guard.wait(60)  # it removes the folder

    def wait_for_nodes(self) -> None:
        self.wait(lambda: self.says("sinfo", "-h", "-N", "-o", "%T").split() == ["idle"] * len(NODES), "the nodes do not come up")

    # ---- For tests -----------------------------------------------------------------------------------

    def says(self, *command: str) -> str:
        done = subprocess.run([*self.prefix, *command], env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=60, cwd=self.folder)
        return done.stdout

    def begin(self, command: list[str], output: Path, **variables: str) -> subprocess.Popen:
        """A command of the cluster's user."""
        with output.open("wb") as file:
            return subprocess.Popen([*self.prefix, *command], env={**self.environment, **variables}, stdin=subprocess.DEVNULL, stdout=file,
                                    stderr=subprocess.STDOUT, cwd=self.folder)

    def wait(self, is_so, otherwise: str, seconds: float = 120.0) -> None:
        """Raises Ended as soon as there is no hope: a daemon has ended that no test has stopped."""
        until = time.monotonic() + seconds
        while not is_so():
            if ended := {name: daemon.returncode for name, daemon in self.daemons.items() if daemon.poll() is not None}:
                who = ", ".join(f"{name} has ended (status {status})" for name, status in ended.items())
                raise Ended(f"{otherwise}: {who}\n{self.logs(*ended)}")
            if time.monotonic() > until:
                raise AssertionError(f"{otherwise}\n{self.says('squeue', '-t', 'all')}\n{self.logs()}")
            time.sleep(0.1)

    def logs(self, *names: str) -> str:
        """The ends of what the daemons have written; names: of these alone."""
        files = sorted(path for ending in ("log", "out") for path in self.folder.glob(f"*.{ending}"))
        return "\n".join(f"--- {path.name}\n{path.read_text(errors='replace')[-1500:]}" for path in files
                         if path.stat().st_size and (not names or path.stem.removeprefix("slurmd.") in names))
