"""What the grader found out about one submission: OUT/students/<id>/grade.json, the one source of all reports.

    {"schema": 1, "student": "<as the folder or archive is called: any characters>", "id": "<unique, safe in a file name>",
     "backend": "cpu", "machine": "...", "seconds": 12.3, "points": 83.0, "out_of": 100.0, "verdict": "fail",
     "labs": [{"lab": "lab02_smem", "title": "...", "verdict": "fail", "points": 83.0, "out_of": 100.0, "not_run": 0.0,
       "items": [{"id": "correctness/tree", "category": "correctness", "name": "...", "verdict": "fail", "points": 0.0,
                  "out_of": 10.0, "reason": "one line", "hint": "where to look", "details": "several lines"}]}]}

A lab that was graded from a file says which: "file", the beginning of its SHA-256, "path", and "handed_in" and "file_time" where they are
known; "graded" is when. Of the submission: "system" (the platform it came from), "people" (who handed it in, as the platform knows them),
"notes" (for the instructor, what had to be decided about the files) and "problem" (why nothing could be graded). All of these may be missing.

Points are given to two decimals. An item that was not run has 0 points; its `out_of` is what it would be worth and counts in
the lab's `not_run`, not in its `out_of`. "needs a person" has 0 points until a person has looked; `waits` says how
many there would be. Texts are strangers' texts:
they are made visible and shortened here, so that every report shows the same.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field, replace
from pathlib import Path

import store
from escape import shortened, visible

PASS, FAIL, NOT_RUN, PERSON = "pass", "fail", "not run", "needs a person"
VERDICTS = (PERSON, FAIL, NOT_RUN, PASS)  # in the order in which they are listed
CATEGORIES = ("integrity", "correctness", "checks", "moves", "predictions", "speed")
SAFE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
LONGEST_NAME, LONGEST_LINE, LONGEST_DETAILS = 120, 1000, 20000


class RecordError(Exception):
    """A grade.json that cannot be used. The message names the file, what is wrong with it, and what to do."""


@dataclass(frozen=True)
class Item:
    id: str
    category: str
    name: str
    verdict: str
    points: float
    out_of: float
    reason: str = ""
    hint: str = ""
    details: str = ""
    waits: float = 0.0  # points that wait for a person


@dataclass(frozen=True)
class Adjustment:
    """Points that are not an item's: late days, a bonus, what a person has set. Below 0 they are taken off."""

    points: float
    text: str


@dataclass(frozen=True)
class Lab:
    lab: str
    title: str
    verdict: str
    points: float
    out_of: float
    not_run: float
    items: tuple[Item, ...] = ()
    file: str = ""
    path: str = ""
    handed_in: str = ""
    file_time: str = ""
    graded: str = ""
    # Not in the record, but decided since (decided.py); points are then with them.
    adjustments: tuple[Adjustment, ...] = ()
    comments: tuple[str, ...] = ()
    late_days: int = 0
    fixed: bool = False  # a person has set the points

    @property
    def waits(self) -> float:
        return round(sum(item.waits for item in self.items), 2)

    def with_verdict(self, verdict: str) -> list[Item]:
        return [item for item in self.items if item.verdict == verdict]


@dataclass(frozen=True)
class Person:
    name: str
    number: str = ""
    login: str = ""
    email: str = ""


@dataclass(frozen=True)
class Student:
    student: str
    id: str
    backend: str
    machine: str
    seconds: float
    labs: tuple[Lab, ...]
    points: float
    out_of: float
    verdict: str
    system: str = ""
    people: tuple[Person, ...] = ()
    notes: tuple[str, ...] = ()
    problem: str = ""
    adjustments: tuple[Adjustment, ...] = ()
    comments: tuple[str, ...] = ()
    percent: float | None = None  # of what was run, bonus labs on top
    final: float | None = None  # the same after the curve, if there is one

    @property
    def waits(self) -> float:
        return round(sum(lab.waits for lab in self.labs), 2)

    @property
    def not_run(self) -> float:
        return round(sum(lab.not_run for lab in self.labs), 2)


@dataclass(frozen=True)
class Ungraded:
    """A submission without a record that can be used: it is listed all the same."""

    id: str
    problem: str
    student: str = ""
    verdict: str = PERSON  # or NOT_RUN: its turn has not come yet


@dataclass
class Class:
    students: list[Student] = field(default_factory=list)  # by name
    ungraded: list[Ungraded] = field(default_factory=list)  # by id
    problems: list[str] = field(default_factory=list)  # with decisions and tables
    others: list[str] = field(default_factory=list)  # what in SUBMISSIONS was no submission

    @property
    def labs(self) -> list[str]:
        return sorted({lab.lab for student in self.students for lab in student.labs})


def number_text(value: float) -> str:
    """83, 83.5 or 83.25: at most two decimals, the same in every report."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


class _Reader:
    """Takes fields out of decoded JSON; `where` is how an error names the place."""

    def __init__(self, value: object, where: str):
        if not isinstance(value, dict):
            raise RecordError(f"{where} is not an object")
        self.value, self.where = value, where

    def _get(self, name: str) -> object:
        if name not in self.value:
            raise RecordError(f"{self.where} has no \"{name}\"")
        return self.value[name]

    def text(self, name: str, most: int = LONGEST_LINE, lines: bool = False, otherwise: str | None = None) -> str:
        value = otherwise if otherwise is not None and name not in self.value else self._get(name)
        if not isinstance(value, str):
            raise RecordError(f"{self.where}: \"{name}\" is not a text")
        return shortened(visible(value.strip("\n") if lines else value.strip(), lines), most)

    def number(self, name: str, otherwise: float | None = None) -> float:
        value = otherwise if otherwise is not None and name not in self.value else self._get(name)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value < 0:
            raise RecordError(f"{self.where}: \"{name}\" is not a number from 0 up")
        return round(float(value), 2)

    def one_of(self, name: str, choices: tuple[str, ...]) -> str:
        value = self._get(name)
        if value not in choices:
            raise RecordError(f"{self.where}: \"{name}\" is {json.dumps(value)[:80]}, not one of {', '.join(choices)}")
        return str(value)

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts; empty if there is none."""
        value = self.value.get(name, [])
        if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
            raise RecordError(f"{self.where}: \"{name}\" is not a list of texts")
        return tuple(shortened(visible(text.strip()), LONGEST_LINE) for text in value)

    def members(self, name: str, otherwise: list | None = None) -> list[_Reader]:
        value = otherwise if otherwise is not None and name not in self.value else self._get(name)
        if not isinstance(value, list):
            raise RecordError(f"{self.where}: \"{name}\" is not a list")
        return [_Reader(member, f"{self.where}: {name}[{i}]") for i, member in enumerate(value)]


def _unique(names: list[str], where: str) -> None:
    for name in names:
        if names.count(name) > 1:
            raise RecordError(f"{where}: \"{name}\" is there twice")


def _same(total: float, parts: list[float], what: str, count: int) -> None:
    # Each part may have been rounded by half a hundredth.
    if abs(total - sum(parts)) > 0.005 * (count + 1) + 1e-9:
        raise RecordError(f"{what} is {number_text(total)}, but its parts sum to {number_text(sum(parts))}")


def _item(reader: _Reader) -> Item:
    item = Item(reader.text("id"), reader.one_of("category", CATEGORIES), reader.text("name"), reader.one_of("verdict", VERDICTS),
                reader.number("points"), reader.number("out_of"), reader.text("reason"), reader.text("hint", otherwise=""),
                reader.text("details", LONGEST_DETAILS, lines=True, otherwise=""), reader.number("waits", otherwise=0.0))
    if item.points > item.out_of or item.waits > item.out_of:
        raise RecordError(f"{reader.where}: {number_text(item.points)} points out of {number_text(item.out_of)}")
    if item.points and item.verdict in (NOT_RUN, PERSON):
        raise RecordError(f"{reader.where}: has points, but its verdict is \"{item.verdict}\"")
    return item


def _lab(reader: _Reader) -> Lab:
    items = tuple(_item(member) for member in reader.members("items"))
    lab = Lab(reader.text("lab"), reader.text("title"), reader.one_of("verdict", VERDICTS), reader.number("points"),
              reader.number("out_of"), reader.number("not_run"), items,
              *(reader.text(name, otherwise="") for name in ("file", "path", "handed_in", "file_time", "graded")))
    _unique([item.id for item in items], reader.where)
    run = [item for item in items if item.verdict != NOT_RUN]
    _same(lab.points, [item.points for item in items], f"{reader.where}: \"points\"", len(items))
    _same(lab.out_of, [item.out_of for item in run], f"{reader.where}: \"out_of\"", len(items))
    _same(lab.not_run, [item.out_of for item in items if item.verdict == NOT_RUN], f"{reader.where}: \"not_run\"", len(items))
    return lab


def _refuse_constant(text: str) -> float:
    raise ValueError(f"{text} is not a number")


def parse(text: str) -> Student:
    """Raises RecordError, without the file's name."""
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise RecordError("is not a JSON object")
    reader = _Reader(value, "the record")
    if value.get("schema") != 1:
        raise RecordError(f"\"schema\" is {json.dumps(value.get('schema'))[:40]}; these reports understand 1")
    labs = tuple(sorted((_lab(member) for member in reader.members("labs")), key=lambda lab: lab.lab))
    student = Student(reader.text("student", LONGEST_NAME), reader.text("id"), reader.text("backend"), reader.text("machine"),
                      reader.number("seconds"), labs, reader.number("points"), reader.number("out_of"),
                      reader.one_of("verdict", VERDICTS), reader.text("system", otherwise=""),
                      tuple(Person(*(person.text(name, LONGEST_NAME, otherwise="") for name in ("name", "number", "login", "email")))
                            for person in reader.members("people", otherwise=[])),
                      reader.texts("notes"), reader.text("problem", otherwise=""))
    if not SAFE_ID.fullmatch(student.id):
        raise RecordError(f"\"id\" is \"{student.id}\", which is not safe as a file name (letters, digits, . _ -)")
    _unique([lab.lab for lab in labs], "labs")
    _same(student.points, [lab.points for lab in labs], "\"points\" of the whole", len(labs))
    _same(student.out_of, [lab.out_of for lab in labs], "\"out_of\" of the whole", len(labs))
    return student


def read_student(folder: Path) -> Student:
    """The record in folder/grade.json. Raises RecordError."""
    path = folder / "grade.json"
    try:
        student = parse(path.read_text(encoding="utf-8"))
        if student.id != folder.name:
            raise RecordError(f"\"id\" is \"{student.id}\", but the folder is \"{visible(folder.name)}\"")
    except FileNotFoundError:
        raise RecordError(f"{path}: is missing: this submission was not graded to the end; run make check again") from None
    except (OSError, UnicodeDecodeError) as error:
        raise RecordError(f"{path}: cannot be read: {error}") from None
    except RecordError as error:
        raise RecordError(f"{path}: {error}; delete the file and run make check again") from None
    return student


def _expected(out: Path) -> dict[str, tuple[str, str]]:
    """Who handed in, in the last run: id -> name, and why there is no grade, if that is known."""
    expected = {}
    for entry in (store.read_json(out / "class.json") or {}).get("students", []):
        if isinstance(entry, dict) and all(isinstance(entry.get(name, ""), str) for name in ("id", "student", "problem")):
            expected[str(entry.get("id"))] = (visible(entry.get("student", ""))[:LONGEST_NAME], visible(entry.get("problem", ""))[:LONGEST_LINE])
    return expected


def read_class(out: Path) -> Class:
    """All records below OUT/students, and all who handed in. A record that cannot be used does not disturb the others."""
    result = Class()
    expected = _expected(out)
    students = out / "students"
    for folder in sorted(students.iterdir()) if students.is_dir() else []:
        if not folder.is_dir() or (folder.name in expected and not (folder / "grade.json").exists()):
            continue
        try:
            student = read_student(folder)
        except RecordError as error:
            result.ungraded.append(Ungraded(visible(folder.name), visible(str(error)), expected.get(folder.name, ("",))[0]))
            continue
        if expected and student.id not in expected:
            student = replace(student, notes=(*student.notes, "was not in SUBMISSIONS in the last run; this grade is from before"))
        elif expected.get(student.id, ("", ""))[1]:  # it went wrong now, and there is an earlier grade
            student = replace(student, verdict=PERSON, problem=expected[student.id][1])
        result.students.append(student)
    graded = {student.id for student in result.students} | {lost.id for lost in result.ungraded}
    result.ungraded += [Ungraded(id, problem or "is not graded yet", name, PERSON if problem else NOT_RUN)
                        for id, (name, problem) in expected.items() if id not in graded]
    result.students.sort(key=lambda s: (s.student.casefold(), s.student, s.id))
    result.ungraded.sort(key=lambda lost: lost.id)
    others = (store.read_json(out / "class.json") or {}).get("others", [])
    result.others = [visible(other)[:LONGEST_NAME] for other in others if isinstance(other, str)] if isinstance(others, list) else []
    return result
