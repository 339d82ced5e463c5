"""What lies between the judge and a program in the sandbox: the script that starts it there, a run of a lab's tests with it, and what a limit
of time is on a busy machine."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import sandbox

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from course import runs  # noqa: E402


MOST_TIMES = 4  # or one who fills the machine would wait for long


def times_longer(load: float | None = None, cores: int | None = None) -> float:
    """How many times longer work takes on a machine that has more to do than it has cores: 1 to MOST_TIMES. Limits of time by the clock are
    multiplied by it when something begins; those of processor time are not."""
    if load is None:
        load = os.getloadavg()[0]
    return min(max(load / (cores or os.cpu_count() or 1), 1.0), MOST_TIMES)


def write_script(path: Path, command: str) -> None:
    path.write_text(f"#!/bin/sh\ncd /\nexec {command}\n")
    path.chmod(0o755)


def run_tests(box: sandbox.Sandbox, course: Path, lab: str, private: Path, limits: sandbox.Limits, request: dict, environment: dict[str, str],
              hidden: str = "") -> tuple[list[dict], sandbox.Ended]:
    """A lab's tests as the judge asks for them: their events, and how they ended. private: a folder that no submission can enter; it has
    source.cu. hidden: a folder of which no text may speak. Raises sandbox.Stopped."""
    asked, record = private / "request", private / "record"
    runs.write_request(asked, {"source": str(private / "source.cu"), "events": str(record), "judged": True, "backend_shown": True, **request})
    # Their output is of no interest: the record counts, which no other process can write.
    command = sandbox.ends_with_this_process([str(course / f"build/cpu/tests/{lab}"), str(asked)])
    ended = box.run(command, limits, environment={"PATH": "/usr/bin:/bin", "LC_ALL": "C", "NO_COLOR": "1", **environment}, cwd=str(course))
    return runs.read_events(record, hidden), ended
