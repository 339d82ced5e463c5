"""results.json as Gradescope reads it (gradescope-autograders.readthedocs.io, Specifications).

A test there is passed or failed, nothing else. What was not run becomes a row of information without a score. The verdict of
each row is repeated in extra_data, which Gradescope keeps and does not show.
"""

from __future__ import annotations

import json

from record import NOT_RUN, PASS, PERSON, Item, Lab, Student, number_text


def _output(item: Item) -> str:
    parts = []
    if item.verdict == PERSON:
        parts.append("A person will look at this before points are given.")
    if item.verdict == NOT_RUN:
        parts.append(f"Not run here: {number_text(item.out_of)} points, neither given nor lost.")
    parts.append(item.reason)
    if item.hint:
        parts.append("Where to look: " + item.hint)
    if item.details:
        parts.append("\n" + item.details)
    return "\n".join(part for part in parts if part)


def _test(lab: Lab, item: Item) -> dict:
    test: dict = {"name": f"{lab.lab}: {item.name}", "name_format": "text", "output": _output(item), "output_format": "text",
                  "visibility": "visible", "extra_data": {"lab": lab.lab, "id": item.id, "verdict": item.verdict}}
    if item.verdict != NOT_RUN:
        test.update(score=item.points, max_score=item.out_of, status="passed" if item.verdict == PASS else "failed")
    return test


def results(student: Student) -> str:
    summary = f"{number_text(student.points)} of {number_text(student.out_of)} points: {student.verdict}."
    if student.not_run:
        summary += f" {number_text(student.not_run)} points were not run on this machine; they are neither given nor lost."
    return json.dumps({
        "score": student.points,
        "execution_time": student.seconds,
        "output": summary,
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": [_test(lab, item) for lab in student.labs for item in lab.items],
        "extra_data": {
            "student": student.student, "id": student.id, "verdict": student.verdict, "out_of": student.out_of,
            "not_run": student.not_run,
            "labs": [{"lab": lab.lab, "verdict": lab.verdict, "points": lab.points, "out_of": lab.out_of, "not_run": lab.not_run}
                     for lab in student.labs]},
    }, indent=1) + "\n"
