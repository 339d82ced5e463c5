"""feedback.md: what a student reads. First what to do, last what is right."""

from __future__ import annotations

from escape import code_block, code_span, for_markdown
from record import FAIL, NOT_RUN, PERSON, VERDICTS, Item, Lab, Student, number_text

INTRODUCTIONS = {PERSON: "A person will look at this before points are given:", FAIL: "To do:",
                 NOT_RUN: "Not run here, so neither given nor lost:", "pass": "Right:"}


def _of(points: float, out_of: float) -> str:
    return f"{number_text(points)} of {number_text(out_of)}"


def _line(item: Item) -> str:
    return f"- **{item.verdict}**, {_of(item.points, item.out_of)}: {for_markdown(item.name)} ({code_span(item.id)})"


def _why(item: Item, indent: str) -> list[str]:
    lines = []
    if item.reason:
        lines += ["", indent + for_markdown(item.reason)]
    if item.hint:
        lines += ["", f"{indent}Where to look: {for_markdown(item.hint)}"]
    if item.details:
        lines += ["", code_block(item.details, indent)]
    return lines


def _items(items: list[Item]) -> list[str]:
    """What has one reason in common, a missing file say, is listed below it; the reason of a single item stands with it."""
    groups: dict[tuple[str, str, str], list[Item]] = {}
    for item in items:
        groups.setdefault((item.reason, item.hint, item.details), []).append(item)
    lines: list[str] = []
    for group in groups.values():
        if len(group) == 1:
            lines += [_line(group[0]), *_why(group[0], "  "), ""]
        else:
            lines += [*_why(group[0], ""), "", *(_line(item) for item in group), ""]
    return lines


def _lab(lab: Lab) -> list[str]:
    lines = [f"## {for_markdown(lab.lab)}: {for_markdown(lab.title)}", "",
             f"**{lab.verdict}**, {_of(lab.points, lab.out_of)} points" +
             (f" ({number_text(lab.not_run)} more were not run)" if lab.not_run else ""), ""]
    for verdict in VERDICTS:
        items = lab.with_verdict(verdict)
        if items:
            lines += [INTRODUCTIONS[verdict], "", *_items(items)]
    return lines


def markdown(student: Student) -> str:
    lines = [f"# Feedback for {for_markdown(student.student)}", "",
             f"**{student.verdict}**, {_of(student.points, student.out_of)} points", ""]
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
