"""OUT/decisions.toml: what persons have decided about grades. It is read whenever reports are written, so that it survives every
regrading; `make decide` adds to its end, and it may be edited by hand.

    [[decision]]
    student = "jane-doe"       # the id in the gradebook, or the name if only one has it
    lab = "lab02"              # or lab02_smem; without it: all labs
    item = "speed/tree f32"    # one item of the lab, by its id or its name; without it: all that wait
    release = true             # points that wait for a person are given ...
    deny = true                # ... or are not
    points = 85                # what the lab is worth, whatever else; late days take nothing from it
    bonus = 3                  # points on top; below 0 they are taken off
    late_days = 0              # in place of what the times say
    comment = "..."            # the student reads it
    undo = true                # takes back all earlier decisions about this student, or this lab of the student
    file = "3f9ac1d2"          # release, deny and points hold for this file of the lab (the beginning of its SHA-256) and no other;
                               # "none 5f1b2c3d": as long as there is no file, for this reason. Without it: whatever is handed in
    by = "Ann"
    on = 2026-07-05

Of two decisions about the same thing the later one counts.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import time
import tomllib
from dataclasses import dataclass, fields
from datetime import date, datetime
from pathlib import Path

import store
from escape import shortened, visible
from lock import Lock, LockError

NAME = "decisions.toml"
HEAD = """# What persons have decided about grades, in order: of two decisions about the same thing the later one counts.
# make decide adds to it; it may be edited by hand (common/grade/decisions.py says what a decision can have).
# It survives regrading, and should survive OUT: keep a copy.
"""
MOST_POINTS, MOST_DAYS, PATIENCE = 10000, 3650, 60.0


class DecisionError(Exception):
    """What is wrong with the file, or with a decision, and what to do."""


@dataclass(frozen=True)
class Decision:
    student: str
    lab: str = ""
    item: str = ""
    release: bool = False
    deny: bool = False
    points: float | None = None
    bonus: float | None = None
    late_days: int | None = None
    comment: str = ""
    undo: bool = False
    file: str = ""
    by: str = ""
    on: str = ""

    @property
    def who(self) -> str:
        return f"{self.by or 'a person'}{f' on {self.on}' if self.on else ''}"

    @property
    def about_a_file(self) -> bool:
        return self.release or self.deny or self.points is not None

    def about(self, lab: str) -> bool:
        """Whether it is about this lab: by its name or the beginning of it, or about all."""
        return not self.lab or lab == self.lab or lab.startswith(f"{self.lab}_")


def checked(entry: object, where: str) -> Decision:
    """Raises DecisionError."""

    def wrong(what: str) -> None:
        raise DecisionError(f"{where}: {what}")

    if not isinstance(entry, dict):
        wrong("is no table: a decision begins with [[decision]]")
    known = [field.name for field in fields(Decision)]
    values: dict = {}
    for key, value in entry.items():
        if key not in known:
            wrong(f"there is no '{key}'; a decision has: {', '.join(known)}")
        if key == "on" and isinstance(value, (date, datetime)):
            value = value.isoformat()
        if key in ("release", "deny", "undo"):
            if not isinstance(value, bool):
                wrong(f"{key} is true or is not there")
        elif key in ("points", "bonus", "late_days"):
            number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
            least, most = {"points": (0, MOST_POINTS), "bonus": (-MOST_POINTS, MOST_POINTS), "late_days": (0, MOST_DAYS)}[key]
            if not number or not least <= value <= most or (key == "late_days" and value != int(value)):
                wrong(f"{key} = {value!r} is not a {'whole ' if key == 'late_days' else ''}number from {least} to {most}")
            value = int(value) if key == "late_days" else round(float(value), 2)
        elif not isinstance(value, str):
            wrong(f"{key} is a text: {key} = \"...\"")
        else:
            value = visible(value.strip(), lines=False) if key != "comment" else shortened(visible(value.strip(), lines=True), 2000)
        values[key] = value
    decision = Decision(**{"student": "", **values})
    if not decision.student:
        wrong("it names no student")
    if decision.release and decision.deny:
        wrong("release and deny exclude each other")
    if decision.points is not None and not decision.lab:
        wrong("points are those of a lab: add lab = \"lab02\"")
    if decision.item and not decision.lab:
        wrong("an item is one of a lab: add lab = \"lab02\"")
    if not any((decision.release, decision.deny, decision.undo, decision.comment)) and decision.points is decision.bonus is decision.late_days is None:
        wrong("it decides nothing: it needs release, deny, points, bonus, late_days, comment or undo")
    return decision


def no_file(problem: str) -> str:
    """What stands for a file where there is none. problem: why nothing could be graded, if that is why."""
    return f"none {hashlib.sha256(problem.encode()).hexdigest()[:8]}"


def load(out: Path) -> list[Decision]:
    """In the order of the file; none if there is no file. Raises DecisionError."""
    path = out / NAME
    try:
        with path.open("rb") as file:
            data = tomllib.load(file)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise DecisionError(f"{path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DecisionError(f"{path} is not TOML: {error}") from None
    if unknown := [key for key in data if key != "decision"]:
        raise DecisionError(f"{path}: there is no '{unknown[0]}'; a decision begins with [[decision]]")
    entries = data.get("decision", [])
    if not isinstance(entries, list):
        raise DecisionError(f"{path}: a decision begins with [[decision]], in two pairs of brackets")
    decisions = []
    for number, entry in enumerate(entries, 1):
        about = f" ({entry.get('student')})" if isinstance(entry, dict) and entry.get("student") else ""
        decisions.append(checked(entry, f"{path}, decision {number}{about}"))
    return decisions


def of_student(decisions: list[Decision], id: str, names: tuple[str, ...]) -> list[Decision]:
    """Those about a student, without what was taken back. names: what else the student is called, and nobody besides."""
    mine: list[Decision] = []
    for decision in decisions:
        if decision.student != id and decision.student not in names:
            continue
        if decision.undo:
            mine = [earlier for earlier in mine if decision.lab and not (earlier.lab and decision.about(earlier.lab))]
        mine.append(decision)
    return mine


def toml(decision: Decision) -> str:
    lines = ["", "[[decision]]"]
    for field in fields(Decision):
        value = getattr(decision, field.name)
        if value is None or value is False or value == "":
            continue
        if field.name == "on":
            text = value
        elif isinstance(value, str):
            text = json.dumps(value, ensure_ascii=False)
        elif isinstance(value, bool):
            text = "true"
        else:
            text = f"{value:g}"
        lines.append(f"{field.name} = {text}")
    return "\n".join(lines) + "\n"


def add(out: Path, decision: Decision) -> None:
    """To the end of the file, which stays as it is otherwise. Two at once: one after the other. Raises DecisionError and LockError."""
    place = out / ".deciding"
    until = time.monotonic() + PATIENCE
    while True:
        with contextlib.suppress(FileExistsError):  # not exist_ok, which looks once more, when another may have removed it
            place.mkdir()
        try:
            with Lock(place, "written"):
                load(out)  # nothing is added to a file that cannot be read
                path = out / NAME
                text = path.read_text(encoding="utf-8") if path.exists() else HEAD
                store.write(path, (text if text.endswith("\n") else text + "\n") + toml(decision))
            return
        except (LockError, FileNotFoundError):
            if time.monotonic() > until:
                raise
            time.sleep(0.1)
        finally:
            with contextlib.suppress(OSError):
                place.rmdir()  # unless another has it
