"""Slurm's commands: sbatch, squeue, scancel, sinfo. What they refuse is told apart from no answer, after which nobody knows."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass, field

NO_ANSWER = re.compile(r"(?i)unable to contact|socket timed out|connection refused|zero bytes|temporarily|transport endpoint|timed out|not respond|"
                       r"connection reset|communication connection failure|no route|unreachable|backup")
# States of a task that may still grade something. Every other one is an end.
LIVING = {"PENDING", "RUNNING", "CONFIGURING", "COMPLETING", "SUSPENDED", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "RESIZING", "SIGNALING", "STAGE_OUT",
          "STOPPED", "SPECIAL_EXIT"}
# Reasons for which a task waits for ever.
NEVER = {"BadConstraints", "PartitionConfig", "PartitionNodeLimit", "PartitionTimeLimit", "AccountNotAllowed", "InvalidAccount", "InvalidQOS", "QOSNotAllowed"}
MOST_IN_AN_ARRAY = 100  # tasks; Slurm's own limit is 1000 by default, and some sites' is lower


class Refused(Exception):
    """Slurm said no; the text is what it said."""


class NoAnswer(Exception):
    """Slurm did not answer: what was asked may have been done or not."""


@dataclass(frozen=True)
class Options:
    partition: str = ""
    account: str = ""
    qos: str = ""
    time: str = ""
    memory: str = ""
    gpus: int = 0
    exclusive: bool = False
    cores: int = 2  # submissions at a time in a task
    per_task: int = 20
    memory_of_one_mib: int = 3072

    def arguments(self) -> list[str]:
        """What the variables say; sbatch's own SBATCH_... hold where they say nothing."""
        chosen = [f"--cpus-per-task={self.cores}", "--ntasks=1", "--nodes=1", "--no-requeue", "--output=/dev/null", "--error=/dev/null"]
        for name, value in (("partition", self.partition), ("account", self.account), ("qos", self.qos), ("time", self.time)):
            if value:
                chosen.append(f"--{name}={value}")
        if self.memory:
            chosen.append(f"--mem={self.memory}")
        elif self.exclusive:
            chosen.append("--mem=0")  # all that the node has
        elif not any(f"SBATCH_MEM_PER_{what}" in os.environ for what in ("NODE", "CPU", "GPU")):
            chosen.append(f"--mem={self.cores * self.memory_of_one_mib + 1024}M")
        if self.gpus:
            chosen.append(f"--gres=gpu:{self.gpus}")
        if self.exclusive:
            chosen.append("--exclusive")
        return chosen


def options_from(given: dict[str, str], cores: int, memory_of_one_mib: int) -> Options:
    """By the names of make's variables. Raises ValueError; the text says which is wrong."""
    def number(name: str, least: int, most: int, otherwise: int) -> int:
        text = given.get(name, "") or str(otherwise)
        if not text.isdigit() or not least <= int(text) <= most:
            raise ValueError(f"{name}={text}: it can be a number from {least} to {most}")
        return int(text)

    gpus = number("GPUS", 0, 64, 0)
    if given.get("EXCLUSIVE", "") not in ("", "0", "1"):
        raise ValueError(f"EXCLUSIVE={given['EXCLUSIVE']}: it can be 1 or 0")
    # What is timed beside another job is timed wrong.
    exclusive = given.get("EXCLUSIVE") == "1" or (gpus > 0 and given.get("EXCLUSIVE") != "0")
    return Options(given.get("PARTITION", ""), given.get("ACCOUNT", ""), given.get("QOS", ""), given.get("TIME", ""), given.get("MEM", ""), gpus, exclusive,
                   cores, number("PER_TASK", 1, 50, 20), memory_of_one_mib)


@dataclass
class Job:
    """A task, as Slurm sees it."""

    job: str
    state: str
    reason: str = ""
    nodes: str = ""
    exit_code: int = 0  # as wait() gives it

    @property
    def lives(self) -> bool:
        return self.state in LIVING

    @property
    def cause(self) -> str:
        """Why it ended: "node", "cancelled", or what its submission may have to do with: "time", "memory", "killed"."""
        if self.state in ("NODE_FAIL", "BOOT_FAIL", "PREEMPTED", "REVOKED"):
            return "node"
        if self.state == "CANCELLED":
            return "cancelled"
        if self.state in ("TIMEOUT", "DEADLINE"):
            return "time"
        return "memory" if self.state == "OUT_OF_MEMORY" else "killed"

    def words(self) -> str:
        signal, status = self.exit_code & 127, self.exit_code >> 8
        how = f", signal {signal}" if signal else f", exit status {status}" if status else ""
        return f"{self.state}{how}" + (f" on {self.nodes}" if self.nodes else "")


def wait_status(text: str) -> int:
    """squeue's exit_code as wait() gives it, which is what Slurm 22 prints; Slurm 23 prints "3:0", the status and the signal. 0 for anything else."""
    status, colon, signal = text.partition(":")
    if not status.isdigit() or (colon and not signal.isdigit()):
        return 0
    return int(status) << 8 | int(signal) if colon else int(status)


def _ask(command: list[str], given: str = "", environment: dict[str, str] | None = None) -> str:
    try:
        done = subprocess.run(command, input=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60, env=environment, errors="replace")
    except FileNotFoundError:
        raise Refused(f"{command[0]} is not installed here: ON=slurm is for a machine from which jobs are submitted") from None
    except subprocess.TimeoutExpired:
        raise NoAnswer(f"{command[0]} did not answer within a minute") from None
    if done.returncode:
        text = " ".join(re.sub(rf"^{command[0]}: (?:error: )?", "", line) for line in done.stderr.strip().splitlines()) or f"exit status {done.returncode}"
        raise (NoAnswer if NO_ANSWER.search(text) else Refused)(f"{command[0]}: {text}")
    return done.stdout


def _environment() -> dict[str, str]:
    """For tasks: without the options of the command, which they are told in a file."""
    options = {*os.environ.get("KNOWN_OPTIONS", "").split(), "KNOWN_OPTIONS", "UNKNOWN_OPTIONS", "MAKEFLAGS", "MAKELEVEL", "MFLAGS", "MAKEOVERRIDES"}
    return {name: value for name, value in os.environ.items() if name not in options}


@dataclass
class Slurm:
    """As the user who runs this."""

    options: Options = field(default_factory=Options)

    def submit(self, name: str, count: int, script: str, exclude: list[str]) -> str:
        """The number of the job: an array of `count` tasks. Raises Refused, NoAnswer."""
        command = ["sbatch", "--parsable", f"--job-name={name}", f"--array=0-{count - 1}", *self.options.arguments()]
        if exclude:
            command.append(f"--exclude={','.join(sorted(exclude))}")
        return _ask(command, script, _environment()).strip().split(";")[0]

    def jobs(self, run: str) -> dict[str, Job]:
        """Task -> what became of it, for those that Slurm still knows. Raises NoAnswer."""
        widths = (("Name", 80), ("ArrayJobID", 20), ("ArrayTaskID", 20), ("State", 20), ("Reason", 60), ("NodeList", 120), ("exit_code", 20))
        try:
            text = _ask(["squeue", "--noheader", "--array", "--states=all", f"--user={os.geteuid()}", "-O",
                         ",".join(f"{name}:{width}" for name, width in widths)])
        except Refused as error:  # it was there when the tasks were submitted
            raise NoAnswer(str(error)) from None
        found = {}
        for line in text.splitlines():
            cells, place = [], 0
            for _, width in widths:
                cells.append(line[place:place + width].strip())
                place += width
            name, job, index, state, reason, nodes, code = cells
            if name.startswith(f"ladder-{run}-"):
                entry = Job(job, state, reason, nodes, wait_status(code))
                task = f"{name.removeprefix(f'ladder-{run}-')}-{index}"
                if task not in found or entry.lives:  # sbatch may have been heard twice
                    found[task] = entry
        return found

    def cancel(self, jobs: list[str]) -> None:
        """As far as it can be done."""
        try:
            if jobs:
                _ask(["scancel", *jobs])
        except (Refused, NoAnswer):
            pass

    def cancel_run(self, run: str) -> None:
        try:
            self.cancel(sorted({job.job for job in self.jobs(run).values() if job.lives}))
        except NoAnswer:
            pass

    def nodes(self) -> set[str]:
        """Those that a task could run on; none if that cannot be known."""
        command = ["sinfo", "--noheader", "--Node", "-O", "NodeList:120"]
        if partition := self.options.partition or os.environ.get("SBATCH_PARTITION", ""):
            command.append(f"--partition={partition}")
        try:
            return set(_ask(command).split())
        except (Refused, NoAnswer):
            return set()
