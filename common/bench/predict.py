#!/usr/bin/env python3
"""What a rung's kernels would take on a GPU that is not there: predict.py --gpu h200 --rung X.so [--solution Y.so] --lab LAB

Runs each variant on a part of the rows of a 4096 x 4096 matrix, predicts the launches (common/simt/timing) and prints a table: the
student's prediction with its band, the solution's, what was measured of the solution on that GPU where it was, and what limits it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROWS, COLS, K = 4096, 4096, 50
PART = 512             # rows that are run: more than there are multiprocessors, so that no kernel takes them for few
QUADRATIC = {"per_element": 4}  # where every thread reads a whole row, a few are enough
WIDTH = 100


class UserError(Exception):
    pass


def known_gpus() -> list[str]:
    return sorted(path.stem for path in (ROOT / "common/simt/timing/machines").glob("*.json"))


def check_gpu(name: str) -> None:
    if name not in known_gpus() and not (name.endswith(".json") and Path(name).is_file()):
        raise UserError(f"there is no GPU '{name}'; there are: {', '.join(known_gpus())}, or the path of a machine file")


def counted(worker: Path, profile: Path, rung: Path, gpu: str, part: int, selection: list[str]) -> list[dict]:
    environment = {**os.environ, "SIMT_GPU": gpu, "SIMT_GPU_TIMES": str(ROWS // part)}
    run = subprocess.run([profile, "--worker", worker, "--rung", rung, "--rows", str(part), "--cols", str(COLS), "--k", str(K), *selection],
                         env=environment, stdout=subprocess.PIPE, text=True)
    try:
        return json.loads(run.stdout)["variants"]
    except (ValueError, KeyError):
        raise UserError(f"the kernels of {rung} could not be counted; see above") from None


def predictions(worker: Path, profile: Path, rung: Path, gpu: str, lab: str) -> dict[tuple[str, str], dict]:
    """By (variant, dtype): the sum of its launches, and of the longest what limits it."""
    variants = []
    if lab == "lab01_naive":
        for name, part in QUADRATIC.items():
            variants += counted(worker, profile, rung, gpu, part, ["--only", name])
        variants += counted(worker, profile, rung, gpu, PART, ["--without", *QUADRATIC])
    else:
        variants = counted(worker, profile, rung, gpu, PART, [])
    return {(variant["variant"], variant["dtype"]): together(variant["report"]) for variant in variants}


def together(report: dict) -> dict:
    if report.get("library_calls"):
        return {"seconds": None, "why": "a library computes part of it"}
    predicted = [launch.get("predicted", {"seconds": None, "why": "nothing was predicted"}) for launch in report["launches"]]
    unknown = next((one for one in predicted if one["seconds"] is None), None)
    if unknown or not predicted:
        return {"seconds": None, "why": unknown["why"] if unknown else "it launches nothing"}
    longest = max(predicted, key=lambda one: one["seconds"])
    return {**longest, **{key: sum(one[key] for one in predicted) for key in ("seconds", "low", "high")}}


def measured(gpu: str, lab: str) -> dict[tuple[str, str], float]:
    """Of the solution, on that GPU, where the repository has it."""
    path = ROOT / f"plots/results/nvidia-{gpu}.json"
    if not path.is_file():
        return {}
    return {(point["variant"], point["dtype"]): point["seconds"] for point in json.loads(path.read_text())["points"]
            if point["source"] == "solution" and point["lab"] == lab and (point["rows"], point["cols"]) == (ROWS, COLS) and
            point["input"] == "normal" and point["k"] in (0, K)}


def in_us(seconds: float) -> str:
    us = seconds * 1e6
    return f"{us:.1f}" if us < 100 else f"{us:,.0f}"


def show(own: dict, solution: dict, recorded: dict, gpu: str) -> None:
    name = next((one["gpu"] for one in own.values() if one.get("gpu")), gpu)
    print(f"Predicted on {name}, {ROWS} x {COLS}, in microseconds (nothing of this was measured but the last column):")
    heads = ["variant", "dtype", "predicted", "band", *(["solution"] if solution else []), *(["solution measured"] if recorded else [])]
    rows, words = [], []
    for key, one in own.items():
        row = [*key]
        if one["seconds"] is None:
            row += ["-", "-"]
        else:
            row += [in_us(one["seconds"]), f"{in_us(one['low'])} to {in_us(one['high'])}"]
        if solution:
            other = solution.get(key, {}).get("seconds")
            row.append(in_us(other) if other else "-")
        if recorded:
            row.append(in_us(recorded[key]) if key in recorded else "-")
        rows.append(row)
        words.append(one.get("words") or f"no prediction: {one['why']}")
    widths = [max(len(row[i]) for row in [heads, *rows]) for i in range(len(heads))]
    for row, said in zip([heads, *rows], ["", *words]):
        print("  ".join(cell.ljust(widths[i]) if i < 2 else cell.rjust(widths[i]) for i, cell in enumerate(row)).rstrip())
        for line in textwrap.wrap(said, WIDTH - 6):
            print("      " + line)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpu", default="h200")
    parser.add_argument("--check-gpu", action="store_true", help="only: is there such a GPU?")
    parser.add_argument("--lab")
    parser.add_argument("--rung", type=Path)
    parser.add_argument("--solution", type=Path)
    parser.add_argument("--worker", type=Path, default=Path("build/cpu/worker"))
    parser.add_argument("--profile", type=Path, default=Path("build/cpu/profile"))
    options = parser.parse_args()
    try:
        check_gpu(options.gpu)
        if options.check_gpu:
            return 0
        own = predictions(options.worker, options.profile, options.rung, options.gpu, options.lab)
        solution = predictions(options.worker, options.profile, options.solution, options.gpu, options.lab) if options.solution else {}
        show(own, solution, measured(options.gpu, options.lab), options.gpu)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
