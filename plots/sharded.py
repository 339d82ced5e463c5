#!/usr/bin/env python3
"""Draws the time of sharded softmax + top-K over the number of GPUs: a panel per shape, a line per variant.

    sharded.py plots/results/sharded-nvidia-h200-x*.json --peers plots/results/sharded-peers-nvidia-h200-x*.json --output plots/sharded

Each file is of one number of GPUs: what common/bench/sharded/sharded_bench.cu wrote there, on the first GPUs of one host. Below the
lines lie two roofs: the top-K of a device's own columns, which every variant but gather_logits begins with, and that with the links'
latency, for which NCCL's smallest all-gather stands. --peers: the fastest of PyTorch's ways, from sharded_peers.py.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path

from chart import FAINT, INK, MEMORY
from chart_files import save
from points import UserError

try:
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, NullLocator
except ImportError:
    matplotlib = None

FONT = {"font.family": "DejaVu Sans", "font.size": 9, "svg.hashsalt": "ladder"}
VARIANTS = {"gather_logits": "#4D4D4D", "three_reductions": "#0072B2", "packed": "#00805E", "one_shot": "#C04A00", "one_shot_ll": "#A8437F"}
PYTORCH = ("gather", "three", "packed")


def load(path: Path) -> dict:
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: {error}") from error
    if not isinstance(table, dict) or not isinstance(table.get("devices"), int) or not shapes_of(table):
        raise UserError(f"{path}: this is no result of sharded_bench or sharded_peers.py")
    return table


def shapes_of(table: dict) -> list[str]:
    return [key for key, times in table.items() if re.fullmatch(r"\d+x\d+", key) and isinstance(times, dict)]


def title(shape: str) -> str:
    rows, cols = map(int, shape.split("x"))
    return f"{rows:,} x {cols:,}"


def model(table: dict) -> str:
    return re.sub(r"^\d+ x ", "", table["machine"])


def one_machine(tables: list[dict]) -> list[dict]:
    """By number of devices; UserError if they cannot stand in one chart."""
    if len({(model(table), table["dtype"], table["k"]) for table in tables}) > 1:
        raise UserError("the files are of different GPUs, types or K")
    if len({table["devices"] for table in tables}) < len(tables):
        raise UserError("two files are of the same number of GPUs")
    return sorted(tables, key=lambda table: table["devices"])


def line(tables: list[dict], shape: str, of: object) -> tuple[list[int], list[float]]:
    """Numbers of devices and microseconds, where of(times) has some."""
    found = [(table["devices"], of(table[shape])) for table in tables if shape in table]
    return [devices for devices, us in found if us], [us for _, us in found if us]


def latency_roof(times: dict) -> float | None:
    return times["local"] + times["nccl"] if "local" in times and "nccl" in times else None


def draw(tables: list[dict], peers: list[dict] = ()) -> Figure:
    matplotlib.rcParams.update(FONT)
    tables = one_machine(tables)
    shapes = shapes_of(tables[0])
    figure = Figure(figsize=(2.3 * len(shapes) + 0.6, 4.2), facecolor="white")
    last = tables[-1]
    figure.suptitle(f"Softmax + top-K of {last['dtype']} rows over N x {model(last)}, K = {last['k']}, {last['date']}", x=0.012, ha="left", fontsize=12, fontweight="bold")
    panels = figure.subplots(1, len(shapes), squeeze=False)[0]
    for axes, shape in zip(panels, shapes):
        draw_panel(axes, tables, peers, shape)
    panels[0].set_ylabel("us per call")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncol=4, frameon=False, fontsize=8.5)
    figure.subplots_adjust(left=0.06, right=0.99, top=0.82, bottom=0.3, wspace=0.32)
    return figure


def draw_panel(axes: object, tables: list[dict], peers: list[dict], shape: str) -> None:
    axes.set_title(title(shape), fontsize=10)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel("GPUs")
    for variant, colour in VARIANTS.items():
        axes.plot(*line(tables, shape, lambda times, name=variant: times.get(name)), "o-", color=colour, markersize=4.5, linewidth=1.4, label=variant)
    axes.plot(*line(tables, shape, latency_roof), ":", color=INK, linewidth=1.2, label="top-K of the own columns + NCCL's smallest all-gather")
    axes.plot(*line(tables, shape, lambda times: times.get("local")), "--", color=MEMORY, linewidth=1.2, label="top-K of the own columns")
    if peers:
        axes.plot(*line(peers, shape, lambda times: min(times[way] for way in PYTORCH)), "*", color=FAINT, markersize=9, label="PyTorch, the fastest of three ways")
    numbers = [table["devices"] for table in tables]
    axes.set_xticks(numbers)
    axes.set_xlim(numbers[0] / 1.25, numbers[-1] * 1.25)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    least, most = axes.get_ylim()
    ticks = [digit * 10**power for power in range(-1, 5) for digit in (1, 2, 5) if least <= digit * 10**power <= most]
    axes.set_yticks(ticks)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.grid(True, color="#E6E6E6", linewidth=0.8)
    for side in ("right", "top"):
        axes.spines[side].set_visible(False)


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, nargs="+", help="files of sharded_bench, one per number of GPUs")
    parser.add_argument("--peers", type=Path, nargs="+", default=[], help="files of sharded_peers.py")
    parser.add_argument("--output", type=Path, default=Path("plots/sharded"), help="the chart's path without .svg")
    options = parser.parse_args(argv)
    try:
        if matplotlib is None:
            raise UserError("matplotlib is missing; `apt-get install python3-matplotlib` and use /usr/bin/python3")
        paths = save(draw([load(path) for path in options.results], [load(path) for path in options.peers]), options.output)
    except UserError as error:
        print(f"sharded.py: {error}", file=sys.stderr)
        return 1
    print("drew " + " and ".join(map(str, paths)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
