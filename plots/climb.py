#!/usr/bin/env python3
"""Draws the climb: every rung at each shape that the ladder has, side by side, and what each lab bought.

    climb.py plots/results/nvidia-h200.json --output plots/climb

A panel per shape: bandwidth of nominal bytes, with the copy's beside it. To the right, by shape, how many times faster the best rung of a
lab is than the best of the labs before it, per element; where a lab has an operator that none before it has, than its own first rung.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from chart import MEMORY, colour_of, in_band, marker_style
from chart_files import save
from points import UserError, gbytes, is_solution, name_of, results, select

try:
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle
    from matplotlib.ticker import FuncFormatter
except ImportError:
    matplotlib = None

FONT = {"font.family": "DejaVu Sans", "font.size": 9, "svg.hashsalt": "ladder"}
ROW = 0.24  # inches


def shapes_of(table: dict) -> list[tuple[str, int]]:
    """(input, columns) of the solutions' points, narrow ones first."""
    return sorted({(point["input"], point["cols"]) for point in table["points"] if is_solution(point) and point["seconds"]}, key=lambda shape: shape[1])


def row_of(point: dict) -> tuple:
    """A rung, whatever its k: the narrow shape has another than the wide ones."""
    return point["lab"], point["variant"], point["op"], point["dtype"]


def ladders(table: dict) -> dict[tuple[str, int], dict[tuple, dict]]:
    """By shape, by rung: the solution's point."""
    return {(kind, cols): {row_of(point): point for point in select(table["points"], cols, kind) if is_solution(point) and point["seconds"]}
            for kind, cols in shapes_of(table)}


def order(by_shape: dict) -> list[dict]:
    """One point per rung, in ladder order; a rung may lack a shape."""
    found: dict[tuple, dict] = {}
    for points in by_shape.values():
        for rung, point in points.items():
            found.setdefault(rung, point)
    return results.ladder_order(list(found.values()))


def speed(point: dict) -> float:
    """Elements per second."""
    return point["rows"] * point["cols"] / point["seconds"]


def bought(points: dict[tuple, dict], lab: str) -> float | None:
    """At one shape. None: the lab was not measured there, or is the first."""
    own = [point for point in results.ladder_order(list(points.values())) if point["lab"] == lab]
    if not own:
        return None
    before = [point for point in points.values() if point["lab"] < lab and point["op"] == own[0]["op"]]
    base = max(map(speed, before)) if before else speed(own[0])
    return max(map(speed, own)) / base


def title(kind: str, cols: int, points: dict[tuple, dict]) -> str:
    k = max(point["k"] for point in points.values())
    return f"{cols} columns" + (", bigrams" if kind != "normal" else "") + (f"; top-K: K = {k}" if k else "")


def draw(table: dict) -> Figure:
    matplotlib.rcParams.update(FONT)
    by_shape = ladders(table)
    rungs = order(by_shape)
    labs = sorted({point["lab"] for point in rungs})
    height = 1.5 + ROW * len(rungs)
    figure = Figure(figsize=(12.0, height), facecolor="white")
    left, right, bottom, top = 0.19, 0.84, 0.62 / height, 1 - 0.85 / height
    width = (right - left) / len(by_shape)
    predicted = table["backend"] == results.PREDICTED
    figure.text(0.012, 1 - 0.28 / height, f"{'Predicted for an ' if predicted else ''}{table['machine']}, {table['date']}", fontsize=13, fontweight="bold", va="center")
    figure.text(right + 0.012, 1 - 0.62 / height, "what the lab bought", fontsize=9, va="center", color="#555555")
    for number, (shape, points) in enumerate(by_shape.items()):
        axes = figure.add_axes((left + number * width, bottom, width * 0.93, top - bottom))
        draw_panel(axes, table["roofs"]["copy_gbs"], points, rungs)
        axes.set_title(title(*shape, points), fontsize=10, pad=16)
        axes.set_xlabel("GB/s of nominal bytes" + (", predicted" if predicted else ""))
        if number == 0:
            for row, point in enumerate(rungs):
                axes.annotate(name_of({**point, "k": 0}, [{**rung, "k": 0} for rung in rungs]), (0, row), (-6, 0), xycoords=axes.get_yaxis_transform(), textcoords="offset points", ha="right",
                              va="center", color=colour_of(point), annotation_clip=False)
    whole = figure.add_axes((0, bottom, 1, top - bottom), zorder=-1)
    whole.set_axis_off()
    whole.set_ylim(-0.6, len(rungs) - 0.4)
    whole.set_xlim(0, 1)
    for number, lab in enumerate(labs):
        rows = [row for row, point in enumerate(rungs) if point["lab"] == lab]
        colour = colour_of(rungs[rows[0]])
        if number % 2 == 0:
            whole.add_patch(Rectangle((0.005, rows[0] - 0.5), 0.99, len(rows), linewidth=0, facecolor="#F5F6F8"))
        whole.text(0.012, sum(rows) / len(rows), "\n".join(lab.split("_", 1)), color=colour, fontweight="bold", va="center")
        gains = [(cols, bought(points, lab)) for (_, cols), points in by_shape.items()]
        text = "\n".join(f"{cols}: x {results.three_digits(gain)}" for cols, gain in gains if gain is not None)
        whole.text(right + 0.012, sum(rows) / len(rows), text, color=colour, va="center", fontsize=8 if len(rows) > 2 else 7, linespacing=1.1)
    return figure


def draw_panel(axes: object, copy_gbs: float, points: dict[tuple, dict], rungs: list[dict]) -> None:
    heights = [gbytes(point) for point in points.values()]
    axes.set_xscale("log")
    axes.set_xlim(min(*heights, copy_gbs) / 2, max(*heights, copy_gbs) * 2)
    axes.set_ylim(-0.6, len(rungs) - 0.4)
    axes.set_yticks([])
    axes.minorticks_off()
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axes.grid(True, axis="x", color="#E6E6E6", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.patch.set_alpha(0)
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(False)
    axes.axvline(copy_gbs, color=MEMORY, linewidth=1.5)
    axes.annotate("copy", (copy_gbs, 1), (0, 2), xycoords=axes.get_xaxis_transform(), textcoords="offset points", ha="center", va="bottom", color=MEMORY, fontsize=8)
    for row, rung in enumerate(rungs):
        point = points.get(row_of(rung))
        if point is None:
            continue
        if ends := in_band(point, gbytes):
            axes.plot(ends, [row, row], color=colour_of(point), linewidth=1.0, alpha=0.6)
        axes.scatter(gbytes(point), row, **marker_style(point, 0.7))


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, help="a file of plots/results")
    parser.add_argument("--output", type=Path, default=Path("plots/climb"), help="the chart's path without .svg")
    options = parser.parse_args(argv)
    try:
        if matplotlib is None:
            raise UserError("matplotlib is missing; `apt-get install python3-matplotlib` and use /usr/bin/python3")
        paths = save(draw(results.load(options.results, need_roofs=True)), options.output)
    except UserError as error:
        print(f"climb.py: {error}", file=sys.stderr)
        return 1
    print("drew " + " and ".join(map(str, paths)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
