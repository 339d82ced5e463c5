"""The folder OUT of a class, as the grader writes it. One record per student, so that several graders can write at once; each file
whole or not at all; and no grade is ever overwritten without a copy.

    OUT/class.json                            who handed in, in the last run; what in SUBMISSIONS was no submission
    OUT/secret                                what the hidden cases follow from
    OUT/students/<id>/grade.json              the grade (record.py)
    OUT/students/<id>/history/*.json.gz       an earlier grade, with the date and the reason for which it was made
    OUT/timed_out.json                        which files took all of a lab's time, and what they got
    OUT/lock                                  who is grading into it (lock.py)

A grade is made lab by lab. Each lab keeps the key of what it depends on, and is graded again if that has changed. A lab that is not
graded in a run (LABS=lab02, or a file that is no longer in the submission) keeps the grade that it has.
"""

from __future__ import annotations

import gzip
import json
import os
import re
from datetime import datetime
from pathlib import Path

PASS, FAIL, NOT_RUN, PERSON = "pass", "fail", "not run", "needs a person"


def now() -> str:
    return datetime.now().astimezone().isoformat(timespec="seconds")


def write(path: Path, data: bytes | str, mode: int = 0o644) -> None:
    """Whole or not at all, also if two processes do it at once or the machine loses its power."""
    new = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}.new")
    try:
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(data.encode() if isinstance(data, str) else data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, path)
    finally:
        new.unlink(missing_ok=True)


def read_json(path: Path) -> dict | None:
    """The object in a file; None if it is not there or holds none."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def secret_of(out: Path | None) -> bytes:
    """What hidden cases follow from: new for every run, but one for a whole class, also if its grading is interrupted."""
    if out is None:
        return os.urandom(32)
    try:
        secret = bytes.fromhex((out / "secret").read_text().strip())
        if len(secret) >= 16:
            return secret
    except (OSError, ValueError):
        pass
    secret = os.urandom(32)
    write(out / "secret", secret.hex(), 0o600)
    return secret


class Store:
    def __init__(self, out: Path):
        self.out = out
        self.students = out / "students"

    def ids(self) -> list[str]:
        """Whose grade is here."""
        return sorted(path.parent.name for path in self.students.glob("*/grade.json"))

    def folder(self, student: str) -> Path:
        return self.students / student

    def read(self, student: str) -> dict | None:
        return read_json(self.folder(student) / "grade.json")

    def write(self, student: str, grade: dict) -> None:
        """An earlier grade goes into the history first. (What else the record says is no grade: a note, the name.)"""
        folder = self.folder(student)
        folder.mkdir(parents=True, exist_ok=True)
        if (self.read(student) or {}).get("labs") != grade["labs"]:
            self._keep(folder)
        write(folder / "grade.json", json.dumps(grade, separators=(",", ":")))

    def history(self, student: str) -> list[dict]:
        """Earlier grades, oldest first."""
        earlier = []
        for path in sorted((self.folder(student) / "history").glob("*.json.gz")):
            try:
                earlier.append(json.loads(gzip.decompress(path.read_bytes())))
            except (OSError, ValueError, EOFError):
                pass
        return [grade for grade in earlier if isinstance(grade, dict)]

    def _keep(self, folder: Path) -> None:
        try:
            data = (folder / "grade.json").read_bytes()
        except FileNotFoundError:
            return
        earlier = read_json(folder / "grade.json") or {}
        when = re.sub(r"[^0-9T]", "", str(earlier.get("graded", ""))[:19]) or "unknown"
        place = folder / "history"
        place.mkdir(exist_ok=True)
        number = 0
        while True:
            path = place / f"{when}-{number:02d}.json.gz"  # the number: for those of one second
            try:
                if gzip.decompress(path.read_bytes()) == data:
                    return  # kept before a run that then was killed
            except FileNotFoundError:
                break
            except (OSError, EOFError):
                pass
            number += 1
        write(path, gzip.compress(data, mtime=0))

    # ---- The class -----------------------------------------------------------------------------------

    def write_class(self, students: list[dict], others: list[str], labs: list[str]) -> None:
        """Those who handed in ({"id", "student", "notes"}), and what in SUBMISSIONS was no submission."""
        write(self.out / "class.json", json.dumps({"schema": 1, "labs": labs, "students": students, "others": others}, indent=1))


def totalled(grade: dict) -> dict:
    """The grade with the sums over its labs. Who handed in nothing that could be graded needs a person."""
    labs = sorted(grade["labs"], key=lambda lab: lab["lab"])
    verdicts = {lab["verdict"] for lab in labs}
    verdict = PERSON if grade.get("problem") else next((verdict for verdict in (PERSON, FAIL, PASS) if verdict in verdicts), NOT_RUN)
    return {**grade, "labs": labs, "points": round(sum(lab["points"] for lab in labs), 2), "out_of": round(sum(lab["out_of"] for lab in labs), 2),
            "verdict": verdict}


def merged(earlier: dict | None, grade: dict) -> dict:
    """`grade`, with those labs of the earlier one that it does not have."""
    new = {lab["lab"] for lab in grade["labs"]}
    kept = [lab for lab in (earlier or {}).get("labs", []) if isinstance(lab, dict) and lab.get("lab") not in new]
    return totalled({**grade, "labs": [*grade["labs"], *kept]})
