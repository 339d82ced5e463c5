#!/usr/bin/env python3
"""How far predictions are from what a GPU took: judge.py RESULTS; judge.py SET NAMES PREDICTED TIMES RESULTS puts a set's launches into that file.

NAMES is what run_cases (built by simtcc --profile) prints, PREDICTED what build/cpu/evaluate says of its traces, TIMES what time_launches says on
the GPU. README.md beside this folder has the commands.
"""

from __future__ import annotations

import itertools
import json
import re
import statistics
import sys
from pathlib import Path

APART = 1.25


def merged(which: str, names: str, predicted: str, times: dict) -> dict:
    cases = [line.split("\t") for line in names.splitlines() if line.endswith(("\t0", "\t1")) and line.count("\t") == 2]
    lines = [line.split("\t") for line in predicted.splitlines()]
    if len(cases) != len(lines) or {case[0] for case in cases} != set(times["times"]):
        raise ValueError(f"{len(cases)} cases were run, {len(lines)} predicted and {len(times['times'])} timed: they must be those of one set")
    launches = {}
    for (name, family, _), (_, seconds, *rest) in zip(cases, lines):
        measured = times["times"][name]
        launches[name] = {"set": which, "family": family, "measured": measured["seconds"], "low": measured["low"], "high": measured["high"],
                          **({"predicted": None, "why": rest[0]} if seconds == "none" else {"predicted": float(seconds), "band": float(re.search(r"band ([\d.]+)", rest[1])[1])})}
    return {"machine": times["machine"], "date": times["date"], "note": "measured: the median of 7 replays of a graph over rotating buffers; predicted: without a GPU", "launches": launches}


def figures(launches: dict, band: float) -> dict:
    """band: of launches that have none of their own."""
    known = [one for one in launches.values() if one["predicted"]]
    errors = sorted(abs(one["predicted"] / one["measured"] - 1) for one in known)
    factors = [max(one["predicted"] / one["measured"], one["measured"] / one["predicted"]) for one in known]
    held = sum(factor <= one.get("band", band) for factor, one in zip(factors, known))
    pairs = [(a, b) for a, b in itertools.permutations(known, 2) if a["family"] == b["family"] and a["measured"] >= APART * b["measured"]]
    return {"launches": len(launches), "without a number": len(launches) - len(known), "median error": statistics.median(errors), "nine of ten within": errors[int(0.9 * len(errors))],
            "within 35 %": sum(error <= 0.35 for error in errors) / len(errors), "worst, as a factor": max(factors), "within the band": held / len(known),
            "pairs": len(pairs), "pairs in the right order": sum(a["predicted"] > b["predicted"] for a, b in pairs)}


def main() -> int:
    try:
        if len(sys.argv) == 6:
            which, (names, predicted, times, results) = sys.argv[1], map(Path, sys.argv[2:])
            new = merged(which, names.read_text(), predicted.read_text(), json.loads(times.read_text()))
            others = json.loads(results.read_text())["launches"] if results.exists() else {}
            new["launches"] |= {name: one for name, one in others.items() if one["set"] != which}
            results.write_text(json.dumps(new, indent=1) + "\n")
        elif len(sys.argv) == 2:
            results = Path(sys.argv[1])
        else:
            print(__doc__, file=sys.stderr)
            return 2
        found = json.loads(results.read_text())
    except (OSError, ValueError) as error:
        print(f"judge.py: {error}", file=sys.stderr)
        return 1
    machine = Path(__file__).parents[1] / "machines" / f"{found['machine'].split()[1].lower()}.json"
    band = json.loads(machine.read_text())["band"]["value"]
    for which in sorted({one["set"] for one in found["launches"].values()}):
        print(f"set {which}:")
        for name, number in figures({name: one for name, one in found["launches"].items() if one["set"] == which}, band).items():
            print(f"  {name}: {number:.3f}" if isinstance(number, float) else f"  {name}: {number}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
