#!/usr/bin/env python3
"""Predicts what a rung's kernels would take on a GPU that is not there, and writes it as points into a results file:

    predict.py --lab lab02_smem --rung build/cpu/checked/X.so --source student --gpu h200 --results plots/local/predicted-nvidia-h200.json
    predict.py --take FILE ... --results plots/local/predicted-nvidia-h200.json      only: the points of such files into one
    predict.py --check-gpu h200      only: is there such a GPU?
    predict.py --name-of h200        its results file's name
Status 1: a variant is wrong or could not be counted, the others are recorded; 2: nothing could be done.

Runs each variant in the executor on a part of the rows, which counts its bytes and predicts its launches (common/simt/timing).
The points have the fields of measured ones; "predicted" says that they are none, with the band and what limits them.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import subprocess
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1])]
import gpus  # noqa: E402  (beside this file)
from course import labs as manifest  # noqa: E402
import results  # noqa: E402
from results import UserError  # noqa: E402

SECTOR = 32
K = 50
GLOBAL_SECTORS = [f"l1tex__t_sectors_pipe_lsu_mem_global_op_{op}.sum" for op in ("ld", "st", "atom")]


class Shape:
    """rows x cols. `part` rows are run: more than there are SMs, so that no kernel takes the path for few rows. Where
    each thread reads the whole row, `quadratic` rows are enough (0: it would take minutes, and is left out)."""

    def __init__(self, rows: int, cols: int, part: int, quadratic: int):
        self.rows, self.cols, self.part, self.quadratic = rows, cols, part, quadratic


SHAPES = {shape.cols: Shape(shape.gpu.rows, shape.cols, shape.predicted.rows, shape.predicted.quadratic) for shape in manifest.shapes()}


def counted(options: argparse.Namespace, shape: Shape, part: int, selection: list[str]) -> list[dict]:
    environment = {**os.environ, "SIMT_GPU": options.gpu, "SIMT_GPU_TIMES": str(shape.rows // part)}
    more = [*(["--matrix", options.matrix] if options.matrix else []), *(["--topk-output", options.topk_output] if options.topk_output else [])]
    run = subprocess.run([options.profile, "--worker", options.worker, "--rung", options.rung, "--rows", str(part), "--cols", str(shape.cols),
                          "--k", str(options.k), "--check", "yes", *more, *selection], env=environment, stdout=subprocess.PIPE, text=True)
    try:
        options.failed |= run.returncode != 0
        return json.loads(run.stdout)["variants"]
    except (ValueError, KeyError):
        raise UserError(f"the kernels of {options.rung} could not be counted; see above") from None


def points(options: argparse.Namespace, shape: Shape) -> list[dict]:
    """One per variant, in the rung's order."""
    lab = manifest.lab(options.lab)
    quadratic = lab.quadratic
    variants = []
    for name in quadratic if shape.quadratic else []:
        variants += counted(options, shape, shape.quadratic, ["--only", name])
    variants += counted(options, shape, shape.part, ["--without", ",".join([*quadratic, *lab.wrong])])
    return [point_of(variant, options, shape) for variant in variants]


def point_of(variant: dict, options: argparse.Namespace, shape: Shape) -> dict:
    report = variant["report"]
    prediction = together(report)
    scale = shape.rows / variant["rows"]
    l1 = sum(launch["total"][name] for launch in report["launches"] for name in GLOBAL_SECTORS)
    footprint = sum(sum(launch["footprint"].values()) for launch in report["launches"])
    return {"source": options.source, "lab": options.lab, "variant": variant["variant"], "op": variant["op"],
            "dtype": variant["dtype"], "input": options.input, "rows": shape.rows, "cols": shape.cols, "k": variant["k"],
            "seconds": prediction.pop("seconds"), "predicted": prediction,
            "nominal_bytes": round(variant["nominal_bytes"] * scale), "nominal_flops": round(variant["nominal_flops"] * scale), "note": "",
            "l1_bytes": round(l1 * SECTOR * scale), "footprint_bytes": round(footprint * SECTOR * scale), "counted_rows": variant["rows"]}


def together(report: dict) -> dict:
    """Of all launches of a variant: the sum of their times, and of the longest what limits it. "seconds": null, with "why", where there is
    no prediction."""
    if report.get("library_calls"):
        return {"seconds": None, "why": "a library computes part of it"}
    predicted = [launch.get("predicted", {"seconds": None, "why": "nothing was predicted"}) for launch in report["launches"]]
    unknown = next((one for one in predicted if one["seconds"] is None), None)
    if unknown or not predicted:
        return {"seconds": None, "why": unknown["why"] if unknown else "it launches nothing"}
    longest = max(predicted, key=lambda one: one["seconds"])
    sums = {key: float(f"{sum(one[key] for one in predicted):.4g}") for key in ("seconds", "low", "high")}
    return {**sums, "limit": longest["limit"], "words": longest["words"]}


def kept(options: argparse.Namespace, shape: Shape) -> list[dict]:
    """The points from the file that keeps them, while nothing that they were made of is newer; else predicted, and kept."""
    file = options.keep
    made_of = [options.rung, options.profile, options.worker, Path(__file__), gpus.machine_file(options.gpu)]
    of = {"gpu": options.gpu, "rung": str(options.rung), "cols": shape.cols, "k": options.k, "part": shape.part}
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        if content["of"] == of and all(path.stat().st_mtime < file.stat().st_mtime for path in made_of):
            return content["points"]
    except (OSError, ValueError, KeyError, TypeError):
        pass  # there is none yet, or it was cut off
    found = points(options, shape)
    if not options.failed:
        try:
            file.write_text(json.dumps({"of": of, "points": found}), encoding="utf-8")
        except OSError:
            pass  # a folder that cannot be written keeps nothing
    return found


def put(path: Path, gpu: str, found: list[dict], command: str) -> None:
    """Into the file, in place of those with the same key. A file of another GPU, or none of predictions, is refused."""
    name = gpus.constants(gpu)["name"]
    table = {"machine": name, "backend": results.PREDICTED, "points": []}
    if path.is_file():
        try:
            table = json.loads(path.read_text(encoding="utf-8"))
            if (table["machine"], table["backend"]) != (name, results.PREDICTED):
                raise UserError(f"{path}: holds {table['backend']} points of {table['machine']}, not predictions for {name}")
        except (ValueError, KeyError, TypeError):
            raise UserError(f"{path}: not a file of predictions; delete it") from None
    points_by_key = {(point["source"], *results.configuration_of(point)): point for point in [*table["points"], *found]}
    head = {"machine": name, "backend": results.PREDICTED, "date": datetime.date.today().isoformat(), "command": command, "roofs": gpus.roofs(gpu)}
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.write_text(json.dumps({**head, "points": list(points_by_key.values())}, indent=1) + "\n", encoding="utf-8")
    new.replace(path)


def taken(path: Path) -> list[dict]:
    try:
        return json.loads(path.read_text(encoding="utf-8"))["points"]
    except (OSError, ValueError, KeyError, TypeError):
        raise UserError(f"{path}: not a file of predictions") from None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check-gpu", metavar="GPU")
    parser.add_argument("--name-of", metavar="GPU")
    parser.add_argument("--take", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--gpu", default="h200")
    parser.add_argument("--lab")
    parser.add_argument("--rung", type=Path)
    parser.add_argument("--source", default="student")
    parser.add_argument("--results", type=Path)
    parser.add_argument("--command", default="make lab")
    parser.add_argument("--cols", type=int, default=next(iter(SHAPES)), help=f"{' or '.join(map(str, SHAPES))}, the first by default; any with --rows; of a matrix: its columns, and as many rows")
    parser.add_argument("--rows", type=int, help="of a matrix of normal logits; default: those that the ladder has for these columns")
    parser.add_argument("--matrix", help="raw float32 logits")
    parser.add_argument("--topk-output", help="writes what `online` for f32 returns: PATH.i32 (indices), PATH.f32")
    parser.add_argument("--input", default="normal", help="the name of the logits in the results")
    parser.add_argument("--k", type=int, default=K)
    parser.add_argument("--part", type=int, help="how many rows are run; the others are like them")
    parser.add_argument("--keep", type=Path, help="keeps the points in this file, and takes them from it while the rung is not newer")
    parser.add_argument("--worker", type=Path, default=Path("build/cpu/worker"))
    parser.add_argument("--profile", type=Path, default=Path("build/cpu/profile"))
    options = parser.parse_args()
    options.failed = False
    try:
        if options.check_gpu or options.name_of:
            gpus.constants(options.check_gpu or options.name_of)
            if options.name_of:
                print(gpus.slug(options.name_of))
            return 0
        if options.take:
            put(options.results, options.gpu, [point for path in options.take for point in taken(path)], options.command)
            return 0
        if options.matrix:
            shape = Shape(options.cols, options.cols, options.cols, options.cols)
        elif options.rows:
            shape = Shape(options.rows, options.cols, min(options.rows, 512), 4 if options.cols <= 8192 else 0)
        else:
            shape = SHAPES[options.cols]
        if options.part:
            shape = Shape(shape.rows, shape.cols, options.part, shape.quadratic)
        put(options.results, options.gpu, (kept if options.keep else points)(options, shape), options.command)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return int(options.failed)


if __name__ == "__main__":
    sys.exit(main())
