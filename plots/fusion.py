#!/usr/bin/env python3
"""Lab 07's figures of one machine: a table, and its variants on a roofline, plots/fusion.svg.

    fusion.py plots/local/fusion-<machine>.json [--source NAME] [--quiet]

On the chart (fusion_chart.py) are the variants whose bytes Nsight Compute has counted; where none has, there is a table and no
chart. The roofs are those that make ladder measured on the same machine; nothing is drawn that was not measured.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from pathlib import Path

import fusion_chart
from fusion_chart import bytes_of, time_of


def load(path: Path) -> dict:
    try:
        results = json.loads(path.read_text())
        results["variants"][0]["seconds"]
    except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
        raise SystemExit(f"fusion: {path}: no results of lab 07 ({error}); make lab07 SOLUTION=1 measures them") from None
    return results


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
        lines.append("* how often a weight is requested in an FFN step of 32 cores, as the executor counts it")
    return "\n".join(lines)


def read_roofs(path: Path) -> dict:
    """What make ladder measured on this machine; nothing if it did not."""
    try:
        return json.loads(path.with_name(path.name.removeprefix("fusion-")).read_text())["roofs"]
    except (OSError, ValueError, KeyError):
        return {}


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
    if fusion_chart.matplotlib is None:
        print("no chart: matplotlib is not installed; make setup installs it", file=sys.stderr)
    elif fusion_chart.draw(results, read_roofs(options.results), options.out):
        print(f"the chart: {options.out}")
    else:
        print("no chart of lab 07: it needs the counts of a GPU (common/cuda/fusion_counters.py)", file=sys.stderr)
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `... | head` ends it without a traceback
    sys.exit(main(sys.argv[1:]))
