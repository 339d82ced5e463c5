"""junit.xml: a suite per student, a case per lab, for programs that show test results. (A case per item makes 70 MB of a class of a thousand.
All items are in feedback.md.)

pass: an empty case; fail: <failure>; not run: <skipped>; needs a person: <error>, since the grader could not decide. What is not passed
is named, with the first reason.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET

from escape import shortened
from record import FAIL, NOT_RUN, PASS, PERSON, Class, Lab, Student, number_text
from summary import groups, named

LONGEST_MESSAGE, LONGEST_TEXT = 200, 400
ELEMENTS = {FAIL: "failure", NOT_RUN: "skipped", PERSON: "error"}


def _properties(parent: ET.Element, values: dict[str, str]) -> None:
    properties = ET.SubElement(parent, "properties")
    for name, value in values.items():
        ET.SubElement(properties, "property", name=name, value=value)


def _case(suite: ET.Element, student: Student, lab: Lab) -> None:
    case = ET.SubElement(suite, "testcase", classname=student.id, name=lab.lab)
    _properties(case, {"points": number_text(lab.points), "out_of": number_text(lab.out_of), "not_run": number_text(lab.not_run)})
    if lab.verdict == PASS:
        return
    mine = [group for group in groups(lab) if group.verdict == lab.verdict]
    count = sum(len(group.items) for group in mine)
    message = f"{count} of {len(lab.items)} items: {lab.verdict}" + (f"; {mine[0].reason}" if mine and mine[0].reason else "")
    element = ET.SubElement(case, ELEMENTS[lab.verdict], message=shortened(message, LONGEST_MESSAGE))
    if lab.verdict != NOT_RUN:
        element.text = shortened("\n".join(named(lab, group.items) for group in mine), LONGEST_TEXT) or None


def _suite(root: ET.Element, student: Student) -> None:
    verdicts = [lab.verdict for lab in student.labs]
    counts = {element: str(verdicts.count(verdict)) for element, verdict in (("failures", FAIL), ("errors", PERSON), ("skipped", NOT_RUN))}
    suite = ET.SubElement(root, "testsuite", name=f"{student.student} ({student.id})", tests=str(len(verdicts)), **counts,
                          time=number_text(student.seconds))
    _properties(suite, {"student": student.student, "id": student.id, "verdict": student.verdict, "points": number_text(student.points),
                        "out_of": number_text(student.out_of), "not_run": number_text(student.not_run)})
    for lab in student.labs:
        _case(suite, student, lab)


def xml(group: Class) -> str:
    root = ET.Element("testsuites", name="make check")
    for student in group.students:
        _suite(root, student)
    for lost in group.ungraded:
        is_error = lost.verdict == PERSON
        suite = ET.SubElement(root, "testsuite", name=lost.id, tests="1", failures="0", errors=str(int(is_error)), skipped=str(int(not is_error)))
        _properties(suite, {"id": lost.id, "verdict": lost.verdict})
        case = ET.SubElement(suite, "testcase", classname=lost.id, name="grade.json")
        ET.SubElement(case, ELEMENTS[lost.verdict], message=lost.problem)
    for count in ("tests", "failures", "errors", "skipped"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in root)))
    ET.indent(root, "")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"
