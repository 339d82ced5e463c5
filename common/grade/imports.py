"""OUT/import/: the grades as learning platforms take them back. A row per person: of a team everybody has one.

    moodle.csv      the offline grading worksheet of an assignment: Identifier, Grade in per cent, Feedback comments
    canvas.csv      Canvas's gradebook: ID, Section, and a column per lab, in points
    gradescope.csv  the columns of Gradescope's own export: Name, SID, Email, Total Score, Max Points
    grades.csv      for everything else: number, login, email, name, points, out_of, percent

Names are those of the platform that the submissions came from. Where its own export is at hand, `fill` puts the grades into a column of it,
which leaves nothing to guess. Numbers like 00123 are as they are: these files are for programs, which would take an apostrophe or ="00123"
for a part of them. A spreadsheet that opens and saves such a file loses the zeros; for one there is gradebook.xlsx, and `fill` names them.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

from escape import without_formula
from gradebook import Cell, csv_text
from record import Class, Person, Student, number_text


class FillError(Exception):
    """Why a platform's file cannot be filled; the text says what to do."""


def people(group: Class) -> list[tuple[Student, Person]]:
    return [(student, person) for student in group.students for person in student.people or (Person(student.student),)]


def percent(student: Student) -> float | None:
    """What counts in the end: after the curve, if there is one."""
    return student.percent if student.final is None else student.final


def _comment(student: Student) -> str:
    return "; ".join([*student.comments, *(f"{lab.lab}: {text}" for lab in student.labs for text in lab.comments)])


def moodle(group: Class) -> list[list[Cell]]:
    rows: list[list[Cell]] = [["Identifier", "Full name", "Grade", "Maximum Grade", "Last modified (grade)", "Feedback comments"]]
    rows += [[f"Participant {person.number}", person.name, percent(student), 100.0, "", _comment(student)] for student, person in people(group)
             if student.system == "Moodle" and person.number]
    return rows


def canvas(group: Class) -> list[list[Cell]]:
    labs = group.labs
    possible = {lab.lab: lab.out_of for student in group.students for lab in student.labs if lab.out_of}
    rows: list[list[Cell]] = [["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *labs],
                              ["    Points Possible", "", "", "", "", *(possible.get(lab) for lab in labs)]]
    for student, person in people(group):
        by_name = {lab.lab: lab for lab in student.labs}
        number = person.number if student.system == "Canvas" else ""
        rows.append([person.name, number, "" if number else person.number, person.login or person.email, "",
                     *(by_name[lab].points if lab in by_name else None for lab in labs)])
    return rows


def gradescope(group: Class) -> list[list[Cell]]:
    rows: list[list[Cell]] = [["Name", "SID", "Email", "Total Score", "Max Points", "Status"]]
    return rows + [[person.name, person.number, person.email, student.points, student.out_of, "Graded"] for student, person in people(group)]


def plain(group: Class) -> list[list[Cell]]:
    rows: list[list[Cell]] = [["number", "login", "email", "name", "id", "points", "out_of", "percent"]]
    return rows + [[person.number, person.login, person.email, person.name, student.id, student.points, student.out_of, percent(student)]
                   for student, person in people(group)]


FILES: dict[str, Callable[[Class], list[list[Cell]]]] = {"moodle.csv": moodle, "canvas.csv": canvas, "gradescope.csv": gradescope, "grades.csv": plain}


def texts(group: Class) -> dict[str, str]:
    """Name -> contents. Without the mark at the beginning, which not every platform expects."""
    return {name: csv_text(make(group), without_formula).lstrip("\ufeff") for name, make in FILES.items()}


# ---- Into the platform's own export --------------------------------------------------------------

GRADE_COLUMNS = ("Grade", "Total Score", "Score", "Points", "Percent")
KEYS = {"identifier": "number", "id": "number", "sid": "number", "student id": "number", "id number": "number", "sis user id": "number", "number": "number",
        "username": "login", "login": "login", "sis login id": "login", "email": "email", "email address": "email", "e-mail": "email",
        "full name": "name", "name": "name", "student": "name"}
MAXIMA = ("maximum grade", "max points")


def fill(text: str, group: Class, column: str = "", lab: str = "") -> tuple[str, list[str], list[str]]:
    """A platform's export with the grades in one of its columns, in proportion to what it says is the maximum (100 if it says nothing); whom of
    the class it does not have; and the rows that belong to nobody of the class, which stay as they are. Raises FillError."""
    first = text.lstrip("\ufeff").split("\n", 1)[0]
    separator = max(",;\t", key=first.count)
    rows = list(csv.reader(io.StringIO(text.lstrip("\ufeff"), newline=""), delimiter=separator))
    if not rows or len(rows[0]) < 2:
        raise FillError("it is no table with a line of column names")
    head = [name.strip() for name in rows[0]]
    wanted = [column] if column else [name for name in GRADE_COLUMNS if name in head]
    places = [i for i, name in enumerate(head) if name in wanted[:1] or (column and name.startswith(f"{column} ("))]
    if len(places) != 1:
        raise FillError(f"{'no column' if not places else 'more than one column'} is called '{column}'" if column else
                        "which column takes the grade? Name it, as in COLUMN=\"Lab 2\"" + f". It has: {', '.join(head)}")
    keys = [(i, KEYS[name.lower()]) for i, name in enumerate(head) if name.lower() in KEYS and i != places[0]]
    if not keys:
        raise FillError(f"no column says who a row is about (ID, SID, Email, Username, Name, ...). It has: {', '.join(head)}")
    maximum = next((i for i, name in enumerate(head) if name.lower() in MAXIMA), None)
    possible = 100.0
    found: dict[tuple[str, str], list[Student]] = {}
    for student, person in people(group):
        for what in ("number", "login", "email", "name"):
            if value := getattr(person, what):
                found.setdefault((what, value.casefold()), []).append(student)
    met, strangers = set(), []
    for row in rows[1:]:
        if not any(cell.strip() for cell in row):
            continue
        row += [""] * (len(head) - len(row))
        if "Points Possible" in row[0]:
            possible = as_number(row[places[0]]) or 100.0
            continue
        student = next((matches[0] for i, what in keys if len(matches := found.get((what, key_of(row[i], what)), [])) == 1), None)
        share = share_of(student, lab) if student else None
        if student is None:
            strangers.append(next((row[i] for i, what in keys if what == "name" and row[i]), row[keys[0][0]]) + lost_zeros(row, keys, found))
        else:
            met.add(student.id)
            if share is not None:
                row[places[0]] = number_text(round(share * ((as_number(row[maximum]) if maximum is not None else None) or possible), 2))
    stream = io.StringIO()
    csv.writer(stream, delimiter=separator, lineterminator="\r\n").writerows(rows)
    return ("\ufeff" if text.startswith("\ufeff") else "") + stream.getvalue(), [s.student for s in group.students if s.id not in met], strangers


def lost_zeros(row: list[str], keys: list[tuple[int, str]], found: dict[tuple[str, str], list[Student]]) -> str:
    """Of a row that nobody has: whether its number is one of the class without the zeros in front. It is not taken for that one: another
    person may have it."""
    numbers = {key_of(row[i], what) for i, what in keys if what == "number"} - {""}
    for what, value in found:
        if what == "number" and value.startswith("0") and value.lstrip("0") in numbers:
            return f" (or is it {value}, saved by a spreadsheet? then fill the export as it was downloaded)"
    return ""


def key_of(cell: str, what: str) -> str:
    """"Participant 1234", in whatever language, is 1234."""
    cell = cell.strip()
    return (cell.rsplit(" ", 1)[-1] if what == "number" else cell).casefold()


def as_number(cell: str) -> float | None:
    try:
        return float(cell.strip().replace(",", ".")) or None
    except ValueError:
        return None


def share_of(student: Student, lab: str) -> float | None:
    """Of what can be had: 1 is everything."""
    if not lab:
        value = percent(student)
        return None if value is None else value / 100
    mine = next((entry for entry in student.labs if entry.lab == lab or entry.lab.startswith(f"{lab}_")), None)
    return mine.points / mine.out_of if mine and mine.out_of else None


def read(path: Path) -> str:
    """Raises FillError."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FillError(f"{path}: {error.strerror}") from None
    for encoding in ("utf-8", "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            pass
    raise FillError(f"{path} is not UTF-8: save it as \"CSV UTF-8\"")
