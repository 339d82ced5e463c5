"""What was measured, for the book: the figures of plots/results/*.json by name."""

from __future__ import annotations

import functools
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "plots"))
import peers  # noqa: E402


@functools.cache
def results(machine: str) -> dict:
    return json.loads((ROOT / "plots/results" / f"{machine}.json").read_text())


def measured(machine: str, name: str, field: str) -> float:
    """One figure of plots/results/<machine>.json. `name`: a group in it, or the solutions' point that
    <lab>.<variant>.<dtype>.<rows>x<cols>[x<k>] is; then `field` is one that figure() knows. Errors: KeyError,
    FileNotFoundError, StopIteration.
    """
    table = results(machine)
    if name == "in_flight":  # of the experiments: gbs_<threads per SM>x<loads per thread>
        threads, loads = (int(n) for n in field.removeprefix("gbs_").split("x"))
        return next(p["gbs"] for p in table[name] if (p["threads_an_sm"], p["loads_a_thread"]) == (threads, loads))
    if name == "launches":  # of the timing model's calibration: microseconds; what is no letter or digit of a launch's name is "_"
        return next(entry["measured"] * 1e6 for launch, entry in table[name].items() if re.sub(r"\W", "_", launch) == field)
    if name in table:
        return table[name][field]
    if "variants" in table and "sizes" in table["variants"][0]:
        return of_step(table["variants"], name, field)
    if "cases" in table:
        return compared(table["cases"], name, field)
    lab, variant, dtype, *rest = name.split(".")
    shape = rest[0].split("x")
    for point in table["points"]:
        key = [point["source"], point["lab"], point["variant"], point["dtype"], str(point["rows"]), str(point["cols"])]
        if key == ["solution", lab, variant, dtype, *shape[:2]] and (len(shape) < 3 or int(shape[2]) == point["k"]):
            return figure(point, field)
    raise KeyError(f"{machine}.json has no {name}")


def of_step(variants: list[dict], name: str, field: str) -> float:
    """A figure of lab 07, `name` being variant.dtype at the sizes of the course."""
    variant, dtype = name.split(".")
    entry = next(v for v in variants if (v["source"], v["variant"], v["dtype"], v["sizes"]["cores"]) == ("solution", variant, dtype, 512))
    if field in ("us", "ms"):
        return entry["seconds"] * {"us": 1e6, "ms": 1e3}[field]
    if field in ("l2_gb", "dram_mb"):
        return entry["ncu"]["l2_to_sm_bytes"] / 1e9 if field == "l2_gb" else entry["ncu"]["dram_read_bytes"] / 1e6
    return entry[field] if field in entry else entry["ncu"][field]


def compared(cases: list[dict], name: str, field: str) -> float:
    """A figure of `make peers` on normal values: ours in us, the floor's (a copy, or a read for top-K), or ours over the floor or
    the best peer."""
    op, dtype, shape = name.split(".")
    rows, cols, k = [*map(int, shape.split("x")), 0][:3]
    wanted = (op, dtype, rows, cols, k)
    case = next(c for c in cases if (c["op"], peers.SHORT[c["dtype"]], c["rows"], c["cols"], c["k"]) == wanted and peers.values_of(c) == peers.NORMAL)
    ours, floor, best = peers.median(case, peers.OURS), peers.median(case, peers.FLOOR[op]), peers.best_peer(case)[1]
    return {"us": ours * 1e6, "floor_us": floor * 1e6, "over_floor": ours / floor, "over_peer": ours / best}[field]


def figure(point: dict, field: str) -> float:
    seconds, elements = point["seconds"], point["rows"] * point["cols"]
    figures = {
        "us": lambda: seconds * 1e6,
        "ms": lambda: seconds * 1e3,
        "gflops": lambda: 5 * elements / seconds / 1e9,
        "footprint_gbs": lambda: point["footprint_bytes"] / seconds / 1e9,
        "l1_gbs": lambda: point["l1_bytes"] / seconds / 1e9,
        "l1_bytes_an_element": lambda: point["l1_bytes"] / elements,
        "footprint_bytes_an_element": lambda: point["footprint_bytes"] / elements,
    }
    if field not in figures:
        raise KeyError(f"no figure {field}; there are {', '.join(figures)}")
    return figures[field]()
