"""results.json as Gradescope reads it (gradescope-autograders.readthedocs.io, Specifications).

A test there is passed or failed, nothing else. What was not run, or was decided by a person, becomes a row of information without a
score. Items of one verdict and reason are one row, since nobody reads hundreds. The verdict of each row is repeated in extra_data,
which Gradescope keeps and does not show.
"""

from __future__ import annotations

import json

from record import NOT_RUN, PASS, PERSON, Lab, Student, number_text
from summary import Group, groups, named, signed


def _output(group: Group) -> str:
    parts = []
    if group.verdict == PERSON:
        parts.append("A person will look at this before points are given.")
    if group.verdict == NOT_RUN:
        parts.append(f"Not run here: {number_text(group.out_of)} points, neither given nor lost.")
    parts.append(group.reason)
    if group.hint:
        parts.append("Where to look: " + group.hint)
    if group.details:
        parts.append("\n" + group.details)
    return "\n".join(part for part in parts if part)


def _test(lab: Lab, group: Group) -> dict:
    test: dict = {"name": f"{lab.lab}: {named(lab, group.items)}", "output": _output(group), "extra_data": {"lab": lab.lab, "verdict": group.verdict}}
    if group.verdict != NOT_RUN:
        test.update(score=group.points, max_score=group.out_of, status="passed" if group.verdict == PASS else "failed")
    return test


def _decided(where: str, adjustments, comments) -> list[dict]:
    rows = [f"{signed(adjustment.points)} points: {adjustment.text}" for adjustment in adjustments]
    return [{"name": f"{where}: {text}" if where else text, "output": "", "extra_data": {"lab": where, "decided": True}} for text in (*rows, *comments)]


def results(student: Student) -> str:
    """The score is that of the whole: late days and a person's decisions are in it, and in no test."""
    summary = f"{number_text(student.points)} of {number_text(student.out_of)} points: {student.verdict}."
    if student.problem:
        summary += f" {student.problem}."
    if student.waits:
        summary += f" {number_text(student.waits)} points wait until a person has looked."
    if student.not_run:
        summary += f" {number_text(student.not_run)} points were not run on this machine; they are neither given nor lost."
    tests = _decided("", student.adjustments, student.comments)
    for lab in student.labs:
        tests += [*_decided(lab.lab, lab.adjustments, lab.comments), *(_test(lab, group) for group in groups(lab) if group.out_of or group.verdict != PASS)]
    return json.dumps({
        "score": student.points,
        "execution_time": student.seconds,
        "output": summary,
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": tests,
        "extra_data": {
            "student": student.student, "id": student.id, "verdict": student.verdict, "out_of": student.out_of,
            "not_run": student.not_run,
            "labs": [{"lab": lab.lab, "verdict": lab.verdict, "points": lab.points, "out_of": lab.out_of, "not_run": lab.not_run}
                     for lab in student.labs]},
    }, ensure_ascii=False) + "\n"
