"""Reads plots/results/<machine>.json and puts its points in ladder order; shared by table.py and plots/roofline.py."""

from __future__ import annotations

import json
import math
from pathlib import Path

FILE_FIELDS = ("machine", "backend", "date", "points")
POINT_FIELDS = ("source", "lab", "variant", "op", "dtype", "input", "rows", "cols", "k", "seconds",
                "nominal_bytes", "nominal_flops")
PREDICTED = "predicted"  # the backend of a file whose times nobody measured (predict.py)
COUNT_FIELDS = ("l1_bytes", "footprint_bytes", "counted_rows")  # of a point whose bytes were counted; all or none
POSITIVE = ("rows", "cols", "nominal_bytes", "nominal_flops")
ROOF_FIELDS = ("copy_gbs", "read_gbs", "fma_gflops", "exp_gops")
DTYPES = ("f32", "f16", "bf16")


class UserError(Exception):
    """Something the user can put right: the message says what is wrong and what to do."""


def load(path: Path, need_roofs: bool = False) -> dict:
    """The checked contents of a results file. Points whose "seconds" is null were not measured and are left out."""
    try:
        results = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; run `make ladder` to measure this machine") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: not valid JSON: {error}; delete it and run `make ladder` again") from None
    if not isinstance(results, dict):
        raise UserError(f"{path}: expected a JSON object, got {type(results).__name__}")
    require(results, FILE_FIELDS, str(path))
    if not isinstance(results["points"], list) or not results["points"]:
        raise UserError(f"{path}: no points in it; run `make ladder` to measure some")
    for number, point in enumerate(results["points"], 1):
        check_point(point, f"{path}: point {number}")
    results["points"] = [point for point in results["points"] if point["seconds"] is not None]
    if not results["points"]:
        raise UserError(f"{path}: none of its points is measured; run `make ladder`")
    if need_roofs:
        check_roofs(results, path)
    return results


def require(table: dict, fields: tuple, where: str) -> None:
    missing = [field for field in fields if field not in table]
    if missing:
        raise UserError(f"{where}: missing {', '.join(missing)}")


def is_positive(value: object) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and math.isfinite(value) and value > 0


def check_point(point: object, where: str) -> None:
    if not isinstance(point, dict):
        raise UserError(f"{where}: expected a JSON object, got {type(point).__name__}")
    require(point, POINT_FIELDS, where)
    fields = POSITIVE if point["seconds"] is None else POSITIVE + ("seconds",)
    if any(field in point for field in COUNT_FIELDS):
        require(point, COUNT_FIELDS, where)
        fields += COUNT_FIELDS
    for field in fields:
        if not is_positive(point[field]):
            raise UserError(f"{where}: {field} is {point[field]!r}, expected a positive number")
    for field in ("source", "lab", "variant", "op", "dtype", "input"):
        if not isinstance(point[field], str):
            raise UserError(f"{where}: {field} is {point[field]!r}, expected text")
    if is_predicted(point) and point["seconds"] is not None:
        band = [point["predicted"].get(end) for end in ("low", "high")] if isinstance(point["predicted"], dict) else [None]
        if not all(map(is_positive, band)) or not band[0] <= point["seconds"] <= band[1]:
            raise UserError(f"{where}: predicted has no band low <= seconds <= high")
    if point["dtype"] not in DTYPES:
        raise UserError(f"{where}: dtype is {point['dtype']!r}, expected one of {', '.join(DTYPES)}")


def is_counted(point: dict) -> bool:
    return "l1_bytes" in point


def is_predicted(point: dict) -> bool:
    return "predicted" in point


def check_roofs(results: dict, path: Path) -> None:
    roofs = results.get("roofs")
    if not isinstance(roofs, dict) or not roofs:
        raise UserError(f"{path}: no roofs in it; run `make ladder`, which measures them with the points")
    require(roofs, ROOF_FIELDS, f"{path}: roofs")
    for field in ROOF_FIELDS:
        if not is_positive(roofs[field]):
            raise UserError(f"{path}: roof {field} is {roofs[field]!r}, expected a positive number")


def three_digits(value: float) -> str:
    """Three significant digits for people, without an exponent: 0.00123, 0.400, 12.3, 12345."""
    if value >= 99.95:
        return f"{value:.0f}"
    return f"{value:#.3g}" if value >= 1e-4 else f"{value:.1e}"


def ladder_order(points: list[dict]) -> list[dict]:
    """Labs by number; inside a lab by dtype, then as the file has them. The solution stands before other sources."""
    first_seen: dict[tuple, int] = {}
    for point in sorted(points, key=lambda point: point["source"] != "solution"):
        first_seen.setdefault(rung_of(point), len(first_seen))
    return sorted(points, key=lambda point: (point["lab"], DTYPES.index(point["dtype"]), first_seen[rung_of(point)],
                                             point["source"] != "solution", point["source"]))


def rung_of(point: dict) -> tuple:
    return (point["lab"], point["variant"], point["dtype"], point["k"])


def configuration_of(point: dict) -> tuple:
    """The rung and what it was given: what a point is of, whoever wrote it."""
    return (*rung_of(point), point["input"], point["rows"], point["cols"])


def rung_before(point: dict, ladder: list[dict]) -> dict | None:
    """The rung that `point` is compared with, out of `ladder` (one input and width, in ladder order).

    It is the nearest earlier rung of the same source, operation, k and dtype. The first f16 softmax follows the last
    f32 one. Top-K does another job than softmax, and each of its dtypes starts a ladder of its own.
    """
    index = next(i for i, other in enumerate(ladder) if other is point)
    earlier = [other for other in ladder[:index] if same_job(other, point) and other["source"] == point["source"]]
    same_dtype = [other for other in earlier if other["dtype"] == point["dtype"]]
    if same_dtype:
        return same_dtype[-1]
    return earlier[-1] if earlier and point["op"] == "softmax" else None


def first_rung(point: dict, ladder: list[dict]) -> dict:
    """The bottom of the ladder on which `point` stands: the first rung of its source, operation and k."""
    return next(other for other in ladder if same_job(other, point) and other["source"] == point["source"])


def same_job(a: dict, b: dict) -> bool:
    return a["op"] == b["op"] and a["k"] == b["k"]
