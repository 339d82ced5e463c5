"""The gradebook: a row per student, as a table of typed cells for gradebook.csv and gradebook.xlsx.

gradebook.csv is UTF-8 with a byte order mark, without which Excel spoils names; all cells are quoted, and text that a spreadsheet
would take for a formula, a number or a date has an apostrophe before it. gradebook.xlsx needs none: there text is marked as text.
"""

from __future__ import annotations

import csv
import io

import spreadsheet
from escape import for_csv
from record import Class, Lab, Student, number_text

Cell = str | float | int | None
HEAD = ["student", "id", "verdict", "points", "out_of", "percent", "final_percent", "waits", "not_run", "late_days", "number", "login", "email"]
OF_LAB = ("verdict", "points", "out_of", "waits", "not_run", "late_days")


def _of_lab(lab: Lab | None) -> list[Cell]:
    return [lab.verdict, lab.points, lab.out_of, lab.waits, lab.not_run, lab.late_days] if lab else [None] * len(OF_LAB)


def _known_as(student: Student, what: str) -> str:
    return ", ".join(filter(None, (getattr(person, what) for person in student.people)))


def table(group: Class) -> list[list[Cell]]:
    """The head and the rows. final_percent is after the curve, and empty without one."""
    labs = group.labs
    rows: list[list[Cell]] = [[*HEAD, *(f"{lab} {what}" for lab in labs for what in OF_LAB), "comments", "problem"]]
    for student in group.students:
        by_name = {lab.lab: lab for lab in student.labs}
        comments = [*student.comments, *(f"{lab.lab}: {text}" for lab in student.labs for text in lab.comments)]
        rows.append([student.student, student.id, student.verdict, student.points, student.out_of, student.percent, student.final, student.waits,
                     student.not_run, sum(lab.late_days for lab in student.labs), *(_known_as(student, what) for what in ("number", "login", "email")),
                     *(cell for lab in labs for cell in _of_lab(by_name.get(lab))), "; ".join(comments), student.problem])
    for lost in group.ungraded:  # no points: nobody knows yet how many there are
        rows.append([lost.student, lost.id, lost.verdict, *[None] * (len(rows[0]) - 4), lost.problem])
    return rows


def csv_text(rows: list[list[Cell]], text_cell=for_csv) -> str:
    """text_cell: what becomes of a cell of text."""
    stream = io.StringIO()
    writer = csv.writer(stream, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    for row in rows:
        writer.writerow(["" if cell is None else text_cell(cell) if isinstance(cell, str) else number_text(cell) for cell in row])
    return "\ufeff" + stream.getvalue()


def workbook(group: Class) -> bytes:
    return spreadsheet.xlsx(table(group), "gradebook")
