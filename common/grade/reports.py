#!/usr/bin/env python3
"""Writes all reports from the records of the grader (record.py) and what persons decided (decided.py): nothing else is asked, so they cannot
disagree.

    reports.py OUT     for each student feedback.md and results.json; for the class gradebook.csv and .xlsx, junit.xml, report.html, import/

Succeeds if every record could be used. One that could not is named, listed as "needs a person", and does not disturb the others.
"""

from __future__ import annotations

import sys
from pathlib import Path

import decided
import feedback
import gradebook
import gradescope_results
import html_report
import imports
import junit
import store
from decisions import DecisionError
from policy import PolicyError
from record import Class, Student

RULES_ERRORS = (DecisionError, PolicyError)


def _write_reports(folder: Path, student: Student) -> None:
    store.write(folder / "feedback.md", feedback.markdown(student))
    store.write(folder / "results.json", gradescope_results.results(student))


def write_student(folder: Path | str) -> Student:
    """feedback.md and results.json beside OUT/students/<id>/grade.json. Raises record.RecordError if that cannot be used, and RULES_ERRORS."""
    folder = Path(folder)
    student = decided.read_student(folder.parents[1], folder.name)
    _write_reports(folder, student)
    return student


def write_class(out: Path | str) -> Class:
    """All reports below `out`, the students' included. What could not be read is in the result's `ungraded`. Raises RULES_ERRORS."""
    out = Path(out)
    group = decided.read_class(out)
    for student in group.students:
        _write_reports(out / "students" / student.id, student)
    _write_pages(out, group)
    return group


def write_class_pages(out: Path | str) -> Class:
    """Those of the class alone. Raises RULES_ERRORS."""
    group = decided.read_class(Path(out))
    _write_pages(Path(out), group)
    return group


def _write_pages(out: Path, group: Class) -> None:
    store.write(out / "gradebook.csv", gradebook.csv_text(gradebook.table(group)))
    store.write(out / "gradebook.xlsx", gradebook.workbook(group))
    store.write(out / "junit.xml", junit.xml(group))
    store.write(out / "report.html", html_report.page(group, out))
    (out / "import").mkdir(exist_ok=True)
    for name, text in imports.texts(group).items():
        store.write(out / "import" / name, text)


def main(argv: list[str]) -> int:
    if len(argv) != 1 or not (Path(argv[0]) / "students").is_dir():
        print("usage: reports.py OUT, the folder that make check wrote; it holds a folder students/", file=sys.stderr)
        return 2
    try:
        group = write_class(argv[0])
    except RULES_ERRORS as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for text in [*(lost.problem for lost in group.ungraded), *group.problems]:
        print(f"error: {text}", file=sys.stderr)
    print(f"{len(group.students)} students reported, {len(group.ungraded)} without a grade: {argv[0]}/report.html")
    return 1 if group.ungraded or group.problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
