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
from record import FAIL, NOT_RUN, PASS, PERSON, VERDICTS, Class, Student, Ungraded, number_text

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


def _command(student: Student, lab: str, out: str) -> str:
    return f'<kbd>make decide OUT={for_html(out)} STUDENT={for_html(student.id)} LAB={for_html(lab)} RELEASE=1</kbd>'


def _waiting(student: Student, name: str, out: str) -> list[str]:
    """An entry for each lab with items that wait, those of one reason together."""
    entries = []
    for lab in student.labs:
        reasons: dict[str, list[str]] = {}
        for item in lab.with_verdict(PERSON):
            reasons.setdefault(item.reason.split(" points wait for a person: ")[-1], []).append(item.name)
        if reasons:
            why = "".join(f"<li>{for_html(', '.join(names[:3]))}{f' and {len(names) - 3} more' if len(names) > 3 else ''}: {for_html(reason)}</li>"
                          for reason, names in reasons.items())
            entries.append(f"<li>{name}, {for_html(lab.lab)}: {number_text(lab.waits)} points wait. {_command(student, lab.lab, out)}<ul>{why}</ul></li>")
    return entries


def _needs_a_person(group: Class, out: str) -> list[str]:
    entries = [f"<li>{for_html(problem)}</li>" for problem in group.problems]
    entries += [f"<li><strong>{for_html(lost.student or lost.id)}</strong>: has no grade: {for_html(lost.problem)}</li>"
                for lost in group.ungraded if lost.verdict == PERSON]
    for student in group.students:
        name = _feedback(student.id, student.student or student.id)
        entries += [f"<li>{name}: {for_html(student.problem)}</li>"] if student.problem else []
        entries += _waiting(student, name, out)
    if not entries:
        return ['<section id="person"><h2>Needs a person</h2>', "<p>Nothing does.</p>", "</section>"]
    return [f'<section id="person"><h2>Needs a person ({len(entries)})</h2>', "<p>RELEASE=1 gives the points that wait, DENY=1 does not; "
            'COMMENT="..." adds what the student should know.</p>', "<ul>", *entries, "</ul>", "</section>"]


def _decided(group: Class) -> list[str]:
    """What persons and the rules of the class changed."""
    lines = []
    for student in group.students:
        texts = [*(f"{lab.lab}: {_signed(a.points)} points, {a.text}" for lab in student.labs for a in lab.adjustments),
                 *(f"{lab.lab}: {text}" for lab in student.labs for text in lab.comments),
                 *(f"{_signed(a.points)} points, {a.text}" for a in student.adjustments), *student.comments]
        lines += [f"<li>{_feedback(student.id, student.student or student.id)}: {for_html(text)}</li>" for text in texts]
    return [f'<section id="decided"><h2>Decided ({len(lines)})</h2>', "<ul>", *lines, "</ul>", "</section>"] if lines else []


def _signed(points: float) -> str:
    return f"+{number_text(points)}" if points > 0 else number_text(points)


def _notes(group: Class) -> list[str]:
    """What was decided about files, and what was left out: good to know, and no more."""
    lines = [f"<li>{_feedback(student.id, student.student or student.id)}: {for_html(note)}</li>" for student in group.students for note in student.notes]
    lines += [f"<li>{for_html(other)} in SUBMISSIONS is no submission, and was not graded</li>" for other in group.others]
    return [f'<section id="notes"><h2>Notes ({len(lines)})</h2>', "<ul>", *lines, "</ul>", "</section>"] if lines else []


def _head(text: str, numeric: bool = False) -> str:
    return (f'<th scope="col"{" class=" + chr(34) + "number" + chr(34) if numeric else ""} aria-sort="none">'
            f'<button type="button">{for_html(text)}</button></th>')


def _percent(student: Student) -> float:
    value = student.percent if student.final is None else student.final
    return -1.0 if value is None else value


def _percent_text(student: Student) -> str:
    return "-" if student.percent is None else number_text(student.percent) + (f" <span class=\"of\">curved {number_text(student.final)}</span>" if student.final is not None else "")


def _row(student: Student, labs: list[str]) -> str:
    by_name = {lab.lab: lab for lab in student.labs}
    cells = [f'<th scope="row" data-sort="{for_html(student.student.casefold())}">{_feedback(student.id, student.student or student.id)}</th>',
             f'<td data-sort="{for_html(student.id)}">{for_html(student.id)}</td>',
             f'<td data-sort="{VERDICTS.index(student.verdict)}">{_verdict(student.verdict)}</td>',
             f'<td class="number" data-sort="{student.points:.2f}">{_points(student.points, student.out_of)}</td>',
             f'<td class="number" data-sort="{_percent(student):.2f}">{_percent_text(student)}</td>']
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


def _ungraded_row(lost: Ungraded, labs: list[str]) -> str:
    return (f'<tr><th scope="row" data-sort="{for_html(lost.student.casefold())}">{for_html(lost.student or "(unreadable record)")}</th>'
            f'<td data-sort="{for_html(lost.id)}">{for_html(lost.id)}</td><td data-sort="{VERDICTS.index(lost.verdict)}">{_verdict(lost.verdict)}</td>'
            + '<td class="number" data-sort="-1">-</td>' * (len(labs) + 3) + "</tr>")


def _table(group: Class) -> list[str]:
    heads = [_head("student"), _head("id"), _head("verdict"), _head("points", True), _head("per cent", True),
             *(_head(lab, True) for lab in group.labs), _head("not run", True)]
    return ['<section id="all"><h2>All submissions</h2>',
            '<p><label for="filter">Show rows that hold</label> <input id="filter" type="search" autocomplete="off"> '
            '<output id="shown" for="filter"></output></p>',
            '<div class="scroll" tabindex="0" role="region" aria-label="All submissions">',
            '<table id="class"><caption>A click on a column\'s name sorts by it. A student\'s name leads to the feedback.</caption>',
            "<thead><tr>" + "".join(heads) + "</tr></thead>", "<tbody>",
            *(_row(student, group.labs) for student in group.students),
            *(_ungraded_row(lost, group.labs) for lost in group.ungraded), "</tbody></table></div></section>"]


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


def _summary(group: Class, out: Path) -> list[str]:
    verdicts = [student.verdict for student in group.students] + [lost.verdict for lost in group.ungraded]
    counts = [f"<li>{_verdict(verdict)} {verdicts.count(verdict)}</li>" for verdict in VERDICTS if verdict in verdicts]
    machines = sorted({(student.backend, student.machine) for student in group.students})
    where = "; ".join(f"backend {for_html(backend)}, {for_html(machine)}" for backend, machine in machines)
    running = sum(lost.verdict == NOT_RUN for lost in group.ungraded)
    where += f" <strong>{running} of them are not graded yet.</strong>" if running else ""
    alike = ' <a href="similar/index.html">Files that are alike.</a>' if (out / "similar" / "index.html").exists() else ""
    return [f"<p>{len(verdicts)} submissions. {where}{alike}</p>", '<ul class="counts">', *counts, "</ul>"]


def page(group: Class, out: Path) -> str:
    """out: the folder that it lies in, for the commands that it shows."""
    style = (FOLDER / "report.css").read_text(encoding="utf-8")
    script = (FOLDER / "report.js").read_text(encoding="utf-8")
    policy = f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'; form-action 'none'"
    lines = ["<!DOCTYPE html>", '<html lang="en">', "<head>", '<meta charset="utf-8">',
             f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
             '<meta name="viewport" content="width=device-width, initial-scale=1">',
             '<meta name="color-scheme" content="light dark">', "<title>Ladder: grades of the class</title>",
             f"<style>{style}</style>", "</head>", "<body>", '<a class="skip" href="#all">To the table</a>', "<main>",
             "<h1>Grades of the class</h1>", *_summary(group, out), *_needs_a_person(group, str(out)), *_table(group), *_distributions(group), *_decided(group),
             *_notes(group),
             "</main>", f"<script>{script}</script>", "</body>", "</html>"]
    return "\n".join(lines) + "\n"
