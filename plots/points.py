"""The points of a chart: which of a results file's are drawn, where they stand, what they are called."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "common" / folder) for folder in ("bench", "")]
import results  # noqa: E402
from course import labs  # noqa: E402
from results import UserError  # noqa: E402

FLOP_PER_ELEMENT = 5  # softmax's nominal work: max, subtract, exp, add, multiply; one of the five is an exp
LADDER = ("softmax", "softmax_topk")  # the operators of the ladder: alike in work per element, and in the exp roof over them
TITLES = labs.operators()
COLS = labs.shapes()[0].cols  # what make labNN measures


def intensity(point: dict) -> float:
    """The x of a point, FLOP per byte that the kernel asks of L1: counted sectors x 32.

    Where nothing was counted, the nominal bytes: each input byte read once and each output byte written once.
    """
    return point["nominal_flops"] / point.get("l1_bytes", point["nominal_bytes"])


def footprint_intensity(point: dict) -> float:
    """FLOP per byte of the footprint, the distinct sectors that the launch reads and writes; nominal as in intensity()."""
    return point["nominal_flops"] / point.get("footprint_bytes", point["nominal_bytes"])


def title_of(op: str) -> str:
    return TITLES.get(op, op)


def operators_of(points: list[dict]) -> list[str]:
    """In the manifest's order; those that it does not know last."""
    return sorted({point["op"] for point in points}, key=lambda op: ([*TITLES, op].index(op), op))


def flop_per_element(point: dict) -> float:
    return point["nominal_flops"] / (point["rows"] * point["cols"])


def on_roofline(ladder: list[dict]) -> list[dict]:
    """The points that stand under the roofs. Beside softmax those of other operators are left out, unless somebody's own kernel is
    among them: their FLOP per element is another, so that heights cannot be compared, and no exp limits a norm."""
    shown = {op for op in LADDER if any(point["op"] == op for point in ladder)}
    if not shown:
        return ladder
    shown |= {point["op"] for point in ladder if not is_solution(point)}
    return [point for point in ladder if point["op"] in shown]


def gflops(point: dict) -> float:
    return point["nominal_flops"] / point["seconds"] / 1e9


def gbytes(point: dict) -> float:
    return point["nominal_bytes"] / point["seconds"] / 1e9


def is_solution(point: dict) -> bool:
    return point["source"] == "solution"


def name_of(point: dict, ladder: list[dict]) -> str:
    """The variant, with its dtype and k only where other points share its name, and whose it is."""
    alike = [other for other in ladder if (other["lab"], other["variant"]) == (point["lab"], point["variant"])]
    name = point["variant"]
    if len({other["dtype"] for other in alike}) > 1:
        name += f" {point['dtype']}"
    if len({other["k"] for other in alike}) > 1:
        name += f" K={point['k']}"
    if is_solution(point):
        return name
    return f"\N{BLACK STAR} {name}"  # the marker of the key's "yours"


MOST_NAMES = 20  # more cannot be told apart beside their points


def is_crowded(points: list[dict]) -> bool:
    return len(points) > MOST_NAMES


def named(points: list[dict]) -> list[dict]:
    """Those that have their names beside them: all, or of many the fastest of each lab, by operator and whose it is. All of them have
    names in ladder order, on the right."""
    if not is_crowded(points):
        return points
    fastest: dict[tuple, dict] = {}
    for point in points:
        key = (point["source"], point["lab"], point["op"])
        if key not in fastest or seconds_per_element(point) < seconds_per_element(fastest[key]):
            fastest[key] = point
    return [point for point in points if any(point is each for each in fastest.values())]


def bought(point: dict, shown: list[dict]) -> str:
    """ "1.3x": how many times faster the lab's point is than that of the lab before, of the same operator and source; "" of the first."""
    before = [each for each in shown if (each["source"], each["op"]) == (point["source"], point["op"]) and each["lab"] < point["lab"]]
    return f" {results.three_digits(seconds_per_element(before[-1]) / seconds_per_element(point))}x" if before else ""


def seconds_per_element(point: dict) -> float:
    return point["seconds"] / (point["rows"] * point["cols"])


def select(points: list[dict], cols: int, kind: str, source: str = "student") -> list[dict]:
    """One shape, in ladder order: the solutions and the points of `source`. Of a rung measured at several numbers of rows,
    the most rows."""
    chosen: dict[tuple, dict] = {}
    for point in points:
        if point["cols"] == cols and point["input"] == kind and point["source"] in ("solution", source):
            key = (point["source"], *results.rung_of(point))
            if key not in chosen or point["rows"] > chosen[key]["rows"]:
                chosen[key] = point
    if not chosen:
        shapes = sorted({(point["input"], point["cols"]) for point in points})
        present = "; ".join(f"--input {shape[0]} --cols {shape[1]}" for shape in shapes)
        raise UserError(f"no points with --input {kind} --cols {cols}; the file has: {present}")
    return results.ladder_order(list(chosen.values()))


def same_rungs(points: list[dict], ladder: list[dict]) -> list[dict]:
    """Of `points` those of the rungs and shapes that the ladder has, as the solution's."""
    wanted = {(results.rung_of(point), point["input"], point["cols"]) for point in ladder if is_solution(point)}
    return [point for point in points if is_solution(point) and (results.rung_of(point), point["input"], point["cols"]) in wanted]


def arrow_pairs(ladder: list[dict]) -> list[tuple[dict, dict]]:
    """(rung before, rung) for every step. The solution's ladder, or the student's own while there is no other."""
    drawn = [point for point in ladder if is_solution(point)] or ladder
    pairs = [(results.rung_before(point, ladder), point) for point in drawn]
    return [(before, point) for before, point in pairs if before is not None]
