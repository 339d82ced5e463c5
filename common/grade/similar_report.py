"""OUT/similar/: the pairs of files that are alike, as a list (index.html, pairs.csv), and each side by side with the parts that are alike in
one colour. Pages need no network and run no script."""

from __future__ import annotations

import base64
import hashlib
import shutil
from pathlib import Path

import similar
import store
from escape import for_html, visible
from gradebook import csv_text
from similar import File, Pair

LEAST, SHARED = 0.3, 3  # shown if so much is alike, with so many fingerprints
LONG = 40  # or if one part of so many tokens is; in honest solutions of one task parts of some 25 come about
LOOKED_AT, MOST_PAIRS, MOST_PAGES = 400, 200, 60  # of a lab
COLOURS = 8
STYLE = """
:root { color-scheme: light dark; font: 15px/1.45 system-ui, sans-serif; }
body { max-width: 110rem; margin: 0 auto; padding: 1rem; }
table { border-collapse: collapse; } th, td { padding: .2rem .7rem; text-align: left; border-bottom: 1px solid #8885; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
.two { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; }
pre { font: 12px/1.4 ui-monospace, monospace; overflow: auto; white-space: pre-wrap; border: 1px solid #8885; padding: .5rem; height: 80vh; }
.handed { opacity: .45; } a.alike { color: inherit; text-decoration: none; border-bottom: 2px solid; }
""" + "".join(f".c{i} {{ background: hsl({i * 360 // COLOURS} 80% 50% / .28); }}\n" for i in range(COLOURS)) + "a.alike:target { outline: 2px solid; }\n"


def _page(title: str, body: list[str]) -> str:
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    return "\n".join(["<!DOCTYPE html>", '<html lang="en">', "<head>", '<meta charset="utf-8">',
                      f"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'\">",
                      f"<title>{for_html(title)}</title>", f"<style>{STYLE}</style>", "</head>", "<body>", *body, "</body>", "</html>"]) + "\n"


def _names(file: File, most: int = 4) -> str:
    names = [name for name, _ in file.students]
    return visible(", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else ""))


def _marked(file: File, side: str, other: str, alike: list[tuple[int, int, int]]) -> str:
    """The text, handed-out parts pale, each part that is alike a link to its counterpart."""
    own = [False] * len(file.tokens)
    for begin, end in file.own:
        own[begin:end] = [True] * (end - begin)
    pieces, at = [], 0
    inside = {begin: (begin + length, number) for begin, length, number in alike}
    i = 0
    while i < len(file.tokens):
        token = file.tokens[i]
        if i in inside:
            end, number = inside[i]
            pieces.append(for_html(visible(file.text[at:token.begin], lines=True)))
            at = file.tokens[end - 1].end
            pieces.append(f'<a class="alike c{number % COLOURS}" id="{side}{number}" href="#{other}{number}">'
                          f"{for_html(visible(file.text[token.begin:at], lines=True))}</a>")
            i = end
        elif not own[i]:
            end = i
            while end < len(file.tokens) and not own[end]:
                end += 1
            pieces.append(for_html(visible(file.text[at:token.begin], lines=True)))
            at = file.tokens[end - 1].end
            pieces.append(f'<span class="handed">{for_html(visible(file.text[token.begin:at], lines=True))}</span>')
            i = end
        else:
            i += 1
    return "".join(pieces) + for_html(visible(file.text[at:], lines=True))


def side_by_side(lab: str, pair: Pair, runs: list[tuple[int, int, int]]) -> str:
    sides = ([(i, length, number) for number, (i, _, length) in enumerate(runs)], [(j, length, number) for number, (_, j, length) in enumerate(runs)])
    body = ['<p><a href="index.html">All pairs</a></p>', f"<h1>{for_html(lab)}: {for_html(_names(pair.first))} and {for_html(_names(pair.second))}</h1>",
            f"<p>{100 * pair.alike:.0f} % alike, in {len(runs)} parts of {sum(run[2] for run in runs)} tokens. A part leads to its counterpart; what was handed "
            "out is pale and does not count. Names, numbers and layout are not compared.</p>", '<div class="two">']
    for file, side, other, mine in ((pair.first, "a", "b", sides[0]), (pair.second, "b", "a", sides[1])):
        body.append(f"<div><h2>{for_html(_names(file))}</h2><pre>{_marked(file, side, other, mine)}</pre></div>")
    return _page(f"{lab}: {_names(pair.first)} and {_names(pair.second)}", [*body, "</div>"])


def longest(runs: list[tuple[int, int, int]]) -> int:
    return max((length for _, _, length in runs), default=0)


def usual(every: list[Pair], files: int) -> str:
    """How alike files of this lab are anyway."""
    possible = files * (files - 1) // 2
    if files < 6:
        return ""
    alike = sorted([0.0] * (possible - len(every)) + [pair.alike for pair in every])
    return f" Half of all pairs are less than {100 * alike[len(alike) // 2] + 1:.0f} % alike, nine of ten less than {100 * alike[len(alike) * 9 // 10] + 1:.0f} %."


def _lab(out: Path, lab: str, files: list[File], rows: list[list]) -> tuple[list[str], int]:
    """The lab's part of the list, and how many pairs it has."""
    every = similar.pairs(files)
    looked_at = [(pair, similar.common_runs(pair.first, pair.second)) for pair in [pair for pair in every if pair.shared >= SHARED][:LOOKED_AT]]
    found = [(pair, runs) for pair, runs in looked_at if pair.alike >= LEAST or longest(runs) >= LONG][:MOST_PAIRS]
    count = sum(file.of_this_class for file in files)
    lines = [f"<section><h2>{for_html(lab)}</h2>", f"<p>{count} different file{'s' if count > 1 else ''}.{usual(every, len(files))}</p>"]
    same = [file for file in files if len(file.students) > 1 and file.of_this_class]
    if same:
        lines.append("<h3>The same, token for token</h3><ul>")
        lines += [f"<li>{for_html(_names(file, 20))} <small>({file.own_tokens} tokens that were not handed out)</small></li>" for file in same]
        lines.append("</ul>")
        rows += [[lab, 100.0, len(file.tokens), *sorted((name for name, _ in file.students))[:2], "the same, token for token, as "
                  + f"{len(file.students) - 1} others" if len(file.students) > 2 else "the same, token for token"] for file in same]
    if found:
        lines.append("<table><thead><tr><th>alike</th><th>longest part</th><th>one</th><th>another</th><th></th></tr></thead><tbody>")
    for number, (pair, runs) in enumerate(found, 1):
        link = ""
        if number <= MOST_PAGES:
            name = f"{lab}-{number:03d}.html"
            store.write(out / name, side_by_side(lab, pair, runs))
            link = f'<a href="{name}">side by side</a>'
        lines.append(f'<tr><td class="number">{100 * pair.alike:.0f} %</td><td class="number">{longest(runs)} tokens</td><td>{for_html(_names(pair.first))}</td>'
                     f"<td>{for_html(_names(pair.second))}</td><td>{link}</td></tr>")
        rows.append([lab, round(100 * pair.alike, 1), longest(runs), _names(pair.first), _names(pair.second), ""])
    if found:
        lines.append("</tbody></table>")
    return [*lines, "</section>"], len(found) + len(same)


def write(out: Path, course: Path, labs: dict[str, str], handed_in: dict[str, list[tuple[str, str, bytes]]]) -> int:
    """OUT/similar, from the files of each lab (name, id, text). Returns how many pairs and groups there are."""
    place = out / "similar"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    body = ["<h1>Files that are alike</h1>",
            "<p>This accuses nobody. It says which files of different students have much in common that was not handed out, after names, numbers and layout "
            "were taken out, so that a person may look. There are many good reasons: two who learnt together, a common source, a task that has one answer. "
            "What many of the class have counts less. The course's own solution is compared, too.</p>"]
    rows: list[list] = [["lab", "alike_percent", "longest_part", "one", "another", "remark"]]
    total = 0
    for lab, kernel in labs.items():
        if handed_in.get(lab):
            lines, count = _lab(place, lab, similar.files_of_lab(course, lab, kernel, handed_in[lab]), rows)
            body += lines
            total += count
    store.write(place / "index.html", _page("Files that are alike", body if total else [*body, "<p>No two files are.</p>"]))
    store.write(place / "pairs.csv", csv_text(rows))
    return total
