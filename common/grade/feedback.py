"""feedback.md: what a student reads. First what to do, last what is right."""

from __future__ import annotations

from escape import code_block, for_markdown
from record import FAIL, NOT_RUN, PERSON, Adjustment, Lab, Student, number_text
from summary import Group, groups, named, of, signed

INTRODUCTIONS = {PERSON: "A person will look at this before points are given:", FAIL: "To do:",
                 NOT_RUN: "Not run here, so neither given nor lost:", "pass": "Right:"}


def _group(lab: Lab, group: Group) -> list[str]:
    lines = [f"- **{group.verdict}**, {of(group.points, group.out_of)}: {for_markdown(named(lab, group.items))}"]
    if group.reason:
        lines += ["", "  " + for_markdown(group.reason)]
    if group.hint:
        lines += ["", f"  Where to look: {for_markdown(group.hint)}"]
    if group.details:
        lines += ["", code_block(group.details, "  ")]
    return [*lines, ""]


def _adjustments(adjustments: tuple[Adjustment, ...], comments: tuple[str, ...]) -> list[str]:
    lines = [f"- {signed(adjustment.points)} points: {for_markdown(adjustment.text)}" for adjustment in adjustments]
    lines += [f"- {for_markdown(line)}" for comment in comments for line in comment.split("\n")]
    return [*lines, ""] if lines else []


def _lab(lab: Lab) -> list[str]:
    lines = [f"## {for_markdown(lab.lab)}: {for_markdown(lab.title)}", "",
             f"**{lab.verdict}**, {of(lab.points, lab.out_of)} points" +
             (f" ({number_text(lab.not_run)} more were not run)" if lab.not_run else ""), ""]
    lines += _adjustments(lab.adjustments, lab.comments)
    before = ""
    for group in groups(lab):
        if group.verdict != before:
            lines += [INTRODUCTIONS[group.verdict], ""]
        before = group.verdict
        lines += _group(lab, group)
    return lines


def _per_cent(student: Student) -> str:
    if student.percent is None:
        return ""
    return f" ({number_text(student.percent)} %" + (f", {number_text(student.final)} % after the curve" if student.final is not None else "") + ")"


def markdown(student: Student) -> str:
    lines = [f"# Feedback for {for_markdown(student.student)}", "",
             f"**{student.verdict}**, {of(student.points, student.out_of)} points{_per_cent(student)}", ""]
    lines += _adjustments(student.adjustments, student.comments)
    if student.problem:
        lines += [f"**{for_markdown(student.problem)}.** A person will look at this.", ""]
    if student.waits:
        lines += [f"{number_text(student.waits)} points wait until a person has looked.", ""]
    if student.not_run:
        lines += [f"{number_text(student.not_run)} points were not run on this machine. They are neither given nor lost.", ""]
    lines += ["| lab | verdict | points | out of | not run |", "|---|---|---:|---:|---:|"]
    for lab in student.labs:
        lines.append(f"| {for_markdown(lab.lab)} | {lab.verdict} | {number_text(lab.points)} | {number_text(lab.out_of)} | "
                     f"{number_text(lab.not_run)} |")
    lines += ["", f"Backend {for_markdown(student.backend)}, on {for_markdown(student.machine)}; graded in "
              f"{number_text(student.seconds)} s.", ""]
    for lab in student.labs:
        lines += _lab(lab)
    text = "\n".join(lines)
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text.rstrip("\n") + "\n"
