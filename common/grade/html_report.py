"""report.html: the class on one page that needs no network. What needs a person comes first.

The page allows itself nothing but its own style and its own script (Content-Security-Policy): even a name that slipped through
the escaping could not run or load anything.
"""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

import histogram
from escape import for_html
from record import FAIL, NOT_RUN, PASS, PERSON, VERDICTS, Class, Student, number_text

FOLDER = Path(__file__).resolve().parent
CLASS_OF = {PASS: "pass", FAIL: "fail", NOT_RUN: "not-run", PERSON: "person"}
MARKS = {PASS: "\u2713", FAIL: "\u2717", NOT_RUN: "\u2013", PERSON: "?"}  # colour alone must not tell


def _hash(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def _verdict(verdict: str) -> str:
    return f'<span class="verdict {CLASS_OF[verdict]}">{verdict}</span>'


def _feedback(student_id: str, text: str) -> str:
    return f'<a href="students/{for_html(student_id)}/feedback.md">{for_html(text)}</a>'


def _points(points: float, out_of: float) -> str:
    return f"{number_text(points)} <span class=\"of\">/ {number_text(out_of)}</span>"


def _needs_a_person(group: Class) -> list[str]:
    lines = []
    for lost in group.unreadable:
        lines.append(f"<li><strong>{for_html(lost.id)}</strong>: no points, its record cannot be used: {for_html(lost.problem)}</li>")
    for student in group.students:
        for lab in student.labs:
            for item in lab.with_verdict(PERSON):
                lines.append(f"<li>{_feedback(student.id, student.student or student.id)}, {for_html(lab.lab)}, "
                             f"{for_html(item.name)} ({number_text(item.out_of)} points): {for_html(item.reason)}</li>")
    if not lines:
        return ['<section id="person"><h2>Needs a person</h2>', "<p>Nothing does.</p>", "</section>"]
    return [f'<section id="person"><h2>Needs a person ({len(lines)})</h2>', "<ul>", *lines, "</ul>", "</section>"]


def _head(text: str, numeric: bool = False) -> str:
    return (f'<th scope="col"{" class=" + chr(34) + "number" + chr(34) if numeric else ""} aria-sort="none">'
            f'<button type="button">{for_html(text)}</button></th>')


def _row(student: Student, labs: list[str]) -> str:
    by_name = {lab.lab: lab for lab in student.labs}
    cells = [f'<th scope="row" data-sort="{for_html(student.student.casefold())}">{_feedback(student.id, student.student or student.id)}</th>',
             f'<td data-sort="{for_html(student.id)}">{for_html(student.id)}</td>',
             f'<td data-sort="{VERDICTS.index(student.verdict)}">{_verdict(student.verdict)}</td>',
             f'<td class="number" data-sort="{student.points:.2f}">{_points(student.points, student.out_of)}</td>']
    for name in labs:
        lab = by_name.get(name)
        if lab is None:
            cells.append('<td class="number" data-sort="-1">-</td>')
        else:
            mark = f'<span role="img" aria-label="{lab.verdict}" title="{lab.verdict}">{MARKS[lab.verdict]}</span>'
            cells.append(f'<td class="number {CLASS_OF[lab.verdict]}" data-sort="{lab.points:.2f}">'
                         f'{_points(lab.points, lab.out_of)} {mark}</td>')
    cells.append(f'<td class="number" data-sort="{student.not_run:.2f}">{number_text(student.not_run)}</td>')
    return "<tr>" + "".join(cells) + "</tr>"


def _unreadable_row(lost_id: str, labs: list[str]) -> str:
    return (f'<tr><th scope="row" data-sort="">(unreadable record)</th><td data-sort="{for_html(lost_id)}">{for_html(lost_id)}</td>'
            f'<td data-sort="0">{_verdict(PERSON)}</td>' + '<td class="number" data-sort="-1">-</td>' * (len(labs) + 2) + "</tr>")


def _table(group: Class) -> list[str]:
    heads = [_head("student"), _head("id"), _head("verdict"), _head("points", True),
             *(_head(lab, True) for lab in group.labs), _head("not run", True)]
    return ['<section id="all"><h2>All submissions</h2>',
            '<p><label for="filter">Show rows that hold</label> <input id="filter" type="search" autocomplete="off"> '
            '<output id="shown" for="filter"></output></p>',
            '<div class="scroll" tabindex="0" role="region" aria-label="All submissions">',
            '<table id="class"><caption>A click on a column\'s name sorts by it. A student\'s name leads to the feedback.</caption>',
            "<thead><tr>" + "".join(heads) + "</tr></thead>", "<tbody>",
            *(_row(student, group.labs) for student in group.students),
            *(_unreadable_row(lost.id, group.labs) for lost in group.unreadable), "</tbody></table></div></section>"]


def _items_table(group: Class, name: str) -> list[str]:
    """How many got which verdict for each item of a lab: where a class is stuck."""
    counts: dict[str, dict[str, int]] = {}
    for student in group.students:
        for lab in student.labs:
            for item in lab.items if lab.lab == name else ():
                counts.setdefault(item.id, dict.fromkeys(VERDICTS, 0))[item.verdict] += 1
    rows = [f'<tr><th scope="row">{for_html(item)}</th>' +
            "".join(f'<td class="number">{count[verdict]}</td>' for verdict in (PASS, FAIL, PERSON, NOT_RUN)) + "</tr>"
            for item, count in sorted(counts.items(), key=lambda entry: (-entry[1][FAIL], entry[0]))]
    return ["<details><summary>Item by item</summary>", '<table><thead><tr><th scope="col">item</th>',
            *(f'<th scope="col" class="number">{verdict}</th>' for verdict in (PASS, FAIL, PERSON, NOT_RUN)),
            "</tr></thead><tbody>", *rows, "</tbody></table></details>"]


def _distributions(group: Class) -> list[str]:
    lines = ['<section id="labs"><h2>Points, lab by lab</h2>', '<div class="labs">']
    for name in group.labs:
        labs = [lab for student in group.students for lab in student.labs if lab.lab == name]
        lines += ["<article>", f"<h3>{for_html(name)}</h3>", f"<p>{for_html(labs[0].title)}</p>",
                  histogram.svg([100 * lab.points / lab.out_of for lab in labs if lab.out_of > 0], name),
                  *_items_table(group, name), "</article>"]
    return [*lines, "</div></section>"]


def _summary(group: Class) -> list[str]:
    verdicts = [student.verdict for student in group.students] + [PERSON] * len(group.unreadable)
    counts = [f"<li>{_verdict(verdict)} {verdicts.count(verdict)}</li>" for verdict in VERDICTS if verdict in verdicts]
    machines = sorted({(student.backend, student.machine) for student in group.students})
    where = "; ".join(f"backend {for_html(backend)}, {for_html(machine)}" for backend, machine in machines)
    return [f"<p>{len(verdicts)} submissions. {where}</p>", '<ul class="counts">', *counts, "</ul>"]


def page(group: Class) -> str:
    style = (FOLDER / "report.css").read_text(encoding="utf-8")
    script = (FOLDER / "report.js").read_text(encoding="utf-8")
    policy = f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'; form-action 'none'"
    lines = ["<!DOCTYPE html>", '<html lang="en">', "<head>", '<meta charset="utf-8">',
             f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
             '<meta name="viewport" content="width=device-width, initial-scale=1">',
             '<meta name="color-scheme" content="light dark">', "<title>Ladder: grades of the class</title>",
             f"<style>{style}</style>", "</head>", "<body>", '<a class="skip" href="#all">To the table</a>', "<main>",
             "<h1>Grades of the class</h1>", *_summary(group), *_needs_a_person(group), *_table(group), *_distributions(group),
             "</main>", f"<script>{script}</script>", "</body>", "</html>"]
    return "\n".join(lines) + "\n"
