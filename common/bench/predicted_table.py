#!/usr/bin/env python3
"""Prints the ladder as it is predicted for a GPU: predicted_table.py RESULTS --gpu h200 [--source student] [--lab lab02_smem] [--words]

RESULTS: what predict.py wrote. Beside the prediction stand its band, the solution's prediction where the points are a student's, and what
was measured of the solution on that GPU where the repository has it. --words: says below each variant what limits it and what to change.
--line: of a lab one line, while others are being predicted.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import textwrap
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1])]
import gpus  # noqa: E402  (beside this file)
import results  # noqa: E402
import table  # noqa: E402
from course import labs  # noqa: E402
from course.labs import number_of  # noqa: E402
from results import UserError  # noqa: E402

WIDTH = 80
TEXT = ("lab", "variant", "type", "limit")  # columns that begin at the left
LEGEND = ("us: microseconds. band: nine of ten measurements should lie within it. {measured}before, first: predicted speed-up per element over the "
          "rung before and over the first. B/elem: counted sector bytes per element.")
MEASURED = "measured: the solution, on that GPU, on the date in {file}. "


def in_us(seconds: float | None) -> str:
    return "-" if seconds is None else results.three_digits(seconds * 1e6)


def same(points: list[dict]) -> dict[tuple, float]:
    """Seconds by what a rung does, whoever wrote it."""
    return {results.configuration_of(point): point["seconds"] for point in points if point["source"] == "solution"}


def lines_of(group: list[dict], ladder: list[dict], solution: dict, measured: dict, words: bool) -> list[str]:
    """group: the points to show, in ladder order; ladder: those that speed-ups are taken over."""
    rows = []
    for point in group:
        key = results.configuration_of(point)
        band = point["predicted"]
        rows.append({"lab": number_of(point["lab"]), "variant": point["variant"], "type": point["dtype"], "B/elem": table.bytes_per_element(point),
                     "us": in_us(point["seconds"]), "band": f"{in_us(band['low'])} - {in_us(band['high'])}",
                     **({"solution": in_us(solution.get(key))} if solution else {}),
                     **({"measured": in_us(measured.get(key))} if measured else {}),
                     "before": table.speed_up(point, results.rung_before(point, ladder)),
                     "first": table.speed_up(point, results.first_rung(point, ladder)), "limit": band["limit"]})
    widths = {name: max(len(name), *(len(row[name]) for row in rows)) for name in rows[0]}

    def line(cells: dict) -> str:
        return " ".join(cells[name].ljust(widths[name]) if name in TEXT else cells[name].rjust(widths[name]) for name in cells).rstrip()

    lines = [line({name: name for name in rows[0]})]
    for point, row in zip(group, rows):
        lines.append(line(row))
        if words:
            lines += textwrap.wrap(point["predicted"]["words"], WIDTH, initial_indent="     ", subsequent_indent="     ")
    return lines


def not_predicted(path: Path, source: str, lab: str | None) -> list[str]:
    """results.load leaves these out."""
    return [f"lab{number_of(point['lab'])} {point['variant']} {point['dtype']}: no prediction: {point['predicted']['why']}"
            for point in json.loads(path.read_text(encoding="utf-8"))["points"]
            if point["seconds"] is None and point["source"] == source and lab in (None, point["lab"])]


def show(path: Path, gpu: str, source: str, lab: str | None, words: bool, cols: int | None) -> None:
    loaded = results.load(path)
    points = [point for point in loaded["points"] if point["source"] == source and cols in (None, point["cols"])]
    recorded = gpus.measured(gpu)
    measured = same(recorded["points"]) if recorded else {}
    solution = same(loaded["points"]) if source != "solution" else {}
    shown_measured = False
    for group, ladder in table.groups_of(points).items():
        shown = [point for point in ladder if lab in (None, point["lab"])]
        if not shown:
            continue
        keys = set(map(results.configuration_of, shown))
        k = {point["k"] for point in shown} - {0}
        print(f"Predicted for an {loaded['machine']}: {max(point['rows'] for point in shown)} x {group[1]}, {table.KINDS.get(group[0], group[0])}{', K = ' + str(k.pop()) if len(k) == 1 else ''}")
        print("\n".join(lines_of(shown, ladder, solution, measured if keys & measured.keys() else {}, words)))
        print()
        shown_measured |= bool(keys & measured.keys())
    for line in not_predicted(path, source, lab):
        print("\n".join(textwrap.wrap(line, WIDTH, subsequent_indent="  ")))
    said = MEASURED.format(file=f"plots/results/{gpus.slug(gpu)}.json") if shown_measured else ""
    print("\n".join(textwrap.wrap(LEGEND.format(measured=said), WIDTH)))


def line_of(path: Path, lab: str, cols: int) -> str:
    """The solution's variants of a lab, in their first element type: "serial 237 us, tree 34.2 us, ..."."""
    ladder = [point for point in results.ladder_order(results.load(path)["points"])
              if point["source"] == "solution" and (point["input"], point["cols"]) == ("normal", cols)]
    mine = [point for point in ladder if point["lab"] == lab]
    mine = [point for point in mine if point["dtype"] == mine[0]["dtype"]]
    if not mine:
        return ""
    first = results.first_rung(mine[-1], ladder)
    gain = "" if first is mine[-1] else f"; {table.speed_up(mine[-1], first)[:-1]} times as fast as {first['variant']}"
    times = ", ".join(f"{point['variant']} {in_us(point['seconds'])} us" for point in mine)
    return f"  {max(point['rows'] for point in mine)} x {cols} {mine[0]['dtype']}: {times}{gain}"


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path)
    parser.add_argument("--gpu", default="h200")
    parser.add_argument("--source", default="solution")
    parser.add_argument("--lab")
    parser.add_argument("--cols", type=int, help="only this width")
    parser.add_argument("--words", action="store_true")
    parser.add_argument("--line", action="store_true")
    options = parser.parse_args(argv)
    try:
        if options.line:
            print(line_of(options.results, options.lab, options.cols or labs.shapes()[0].cols))
            return 0
        show(options.results, options.gpu, options.source, options.lab, options.words, options.cols)
    except UserError as error:
        print(f"predicted_table.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `... | head` ends it without a traceback
    sys.exit(main(sys.argv[1:]))
