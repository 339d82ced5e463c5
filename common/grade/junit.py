"""junit.xml: a suite a student, a case an item, for programs that show test results.

pass: an empty case; fail: <failure>; not run: <skipped>; needs a person: <error>, since the grader could not decide. The points of
a case are its one property, "2.5 of 5". A class has tens of thousands of cases, so that texts are short: all of them are in
feedback.md.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET

from escape import shortened
from record import FAIL, NOT_RUN, PASS, PERSON, Class, Item, Student, number_text

LONGEST_MESSAGE, LONGEST_TEXT = 160, 400
ELEMENTS = {FAIL: "failure", NOT_RUN: "skipped", PERSON: "error"}


def _properties(parent: ET.Element, values: dict[str, str]) -> None:
    properties = ET.SubElement(parent, "properties")
    for name, value in values.items():
        ET.SubElement(properties, "property", name=name, value=value)


def _case(suite: ET.Element, classname: str, item: Item, told: set[str]) -> None:
    """told: reasons whose text another case of the lab has given."""
    case = ET.SubElement(suite, "testcase", classname=classname, name=f"{item.id}: {item.name}")
    _properties(case, {"points": f"{number_text(item.points)} of {number_text(item.out_of)}"})
    if item.verdict == PASS:
        return
    element = ET.SubElement(case, ELEMENTS[item.verdict], message=shortened(item.reason, LONGEST_MESSAGE))
    if item.verdict == NOT_RUN or item.reason in told:
        return
    told.add(item.reason)
    text = "\n".join(part for part in (item.hint, item.details) if part)
    element.text = shortened(text, LONGEST_TEXT) or None


def _suite(root: ET.Element, student: Student) -> None:
    items = [item for lab in student.labs for item in lab.items]
    counts = {element: str(sum(item.verdict == verdict for item in items))
              for element, verdict in (("failures", FAIL), ("errors", PERSON), ("skipped", NOT_RUN))}
    suite = ET.SubElement(root, "testsuite", name=f"{student.student} ({student.id})", tests=str(len(items)), **counts,
                          time=number_text(student.seconds))
    values = {"student": student.student, "id": student.id, "verdict": student.verdict, "points": number_text(student.points),
              "out_of": number_text(student.out_of), "not_run": number_text(student.not_run)}
    for lab in student.labs:
        values.update({f"{lab.lab} verdict": lab.verdict, f"{lab.lab} points": number_text(lab.points),
                       f"{lab.lab} out_of": number_text(lab.out_of), f"{lab.lab} not_run": number_text(lab.not_run)})
    _properties(suite, values)
    for lab in student.labs:
        told: set[str] = set()
        for item in lab.items:
            _case(suite, f"{student.id}.{lab.lab}", item, told)


def xml(group: Class) -> str:
    root = ET.Element("testsuites", name="make check")
    for student in group.students:
        _suite(root, student)
    for lost in group.unreadable:
        suite = ET.SubElement(root, "testsuite", name=lost.id, tests="1", failures="0", errors="1", skipped="0")
        _properties(suite, {"id": lost.id, "verdict": PERSON})
        case = ET.SubElement(suite, "testcase", classname=lost.id, name="grade.json")
        ET.SubElement(case, "error", message=lost.problem, type=PERSON)
    for count in ("tests", "failures", "errors", "skipped"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in root)))
    ET.indent(root, "")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"
