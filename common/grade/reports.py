#!/usr/bin/env python3
"""Writes all reports from the records of the grader (record.py): nothing else is asked, so they cannot disagree.

    reports.py OUT     for each student feedback.md and results.json; gradebook.csv, junit.xml and report.html for the class

Succeeds if every record could be used. One that could not is named, listed as "needs a person", and does not disturb the others.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import feedback
import gradebook
import gradescope_results
import html_report
import junit
from record import Class, Student, read_class, read_student


def _write(path: Path, text: str) -> None:
    """Whole or not at all: an interrupted run must not leave half a report."""
    new = path.with_name(path.name + ".new")
    new.write_text(text, encoding="utf-8", newline="")
    os.replace(new, path)


def _write_reports(folder: Path, student: Student) -> None:
    _write(folder / "feedback.md", feedback.markdown(student))
    _write(folder / "results.json", gradescope_results.results(student))


def write_student(folder: Path | str) -> Student:
    """feedback.md and results.json beside folder/grade.json. Raises record.RecordError if that cannot be used."""
    student = read_student(Path(folder))
    _write_reports(Path(folder), student)
    return student


def write_class(out: Path | str) -> Class:
    """All reports below `out`, the students' included. What could not be read is in the result's `unreadable`."""
    out = Path(out)
    group = read_class(out)
    for student in group.students:
        _write_reports(out / "students" / student.id, student)
    _write(out / "gradebook.csv", gradebook.table(group))
    _write(out / "junit.xml", junit.xml(group))
    _write(out / "report.html", html_report.page(group))
    return group


def main(argv: list[str]) -> int:
    if len(argv) != 1 or not (Path(argv[0]) / "students").is_dir():
        print("usage: reports.py OUT, the folder that make check wrote; it holds a folder students/", file=sys.stderr)
        return 2
    group = write_class(argv[0])
    for lost in group.unreadable:
        print(f"error: {lost.problem}", file=sys.stderr)
    print(f"{len(group.students)} students reported, {len(group.unreadable)} records unreadable: {argv[0]}/report.html")
    return 1 if group.unreadable else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
