"""Points and thresholds: points.toml, read and checked; and how the points of a lab are divided over its items."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

CATEGORIES = ("correctness", "checks", "moves", "predictions", "speed")
NEEDS = ("contract", "checks", "moves", "predictions", "speed")
SPEED = ("full", "none", "above_roof", "above_solution")
DEFAULTS = {"submission_seconds": 900}  # limits that points files of earlier courses do not have
LIMITS = ("source_kib", "archive_mib", "files", "compile_seconds", "lab_seconds", "submission_seconds", "gpu_seconds", "memory_mib", "processes", "temporary_mib", "output_kib")


class PointsError(Exception):
    """What is wrong with the file, and what to do."""


@dataclass(frozen=True)
class Points:
    path: Path
    default: dict[str, int]  # category -> points
    labs: dict[str, dict[str, int]]  # the same for the labs that have their own
    groups: dict[str, float]
    need: dict[str, float]
    speed: dict[str, float]
    limits: dict[str, int]
    given: dict[str, list[str]]  # lab -> "variant" or "variant/group": worth nothing, because the starter has it

    def is_given(self, lab: str, variant: str, part: str) -> bool:
        return bool({variant, f"{variant}/{part}"} & set(self.given.get(lab, ())))

    def given_variants(self, lab: str) -> list[str]:
        return [name for name in self.given.get(lab, ()) if "/" not in name]

    def of(self, lab: str) -> dict[str, int]:
        return self.labs.get(lab, self.default)

    def text_of(self, lab: str) -> str:
        """All that a grade of this lab depends on."""
        return repr((self.of(lab), self.groups, self.need, self.speed, self.limits, self.given.get(lab, [])))

    def weight(self, group: str) -> float:
        return self.groups.get(group, 1)


def load(path: Path, labs: list[str]) -> Points:
    """Reads the file and checks it against the names of the course's labs. Raises PointsError."""

    def wrong(what: str):
        raise PointsError(f"{path}: {what}")

    def numbers(table: object, name: str, keys: tuple[str, ...] | None, least: float, most: float, whole: bool = False) -> dict:
        if not isinstance(table, dict):
            wrong(f"the table [{name}] is missing")
        for key, value in table.items():
            if keys is not None and key not in keys:
                wrong(f"[{name}] does not know '{key}'; it has: {', '.join(keys)}")
            if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
                wrong(f"[{name}] {key} = {value!r} is not a {'whole ' if whole else ''}number")
            if not least <= value <= most:
                wrong(f"[{name}] {key} = {value} is not between {least:g} and {most:g}")
        for key in keys or ():
            if key not in table:
                wrong(f"[{name}] lacks '{key}'")
        return table

    def hundred(table: dict, name: str) -> dict[str, int]:
        numbers(table, name, CATEGORIES, 0, 100, whole=True)
        if sum(table.values()) != 100:
            wrong(f"the points of [{name}] sum to {sum(table.values())}, not to 100")
        if table["correctness"] == 0:
            wrong(f"[{name}] gives nothing for correctness")
        return table

    try:
        with path.open("rb") as file:
            data = tomllib.load(file)
    except OSError as error:
        wrong(error.strerror or str(error))
    except tomllib.TOMLDecodeError as error:
        wrong(f"is not TOML: {error}")
    if unknown := sorted(set(data) - {"points", "groups", "need", "speed", "limits", "given"}):
        wrong(f"there is no table [{unknown[0]}]")
    points = data.get("points")
    if not isinstance(points, dict):
        wrong("the table [points] is missing")
    default = hundred({key: value for key, value in points.items() if not isinstance(value, dict)}, "points")
    own = {}
    for lab, table in points.items():
        if isinstance(table, dict):
            if lab not in labs:
                wrong(f"[points.{lab}]: there is no such lab; the labs are: {', '.join(labs)}")
            own[lab] = hundred(table, f"points.{lab}")
    groups = numbers(data.get("groups", {}), "groups", None, 0, 1000)
    need = numbers(data.get("need"), "need", NEEDS, 0, 1)
    speed = numbers(data.get("speed"), "speed", SPEED, 0, 1000)
    if speed["none"] >= speed["full"]:
        wrong("[speed] none must be less than full")
    given = data.get("given", {})
    for lab, names in given.items():
        if lab not in labs:
            wrong(f"[given] {lab}: there is no such lab; the labs are: {', '.join(labs)}")
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            wrong(f"[given] {lab} is not a list of names")
    limits = data.get("limits")
    if isinstance(limits, dict):
        limits = {**DEFAULTS, **limits}
    limits = numbers(limits, "limits", LIMITS, 1, 10**6, whole=True)
    return Points(path, default, own, groups, need, speed, limits, given)


def divide(total: int, weights: list[Fraction]) -> list[int]:
    """Divides a whole number in proportion, into whole numbers that sum to it: what is left goes to the largest rests."""
    whole = sum(weights)
    if not whole:
        return [0] * len(weights)
    exact = [total * weight / whole for weight in weights]
    parts = [int(part) for part in exact]
    by_rest = sorted(range(len(parts)), key=lambda i: (parts[i] - exact[i], i))
    for i in by_rest[: total - sum(parts)]:
        parts[i] += 1
    return parts


def divide_lab(points: Points, lab: str, items: list[tuple[str, float]]) -> list[float]:
    """The points of a lab's items, given as (category, weight within it), in hundredths exactly: they sum to 100."""
    table = points.of(lab)
    present = [category for category in CATEGORIES if any(c == category and w for c, w in items)]
    shares = [0] * len(items)
    for category, total in zip(present, divide(10000, [Fraction(table[category]) for category in present])):
        members = [i for i, (c, _) in enumerate(items) if c == category]
        for i, share in zip(members, divide(total, [Fraction(str(items[i][1])) for i in members])):
            shares[i] = share
    return [share / 100 for share in shares]
