#!/usr/bin/env python3
"""Lab 07's figures of one machine: a table, and its variants on a roofline, plots/fusion.svg.

    fusion.py plots/results/fusion-<machine>.json [--source NAME] [--quiet]

On the chart a variant stands at its FLOP a byte that the SMs fetch from L2 (dot) and, where it was read, a byte that DRAM
delivers (tick), both of Nsight Compute. Without those counts there is a table and no chart. The slanted roof is the read
bandwidth that make ladder measured on the same machine; nothing is drawn that was not measured.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from chart import INK, MEMORY

try:
    import matplotlib
    from matplotlib.figure import Figure
except ImportError:
    matplotlib = None

# Where a name stands beside its dot: offset in points, and which of its edges is there.
LABELS = {"unfused": ((8, -6), "left", "top"), "graphed": ((8, 6), "left", "bottom"), "fused_tiled": ((8, -6), "left", "top"),
          "fused_per_core": ((8, 6), "left", "bottom")}
COLOURS = {"unfused": "#0072B2", "graphed": "#00805E", "fused_per_core": "#C04A00", "fused_tiled": "#A8437F"}


def load(path: Path) -> dict:
    try:
        results = json.loads(path.read_text())
        results["variants"][0]["seconds"]
    except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
        raise SystemExit(f"fusion: {path}: no results of lab 07 ({error}); make lab07 SOLUTION=1 measures them") from None
    return results


def time_of(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.3g} us"


def bytes_of(count: float | None) -> str:
    if count is None:
        return ""
    return f"{count / 1e9:.3g} GB" if count >= 1e9 else f"{count / 1e6:.3g} MB"


def table(results: dict, source: str) -> str:
    """The variants of one source, all sizes that were measured, by type and falling time."""
    rows = [("variant", "sizes", "time", "TFLOP/s", "launches", "weight reads a step*", "L2 to SMs", "from DRAM", "registers")]
    entries = [v for v in results["variants"] if v["source"] == source]
    for v in sorted(entries, key=lambda v: (v["dtype"], -v["sizes"]["cores"], -v["seconds"])):
        s, ncu = v["sizes"], v.get("ncu", {})
        rows.append((f"{v['variant']} {v['dtype']}", f"{s['cores']} x {s['d_model']}-{s['d_ff']}", time_of(v["seconds"]),
                     f"{v['flops'] / v['seconds'] / 1e12:.3g}", str(v.get("launches", "")),
                     f"{v['weight_reads_a_step_32_cores']:g}" if "weight_reads_a_step_32_cores" in v else "",
                     bytes_of(ncu.get("l2_to_sm_bytes")), bytes_of(ncu.get("dram_read_bytes")), str(ncu.get("registers", ""))))
    empty = [all(not row[i] for row in rows[1:]) for i in range(len(rows[0]))]
    rows = [tuple(cell for cell, none in zip(row, empty) if not none) for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = ["  ".join(cell.ljust(width) if i < 2 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))).rstrip()
             for row in rows]
    if any("weight reads" in cell for cell in rows[0]):
        lines.append("* how often a weight is asked for in an FFN step of 32 cores, as the executor counts it")
    return "\n".join(lines)


def read_roof(path: Path) -> float | None:
    """GB/s that make ladder measured on this machine; None if it did not."""
    try:
        return json.loads(path.with_name(path.name.removeprefix("fusion-")).read_text())["roofs"]["read_gbs"]
    except (OSError, ValueError, KeyError):
        return None


def weight_reads(variant: dict, fetched: float) -> float:
    """How many times all weights of an FFN step would make the bytes that were fetched, a step. Activations are in it, too."""
    steps = variant["sizes"]["events"] * variant["sizes"]["ffn_steps"]
    return fetched / (variant["weight_bytes"] * steps)


def draw(results: dict, roof: float | None, out: Path) -> bool:
    """False where no variant has counts of a GPU."""
    points = [v for v in results["variants"] if v["source"] == "solution" and "ncu" in v]
    if not points:
        return False
    by_name = {(v["variant"], v["dtype"]): v for v in results["variants"] if v["source"] == "solution"}
    matplotlib.rcParams.update({"font.family": "DejaVu Sans", "font.size": 9.5, "svg.hashsalt": "ladder", "axes.spines.top": False,
                                "axes.spines.right": False, "text.color": INK, "axes.labelcolor": INK})
    figure = Figure(figsize=(8.0, 5.0))
    axes = figure.add_subplot()
    graphed = by_name.get(("graphed", points[0]["dtype"]))
    drawn = [(v, v["ncu"]) for v in points]
    if graphed and "ncu" not in graphed:  # the same kernels as unfused, launched otherwise
        drawn += [(graphed, v["ncu"]) for v in points if v["variant"] == "unfused"]
    right, top = 1.0, 1.0
    for v, ncu in drawn:
        height = v["flops"] / v["seconds"] / 1e12
        from_l2, from_dram = v["flops"] / ncu["l2_to_sm_bytes"], v["flops"] / max(ncu["dram_read_bytes"], 1)
        colour = COLOURS.get(v["variant"], INK)
        axes.plot([from_l2, from_dram], [height, height], color=colour, linewidth=1, alpha=0.6)
        axes.plot([from_l2], [height], "o", color=colour, markersize=8)
        axes.plot([from_dram], [height], "|", color=colour, markersize=12)
        note = (f"{v['variant']}, {time_of(v['seconds'])}\n{bytes_of(ncu['l2_to_sm_bytes'])} from L2: "
                f"{weight_reads(v, ncu['l2_to_sm_bytes']):.3g} times the weights, a step")
        offset, across, along = LABELS.get(v["variant"], ((0, 9), "center", "bottom"))
        axes.annotate(note, (from_l2, height), xytext=offset, textcoords="offset points", color=colour, fontsize=8.5, ha=across, va=along)
        right, top = max(right, from_dram), max(top, height)
    left = min(v["flops"] / ncu["l2_to_sm_bytes"] for v, ncu in drawn) / 3
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(left, right * 3)
    axes.set_ylim(min(v["flops"] / v["seconds"] / 1e12 for v, _ in drawn) / 4, top * 4)
    if roof:
        ends = [left, right * 3]
        axes.plot(ends, [x * roof / 1e3 for x in ends], color=MEMORY, linewidth=1.6)
        axes.annotate(f"DRAM, {roof:,.0f} GB/s read", (left * 3, left * 3 * roof / 1e3), xytext=(8, -4), textcoords="offset points",
                      color=MEMORY, fontsize=8.5, ha="left", va="top")
    axes.set_xlabel("FLOP a byte: from L2 to the SMs (dot), from DRAM (tick)")
    axes.set_ylabel("TFLOP/s")
    s = points[0]["sizes"]
    axes.set_title(f"{results['machine']}: a decode step of {s['cores']} cores, {s['d_model']}-{s['d_ff']}, {points[0]['dtype']}", fontsize=10.5)
    figure.savefig(out, bbox_inches="tight", metadata={"Date": None})
    return True


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="The table and the chart of lab 07.")
    parser.add_argument("results", type=Path)
    parser.add_argument("--source", default="solution")
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parent / "fusion.svg")
    parser.add_argument("--quiet", action="store_true", help="no table")
    options = parser.parse_args(arguments)
    results = load(options.results)
    if not options.quiet:
        print(table(results, options.source))
    if matplotlib is None:
        print("no chart: matplotlib is not installed; make setup installs it", file=sys.stderr)
    elif draw(results, read_roof(options.results), options.out):
        print(f"the chart: plots/{options.out.name}")
    else:
        print("no chart of lab 07: it needs the counts of a GPU (common/cuda/fusion_counters.py)", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
