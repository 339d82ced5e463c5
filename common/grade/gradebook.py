"""gradebook.csv: one row a student. UTF-8 with a byte order mark, without which Excel spoils names; all cells quoted."""

from __future__ import annotations

import csv
import io

from escape import for_csv
from record import PERSON, Class, number_text

HEAD = ["student", "id", "verdict", "points", "out_of", "not_run"]


def table(group: Class) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    labs = group.labs
    heads = [f"{lab} {what}" for lab in labs for what in ("verdict", "points", "out_of", "not_run")]
    writer.writerow([for_csv(cell) for cell in [*HEAD, *heads, "problem"]])
    for student in group.students:
        row = [for_csv(student.student), student.id, student.verdict, number_text(student.points), number_text(student.out_of),
               number_text(student.not_run)]
        by_name = {lab.lab: lab for lab in student.labs}
        for name in labs:
            lab = by_name.get(name)
            row += [lab.verdict, number_text(lab.points), number_text(lab.out_of), number_text(lab.not_run)] if lab else [""] * 4
        writer.writerow([*row, ""])
    for lost in group.unreadable:  # no points: nobody knows yet how many there are
        writer.writerow(["", for_csv(lost.id), PERSON, *[""] * (3 + len(heads)), for_csv(lost.problem)])
    return "\ufeff" + stream.getvalue()
