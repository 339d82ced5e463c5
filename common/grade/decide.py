#!/usr/bin/env python3
"""make decide: what a person decides about a grade goes into OUT/decisions.toml, and the reports are written again.

    decide.py --out OUT                                         what waits for a person
    decide.py --out OUT --student ann --lab lab02 --release     the points that wait are given; --deny: they are not
    decide.py --out OUT --student ann --lab lab02 --points 85   the lab's points, whatever else
    decide.py --out OUT --student ann --bonus 3                 points on top, of a --lab or of all; below 0 they are taken off
    decide.py --out OUT --student ann --lab lab02 --late-days 0
    decide.py --out OUT --student ann --comment "..."           alone or with any of these; the student reads it
    decide.py --out OUT --student ann --lab lab02 --undo        takes back what was decided about the lab; without --lab, everything
    decide.py --out OUT --fill grades.csv [--column "Lab 2"]    puts the grades into a column of a platform's export: OUT/import/grades.csv

--student is an id of the gradebook, or a name that only one student has. Exit status: 0, or 2 if nothing was done, with the reason.
"""

from __future__ import annotations

import argparse
import difflib
import getpass
import os
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1])]
import decided  # noqa: E402
import decisions  # noqa: E402
import imports  # noqa: E402
import policy  # noqa: E402
import record  # noqa: E402
import reports  # noqa: E402
import store  # noqa: E402
from course import labs as manifest  # noqa: E402
from decisions import Decision, DecisionError  # noqa: E402
from lock import LockError  # noqa: E402
from policy import PolicyError  # noqa: E402
from record import PERSON, Class, Student, number_text  # noqa: E402


def find(group: Class, wanted: str) -> Student:
    """By the id, or what else only one is called. Raises DecisionError."""
    names = decided.unique_names(group)
    for student in group.students:
        if wanted == student.id or wanted in names[student.id]:
            return student
    same = [student.id for student in group.students if student.student == wanted]
    if same:
        raise DecisionError(f"{len(same)} students are called '{wanted}'; use the id: {', '.join(same)}")
    if wanted in {lost.id for lost in group.ungraded}:
        raise DecisionError(f"{wanted} has no grade yet")
    every = [name for student in group.students for name in (student.id, student.student)]
    near = list(dict.fromkeys(difflib.get_close_matches(wanted, every, 3, 0.5)))
    raise DecisionError(f"there is no student '{wanted}'" + (f"; near names: {', '.join(near)}" if near else f" among the {len(group.students)}"))


def lab_of(student: Student, wanted: str) -> str:
    """Raises DecisionError."""
    wanted = manifest.beginning(wanted)
    found = [lab.lab for lab in student.labs if Decision("", wanted).about(lab.lab)]
    if not found:
        raise DecisionError(f"there is no lab '{wanted}' in the grade of {student.student}; it has: {', '.join(lab.lab for lab in student.labs)}")
    return found[0]


def waiting(group: Class, out: Path) -> list[str]:
    """What there is to decide, with the commands."""
    lines = []
    for student in group.students:
        if student.problem:
            lines.append(f"{student.student}: {student.problem}")
            if not student.waits:
                lines.append(f"    put it right in SUBMISSIONS and grade again, or: make decide OUT={out} STUDENT={student.id} DENY=1    (no points; or LAB= POINTS=)")
        for lab in student.labs:
            held = lab.with_verdict(PERSON)
            if held:
                lines += [f"{student.student}, {lab.lab}: {number_text(lab.waits)} points wait", *(f"    {reason}" for reason in dict.fromkeys(i.reason for i in held)),
                          f"    make decide OUT={out} STUDENT={student.id} LAB={lab.lab} RELEASE=1    (or DENY=1; COMMENT=\"...\")"]
    return lines


def who() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


def decisions_of(arguments: argparse.Namespace, group: Class) -> list[Decision]:
    """One, or one for each lab that waits. Raises DecisionError and RecordError."""

    def number(name: str, whole: bool = False) -> float | int | None:
        text = getattr(arguments, name)
        if text is None:
            return None
        try:
            return int(text) if whole else float(text.replace(",", "."))
        except ValueError:
            raise DecisionError(f"{name.upper()}={text}: it can be a {'whole number, for example 2' if whole else 'number, for example 8.5'}") from None

    student = find(group, arguments.student)
    lab = lab_of(student, arguments.lab) if arguments.lab else ""
    entry = {"student": student.id, "lab": lab, "item": arguments.item, "release": arguments.release, "deny": arguments.deny, "points": number("points"),
             "bonus": number("bonus"), "late_days": number("late_days", True), "comment": arguments.comment, "undo": arguments.undo,
             "by": arguments.by or who(), "on": date.today().isoformat()}
    entry = {key: value for key, value in entry.items() if not (value is None or value is False or value == "")}
    decision = decisions.checked(entry, "make decide")
    mine = next((entry for entry in student.labs if entry.lab == lab), None)
    if decision.item and mine and decision.item not in {text for item in mine.items for text in (item.id, item.name)}:
        waiting_ = ", ".join(f"'{item.name}'" for item in mine.with_verdict(PERSON)) or "none waits"
        raise DecisionError(f"there is no item '{decision.item}' in {lab}; those that wait: {waiting_}")
    return for_files(decision, record.read_student(arguments.out / "students" / student.id)) if decision.about_a_file else [decision]


def for_files(decision: Decision, graded: Student) -> list[Decision]:
    """The decision for the files that were looked at, so that it does not hold for those that are handed in later. graded: before anything
    was decided. Raises DecisionError."""
    labs = [lab for lab in graded.labs if decision.about(lab.lab)]
    without = decisions.no_file(graded.problem)
    if decision.points is not None:
        most = round(labs[0].out_of + labs[0].not_run, 2)
        if decision.points > most:
            raise DecisionError(f"POINTS={number_text(decision.points)}: {labs[0].lab} has {number_text(most)} points; what is given beyond them is a BONUS")
        return [replace(decision, file=labs[0].file or without)]
    if held := [lab for lab in labs if lab.with_verdict(PERSON)]:
        return [replace(decision, lab=lab.lab, file=lab.file or without) for lab in held]
    if decision.deny and graded.problem:  # there is nothing to give; somebody has looked
        return [replace(decision, file=without)]
    raise DecisionError(f"nothing of {graded.student}{f', {decision.lab},' if decision.lab else ''} waits for a person; POINTS=85 sets a lab's points")


def late_days_without_a_rule(decision: Decision, out: Path) -> bool:
    rules = policy.load(out)
    return bool(decision.late_days) and not rules.per_day and not rules.most_days


def decide(arguments: argparse.Namespace, group: Class) -> None:
    """Raises DecisionError, PolicyError, RecordError, LockError."""
    out = arguments.out
    made = decisions_of(arguments, group)
    decision = made[0]
    before = find(group, decision.student)
    for one in made:
        decisions.add(out, one)
    reports.write_student(out / "students" / decision.student)
    group = reports.write_class_pages(out)
    after = find(group, decision.student)
    for where in (lab for lab in after.labs if lab.lab in {one.lab for one in made}):
        print(f"{after.student}, {where.lab}: {where.verdict}, {number_text(where.points)} of {number_text(where.out_of)} points")
    print(f"{after.student}: {after.verdict}, {number_text(before.points)} points before, {number_text(after.points)} of {number_text(after.out_of)} now")
    if late_days_without_a_rule(decision, out):
        print(f"note: late days cost nothing: {out / policy.NAME} has no per_day and no most_days in [late]", file=sys.stderr)
    for problem in group.problems:
        print(f"note: {problem}", file=sys.stderr)
    print(f"written: {out / decisions.NAME}, and the reports")


def fill(arguments: argparse.Namespace, group: Class) -> None:
    """Raises FillError."""
    filled, missing, strangers = imports.fill(imports.read(arguments.fill), group, arguments.column, arguments.lab)
    place = arguments.out / "import"
    place.mkdir(exist_ok=True)
    path = place / arguments.fill.name
    store.write(path, filled)
    for names, text in ((strangers, "rows have nobody of the class and stay as they are"), (missing, "of the class are not in it")):
        if names:
            print(f"note: {len(names)} {text}: {', '.join(names[:8])}{' ...' if len(names) > 8 else ''}", file=sys.stderr)
    print(f"{path}: {len(group.students) - len(missing)} grades; import this file")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    for name in ("student", "lab", "item", "comment", "by", "column"):
        parser.add_argument(f"--{name}", default="")
    for name in ("points", "bonus", "late-days"):
        parser.add_argument(f"--{name}")
    for name in ("release", "deny", "undo"):
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--fill", type=Path)
    arguments = parser.parse_args()
    try:
        if not arguments.out or not (arguments.out / "students").is_dir():
            raise DecisionError("OUT is the folder that make check SUBMISSIONS=folder OUT=folder has written")
        group = decided.read_class(arguments.out)
        if arguments.fill:
            fill(arguments, group)
        elif arguments.student:
            decide(arguments, group)
        elif any((arguments.lab, arguments.release, arguments.deny, arguments.points, arguments.bonus, arguments.late_days, arguments.comment, arguments.undo)):
            raise DecisionError("STUDENT=id is missing: whose grade is it?")
        else:
            lines = waiting(group, Path(os.path.relpath(arguments.out)))
            print("\n".join(lines) if lines else "nothing waits for a person")
        return 0
    except (DecisionError, PolicyError, record.RecordError, LockError, imports.FillError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
