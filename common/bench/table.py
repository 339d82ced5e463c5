#!/usr/bin/env python3
"""Prints the ladder: one row per variant, with its speed-up over the rung before and over the first rung.

Speed-ups compare the time of one element, because slow rungs may be measured on fewer rows.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import textwrap
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import results  # noqa: E402  (beside this file)

WIDTH = 118
KINDS = {"normal": "random normal logits", "bigrams": "bigrams of the course's own text"}
HEAD = ("lab", "variant", "dtype", "rows x cols", "K", "time", "GB/s", "B/elem", "before", "first", "note")
LEFT = ("lab", "variant", "dtype", "note")
LEGEND = ("GB/s: bytes that must move (each input read once, each output written once), over the time. B/elem: counted "
          "sector bytes per element (32 per sector requested). before, first: speed-up in time per element over the rung before (of the same dtype where there is one) and over the "
          "first. Top-K is compared with top-K only; its ladder starts anew for each dtype.")


def paint(text: str, code: str, colour: bool) -> str:
    return f"\033[{code}m{text}\033[0m" if colour and text.strip() else text


def format_time(seconds: float) -> str:
    for scale, unit in ((1, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= 0.9995 * scale:
            return f"{results.three_digits(seconds / scale)} {unit}"
    return f"{results.three_digits(seconds * 1e9)} ns"


def time_per_element(point: dict) -> float:
    return point["seconds"] / (point["rows"] * point["cols"])


def bytes_per_element(point: dict) -> str:
    """Global sectors x 32 that the executor counted, for one element; "-" where nothing was counted."""
    if not results.is_counted(point):
        return "-"
    return results.three_digits(point["l1_bytes"] / (point["rows"] * point["cols"]))


def speed_up(point: dict, other: dict | None) -> str:
    if other is None or other is point:
        return "-"
    return results.three_digits(time_per_element(other) / time_per_element(point)) + "x"


def row_of(point: dict, ladder: list[dict], notes: list[str]) -> dict[str, str]:
    """The cells of one point by column name. A note becomes a number; `notes` collects the texts."""
    note = str(point.get("note") or "")
    if note and note not in notes:
        notes.append(note)
    cells = (point["lab"], point["variant"], point["dtype"], f"{point['rows']} x {point['cols']}",
             str(point["k"]) if point["op"] == "softmax_topk" else "", format_time(point["seconds"]),
             results.three_digits(point["nominal_bytes"] / point["seconds"] / 1e9), bytes_per_element(point),
             speed_up(point, results.rung_before(point, ladder)), speed_up(point, results.first_rung(point, ladder)),
             f"({notes.index(note) + 1})" if note else "")
    return dict(zip(HEAD, cells))


def groups_of(points: list[dict]) -> dict[tuple[str, int], list[dict]]:
    """Points by (input, cols): real text last, narrow before wide; each in ladder order."""
    keys = sorted({(point["input"], point["cols"]) for point in points}, key=lambda key: (key[0] != "normal", key))
    return {key: results.ladder_order([point for point in points if (point["input"], point["cols"]) == key])
            for key in keys}


def title_of(group: tuple[str, int]) -> str:
    return f"{KINDS.get(group[0], group[0])}, {group[1]} columns"


def format_row(cells: dict[str, str], widths: dict[str, int]) -> dict[str, str]:
    return {name: cells[name].ljust(widths[name]) if name in LEFT else cells[name].rjust(widths[name]) for name in HEAD}


def format_group(group: tuple[str, int], ladder: list[dict], widths: dict[str, int], rows: list[dict],
                 notes: list[str], colour: bool) -> list[str]:
    head = "  ".join(format_row(dict(zip(HEAD, HEAD)), widths).values())
    lines = [paint(title_of(group), "1", colour), paint(head.rstrip(), "2", colour)]
    last_lab = ""
    for point, row in zip(ladder, rows):
        cells = format_row(row, widths)
        if point["lab"] == last_lab:
            cells["lab"] = " " * widths["lab"]
        last_lab = point["lab"]
        cells["lab"] = paint(cells["lab"], "1", colour)
        cells["before"] = paint(cells["before"], speed_colour(point, ladder), colour)
        lines.append("  ".join(cells.values()).rstrip())
    for number, note in enumerate(notes, 1):
        lines += textwrap.wrap(f"({number}) {note}", WIDTH, initial_indent="  ", subsequent_indent="      ")
    return lines


def speed_colour(point: dict, ladder: list[dict]) -> str:
    """Green where the rung is clearly faster than the one before, red where it is clearly slower."""
    before = results.rung_before(point, ladder)
    ratio = time_per_element(before) / time_per_element(point) if before else 1.0
    return "32" if ratio > 1.05 else "31" if ratio < 0.95 else "39"


def render(table: dict, points: list[dict], source: str, colour: bool) -> str:
    heading = f"{table['machine']}  |  {table['backend']}  |  {table['date']}  |  {source}"
    lines = textwrap.wrap(heading, WIDTH) + [""]
    groups = groups_of(points)
    notes: dict[tuple, list[str]] = {group: [] for group in groups}
    rows = {group: [row_of(point, ladder, notes[group]) for point in ladder] for group, ladder in groups.items()}
    every_row = [row for group_rows in rows.values() for row in group_rows] + [dict(zip(HEAD, HEAD))]
    widths = {name: max(len(row[name]) for row in every_row) for name in HEAD}
    for group, ladder in groups.items():
        lines += format_group(group, ladder, widths, rows[group], notes[group], colour) + [""]
    lines += [paint(line, "2", colour) for line in textwrap.wrap(LEGEND, WIDTH)]
    return "\n".join(lines)


def points_of(table: dict, source: str, lab: str | None = None, cols: int | None = None) -> list[dict]:
    points = [point for point in table["points"] if point["source"] == source and lab in (None, point["lab"])
              and cols in (None, point["cols"])]
    if not points:
        present = ", ".join(sorted({point["source"] for point in table["points"]}))
        raise results.UserError(f"no points of source {source!r}; the file has: {present}")
    return points


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Print the ladder of one machine as a table.")
    parser.add_argument("results", type=Path, help="a file of plots/results")
    parser.add_argument("--source", default="solution", help="whose points: solution (default), student, or a path")
    parser.add_argument("--lab", help="only this lab, for example lab02_smem")
    parser.add_argument("--cols", type=int, help="only this width")
    options = parser.parse_args(argv)
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    try:
        table = results.load(options.results)
        print(render(table, points_of(table, options.source, options.lab, options.cols), options.source, colour))
    except results.UserError as error:
        print(f"table.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `... | head` ends it without a traceback
    sys.exit(main(sys.argv[1:]))
