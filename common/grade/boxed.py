"""What lies between the judge and a program in the sandbox: the script that starts it there."""

from __future__ import annotations

from pathlib import Path


def write_script(path: Path, command: str) -> None:
    path.write_text(f"#!/bin/sh\ncd /\nexec {command}\n")
    path.chmod(0o755)
