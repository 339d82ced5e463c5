"""Tables out of plots/results/*.json: what each lab's variants were measured at, and for the chart also what was predicted."""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "common"))
import measured_step  # noqa: E402
from course import labs  # noqa: E402

PREDICTED = "predicted"  # the backend of a file of predictions (common/bench/results.py)


ORDER = {"cuda": 0, PREDICTED: 1}


def results() -> list[dict]:
    """Ladders, one per machine: measured on a GPU first, then predicted for one."""
    found = [json.loads(path.read_text()) for path in sorted((ROOT / "plots/results").glob("*.json"))]
    found = [{**result, "points": [point for point in result["points"] if point["seconds"]]} for result in found if "points" in result and "backend" in result]
    return sorted(found, key=lambda result: (ORDER.get(result.get("backend"), 2), result["machine"]))


def row(point: dict) -> str:
    elements = point["rows"] * point["cols"]
    shape = f"{point['rows']} x {point['cols']}" + (f", K = {point['k']}" if point["k"] else "")
    counted = [point.get(key) for key in ("l1_bytes", "footprint_bytes")]
    bytes_an_element = [f"{bytes_ / elements:.3g}" if bytes_ else "not counted" for bytes_ in counted]
    footprint = point.get("footprint_bytes")
    speed = f"{footprint / point['seconds'] / 1e9:.0f}" if footprint else ""
    return (f"| `{point['variant']}` | {point['dtype']} | {shape} | {point['seconds'] * 1e6:,.1f} | "
            f"{bytes_an_element[0]} | {bytes_an_element[1]} | {speed} |")


STEP_CHART = "plots/fusion-h200.svg"
LADDER_CHART, LADDER = "plots/roofline-h200.png", "plots/results/nvidia-h200.json"
DRAWN = ("softmax", "softmax_topk")  # the operators on that chart


def chart(lab: str) -> str:
    """Markdown for a handout: the chart on which the lab's variants stand, of other operators the interactive one. Empty if they
    stand on none."""
    if lab == "lab07_fusion":
        return f"\n\n![The variants of this lab on an NVIDIA H200](../../{STEP_CHART})\n"
    points = json.loads((ROOT / LADDER).read_text())["points"] if (ROOT / LADDER).exists() else []
    operators = {point["op"] for point in points if point["lab"] == lab and point["source"] == "solution"}
    if not operators:
        return ""
    picture = f"![Labs 01 to 06 on an NVIDIA H200; {lab.partition('_')[0]} is this one](../../{LADDER_CHART})\n\n"
    return (f"\n\n{picture if operators <= set(DRAWN) else ''}"
            "The [interactive chart](roofline.html) shows the bytes, times and counters of every point.\n")


def table(lab: str) -> str:
    """Markdown: one table per machine, with where its figures come from. Empty if nothing was measured."""
    if any(each.name == lab and each.operator == measured_step.OPERATOR for each in labs.load()):
        return measured_step.table(ROOT / "plots/results")
    parts = []
    for result in results():
        if result["backend"] == PREDICTED:
            continue
        points = [p for p in result["points"] if p["lab"] == lab and p["source"] == "solution" and p["input"] == "normal"]
        if not points:
            continue
        parts.append(f"**{result['machine']}**, {result['date']}, `{result['command']}`, solutions, normal logits:\n\n"
                     "| variant | type | shape | us | sector bytes per element | footprint per element | GB/s of footprint |\n"
                     "|---|---|---|---:|---:|---:|---:|\n" + "\n".join(row(point) for point in points) + "\n")
    if not parts:
        return ""
    note = ("Bytes are counted by the executor; where a GPU must have taken another path they are left out.\n\n")
    return "\n\n## Measured\n\n" + note + "\n".join(parts)
