#!/usr/bin/env python3
"""Draws and prints a sweep: the variants of one lab over one quantity, a results file per value of it.

    sweep.py build/sweep/lab02_smem/cols-*.json --over cols --output plots/sweep02-cols

The quantity is what stands behind the last '-' of a file's name. Heights are GB/s of nominal bytes, so that a flat line is a kernel
whose speed does not depend on the quantity, and the copy roof is a level line.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from points import UserError, gbytes, results

try:
    import matplotlib
    from matplotlib.figure import Figure
except ImportError:
    matplotlib = None

AXES = {"cols": "columns of a row (4096 rows)", "threads": "threads per block (4096 x 4096)"}
MARKERS = "osD^vP"
Curves = dict[str, dict[int, dict]]


def read(files: list[Path]) -> tuple[dict, Curves]:
    """The head of the files, and by variant, by value of the quantity: the point. Points without a time are left out."""
    head: dict = {}
    curves: Curves = {}
    for file in files:
        try:
            table = json.loads(file.read_text(encoding="utf-8"))
            value = int(file.stem.rpartition("-")[2])
            head = {key: table[key] for key in ("machine", "backend", "roofs")}
            for point in table["points"]:
                if point["seconds"]:
                    curves.setdefault(f"{point['variant']} {point['dtype']}", {})[value] = point
        except (OSError, ValueError, KeyError, TypeError) as problem:
            raise UserError(f"{file}: not a results file ({problem})") from None
    return head, curves


def band(point: dict) -> tuple[float, float]:
    """How far the GB/s reach down and up."""
    if not results.is_predicted(point):
        return 0.0, 0.0
    low, high = (gbytes({**point, "seconds": point["predicted"][end]}) for end in ("high", "low"))
    return gbytes(point) - low, high - gbytes(point)


def table(head: dict, curves: Curves, over: str) -> str:
    """Microseconds, a row per value."""
    values = sorted({value for curve in curves.values() for value in curve})
    how = "predicted" if head["backend"] == results.PREDICTED else "measured"
    width = max(10, *(len(name) for name in curves)) + 2
    lines = [f"{how} us on {head['machine']}, over {AXES[over]}", f"{over:>8}" + "".join(f"{name:>{width}}" for name in curves)]
    for value in values:
        cells = (curve.get(value) for curve in curves.values())
        lines.append(f"{value:>8}" + "".join(f"{results.three_digits(cell['seconds'] * 1e6) if cell else '-':>{width}}" for cell in cells))
    return "\n".join(lines)


def draw(head: dict, curves: Curves, over: str) -> Figure:
    figure = Figure(figsize=(8.0, 4.5))
    axes = figure.add_subplot()
    predicted = head["backend"] == results.PREDICTED
    for (name, curve), marker in zip(curves.items(), MARKERS * len(curves)):
        values = sorted(curve)
        bars = list(zip(*(band(curve[value]) for value in values)))
        axes.errorbar(values, [gbytes(curve[value]) for value in values], yerr=bars if predicted else None, marker=marker, capsize=2,
                      markerfacecolor="none" if predicted else None, linewidth=1.4, elinewidth=0.7, label=name)
    axes.axhline(head["roofs"]["copy_gbs"], color="#1B3A57", linewidth=1.6, label=f"copy: {results.three_digits(head['roofs']['copy_gbs'])} GB/s")
    axes.set_xscale("log", base=2)
    ticks = sorted({value for curve in curves.values() for value in curve})
    axes.set_xticks(ticks, [str(value) for value in ticks])
    axes.set_xlabel(AXES[over])
    axes.set_ylabel("GB/s of nominal bytes" + (", predicted" if predicted else ""))
    axes.set_ylim(bottom=0)
    axes.set_title(head["machine"] + (": predicted, not measured" if predicted else ""))
    axes.legend(frameon=False, fontsize=9)
    figure.tight_layout()
    return figure


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--over", choices=AXES, required=True)
    parser.add_argument("--variant", help="this variant alone")
    parser.add_argument("--output", required=True, help="the chart's path without .svg")
    options = parser.parse_args()
    try:
        head, curves = read(options.files)
        names = sorted({name.split()[0] for name in curves})
        if options.variant:
            curves = {name: curve for name, curve in curves.items() if options.variant in (name, name.split()[0])}
        if not curves:
            raise UserError(f"there is no variant {options.variant}; those with a time are {', '.join(names)}" if names else "no variant has a time")
        print(table(head, curves, options.over))
        if matplotlib is None:
            raise UserError("matplotlib is missing: no chart is drawn")
        with matplotlib.rc_context({"font.family": "DejaVu Sans", "font.size": 9.5, "svg.hashsalt": "ladder",
                                    "axes.spines.top": False, "axes.spines.right": False}):
            figure = draw(head, curves, options.over)
            figure.savefig(f"{options.output}.svg", metadata={"Date": None})
            figure.savefig(f"{options.output}.png", dpi=150)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
