"""For tests: a copy of the course in which a command may do what it likes."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Of build/cpu: what a new lab needs; and "rules", which a copy must not use.
BUILT = ("obj", "precompiled", "rules", "libsimt.a", "libsimt_libraries.a", "worker", "worker.d", "backend", "bench", "roofs", "roofs.json")


def copy_course(folder: Path, built: bool = False) -> Path:
    """A copy without what is built and measured, or with the course's own code built as far as it is here."""
    copy = folder / "course"

    def ignore(directory: str, names: list[str]) -> set[str]:
        top = {name for name in names if name in ("build", ".git") or name.startswith((".progress", ".dev-"))}
        return (top if Path(directory) == ROOT else set()) | {"__pycache__", "local"}

    shutil.copytree(ROOT, copy, ignore=ignore)
    for name in BUILT if built else ():
        source, target = ROOT / "build/cpu" / name, copy / "build/cpu" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target)  # with the times of the files, by which make knows that they are up to date
        elif source.exists():
            shutil.copy2(source, target)
    return copy


def run(copy: Path, *arguments: str, timeout: float = 300, **variables: str) -> subprocess.CompletedProcess:
    """A command in the copy, where progress is remembered as it is for a student."""
    environment = {key: value for key, value in os.environ.items()
                   if key not in ("MAKEFLAGS", "MAKELEVEL", "BACKEND", "LADDER_PROGRESS", "NAME", "CASE", "FILE", "ONLY")}
    return subprocess.run(arguments, cwd=copy, env={**environment, "BACKEND": "cpu", **variables}, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout)
