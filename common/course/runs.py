"""A run of a lab's test program: what it is asked for and what it tells, as common/testing/request.h and events.h have them."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from . import labs


@dataclass
class Run:
    status: int
    output: str  # what it printed; nobody but a reader can rely on it
    events: list[dict]


def write_request(path: Path, request: dict) -> None:
    """Whoever can enter the folder can read the file: a judge's request has the seed of the hidden cases."""
    path.write_text(json.dumps(request) + "\n", encoding="utf-8")


def request_of(words: list[str]) -> dict:
    """name=text and name:=json, as in a command line. Raises ValueError."""
    request = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise ValueError(f"{word} is neither name=text nor name:=json")
        if name.endswith(":"):
            request[name[:-1]] = json.loads(value)
        elif value:  # what is empty means what is meant without it
            request[name] = value
    return request


def read_events(path: Path, hidden: str = "") -> list[dict]:
    """In their order; a last line that was cut off is left out, and without the file there are none. hidden: a folder of which no
    text may speak."""
    try:
        text = path.read_text(errors="replace")
    except OSError:
        return []
    events = []
    for line in (text.replace(hidden, "") if hidden else text).split("\n"):
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict) and "type" in event:
            events.append(event)
    return events


def run(lab: str, request: dict, backend: str = "cpu", timeout: float = 600, **environment: str) -> Run:
    """Runs build/cpu/tests/<lab> to its end. Raises subprocess.TimeoutExpired."""
    with tempfile.TemporaryDirectory() as folder:
        events, asked = Path(folder) / "events", Path(folder) / "request.json"
        write_request(asked, {"events": str(events), **request})
        done = subprocess.run([f"build/cpu/tests/{lab}", str(asked)], cwd=labs.ROOT, timeout=timeout, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, env={**os.environ, "NO_COLOR": "1", "BACKEND": backend, **environment})
        return Run(done.returncode, done.stdout, read_events(events))


def first_failure(events: list[dict], variant: str) -> list[str]:
    """The lines that explain the first wrong case of a variant: "tree f32", or "tree" for any of its types."""
    for event in events:
        if event["type"] == "case" and not event["ok"] and f"{event['variant']} ".startswith(f"{variant} "):
            return [line.strip() for line in event["text"].splitlines() if line.strip()]
    return []
