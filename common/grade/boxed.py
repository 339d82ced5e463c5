"""What lies between the judge and a program in the sandbox: the script that starts it there, and the record that it leaves."""

from __future__ import annotations

import json
from pathlib import Path


def write_script(path: Path, command: str) -> None:
    path.write_text(f"#!/bin/sh\ncd /\nexec {command}\n")
    path.chmod(0o755)


def read_record(path: Path, stage: str = "") -> list[dict]:
    """The lines of a record; a last line that was cut off is left out. stage: a folder of which no report speaks."""
    lines = []
    try:
        text = path.read_text(errors="replace")
    except OSError:
        return lines
    for line in (text.replace(stage, "") if stage else text).split("\n"):
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and "type" in entry:
            lines.append(entry)
    return lines
