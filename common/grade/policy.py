"""OUT/policy.toml: what becomes of points that were earned: late days, bonus labs, a curve. Without the file nothing does."""

from __future__ import annotations

import csv
import io
import math
import tomllib
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from pathlib import Path

NAME, TABLE = "policy.toml", "handed_in.csv"
EXAMPLE = """# What becomes of the points that were earned. Take the '#' away from what you want; reports.py OUT (or make check) writes the reports again.

# [late]
# per_day = 10         # per cent less for each day that has begun
# of = "earned"        # per cent of the points earned, or of the "maximum"
# free_days = 3        # for each student, all labs together; used up in the order of the deadlines
# most_days = 7        # later than that: no points. 0: no limit
# grace_minutes = 15
# file_times = false   # true: believe the files' own times where neither handed_in.csv nor the platform has one

# [deadlines]          # a time without a zone is this machine's; a date ends at midnight
# lab01 = 2026-10-07T23:59:00
# lab02 = 2026-10-14

# [bonus]
# labs = ["lab07"]     # their points count, what they are out of does not

# [curve]              # per cent before and after, straight lines between
# points = [[0, 0], [50, 60], [100, 100]]
"""
STYLES = ("%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%A, %d %B %Y, %I:%M %p", "%d/%m/%Y %H:%M", "%Y-%m-%d %H:%M:%S %z")


class PolicyError(Exception):
    """What is wrong with the file, and what to do."""


@dataclass(frozen=True)
class Policy:
    per_day: float = 0.0
    of: str = "earned"
    free_days: int = 0
    most_days: int = 0
    grace_minutes: float = 0.0
    file_times: bool = False
    deadlines: dict[str, datetime] = field(default_factory=dict)  # lab, or the beginning of its name
    bonus_labs: tuple[str, ...] = ()
    curve: tuple[tuple[float, float], ...] = ()
    table: dict[tuple[str, str], datetime] = field(default_factory=dict)  # (student, lab or "") -> handed in

    def deadline(self, lab: str) -> datetime | None:
        return self.deadlines.get(lab) or self.deadlines.get(lab.split("_")[0])

    def is_bonus(self, lab: str) -> bool:
        return lab in self.bonus_labs or lab.split("_")[0] in self.bonus_labs

    def curved(self, percent: float) -> float:
        """Below the first point and above the last one the curve stays level."""
        if not self.curve:
            return percent
        before = self.curve[0]
        for point in self.curve:
            if percent <= point[0]:
                share = (percent - before[0]) / (point[0] - before[0]) if point[0] > before[0] else 1.0
                return max(before[1], min(point[1], before[1] + share * (point[1] - before[1])))
            before = point
        return before[1]

    def days_late(self, handed_in: datetime, deadline: datetime) -> int:
        """Days that have begun since the deadline and its grace."""
        return max(0, math.ceil((handed_in - deadline - timedelta(minutes=self.grace_minutes)) / timedelta(days=1)))


def load(out: Path) -> Policy:
    """Raises PolicyError."""
    path = out / NAME

    def wrong(what: str):
        raise PolicyError(f"{path}: {what}")

    try:
        with path.open("rb") as file:
            data = tomllib.load(file)
    except FileNotFoundError:
        data = {}
    except OSError as error:
        wrong(error.strerror or str(error))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        wrong(f"is not TOML: {error}")

    def table(name: str, keys: tuple[str, ...] | None) -> dict:
        value = data.get(name, {})
        if not isinstance(value, dict):
            wrong(f"[{name}] is no table")
        for key in value:
            if keys is not None and key not in keys:
                wrong(f"[{name}] does not know '{key}'; it has: {', '.join(keys)}")
        return value

    def number(values: dict, name: str, most: float, whole: bool = False) -> float:
        value = values.get(name, 0)
        if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)) or not 0 <= value <= most:
            wrong(f"{name} = {value!r} is not a {'whole ' if whole else ''}number from 0 to {most:g}")
        return value

    if unknown := sorted(set(data) - {"late", "deadlines", "bonus", "curve"}):
        wrong(f"there is no table [{unknown[0]}]")
    late = table("late", ("per_day", "of", "free_days", "most_days", "grace_minutes", "file_times"))
    if late.get("of", "earned") not in ("earned", "maximum"):
        wrong(f"of = {late['of']!r} is neither \"earned\" nor \"maximum\"")
    if not isinstance(late.get("file_times", False), bool):
        wrong("file_times is true or false")
    deadlines = {}
    for lab, value in table("deadlines", None).items():
        if isinstance(value, datetime):
            deadlines[lab] = value.astimezone()
        elif isinstance(value, date):
            deadlines[lab] = datetime.combine(value, time(23, 59, 59)).astimezone()
        else:
            wrong(f"[deadlines] {lab} = {value!r} is no time: 2026-10-14T23:59:00")
    bonus = table("bonus", ("labs",)).get("labs", [])
    if not isinstance(bonus, list) or not all(isinstance(lab, str) for lab in bonus):
        wrong("[bonus] labs is not a list of names")
    return Policy(number(late, "per_day", 100), late.get("of", "earned"), int(number(late, "free_days", 365, True)), int(number(late, "most_days", 365, True)),
                  number(late, "grace_minutes", 1440), late.get("file_times", False), deadlines, tuple(bonus), _curve(table("curve", ("points",)), wrong),
                  _table(out / TABLE))


def _curve(values: dict, wrong) -> tuple[tuple[float, float], ...]:
    points = values.get("points", [])
    if not isinstance(points, list) or not all(isinstance(point, list) and len(point) == 2 and all(
            isinstance(x, (int, float)) and not isinstance(x, bool) and 0 <= x <= 1000 for x in point) for point in points):
        wrong("[curve] points is not a list of pairs of per cent: [[0, 0], [50, 60], [100, 100]]")
    if any(a[0] >= b[0] or a[1] > b[1] for a, b in zip(points, points[1:])) or len(points) == 1:
        wrong("[curve] points: there are at least two, each further right than the one before and not lower")
    return tuple((float(a), float(b)) for a, b in points)


def parse_time(text: str) -> datetime | None:
    """A time as people and platforms write it; without a zone it is this machine's."""
    text = " ".join(text.split())
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone()
    except ValueError:
        pass
    for style in STYLES:
        try:
            return datetime.strptime(text.replace(" UTC", " +0000"), style).astimezone()
        except ValueError:
            pass
    return None


def _table(path: Path) -> dict[tuple[str, str], datetime]:
    """OUT/handed_in.csv: the columns student, handed_in and perhaps lab."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise PolicyError(f"{path}: cannot be read as UTF-8: {error}") from None
    first = text.split("\n", 1)[0]
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=";" if first.count(";") > first.count(",") else ",")
    if not {"student", "handed_in"} <= set(reader.fieldnames or ()):
        raise PolicyError(f"{path}: its first line must name the columns: student,lab,handed_in (lab may be missing)")
    found = {}
    for row in reader:
        if not (row["student"] or "").strip() or not (row["handed_in"] or "").strip():
            continue
        when = parse_time(row["handed_in"])
        if when is None:
            raise PolicyError(f"{path}, line {reader.line_num}: '{row['handed_in']}' is no time: write 2026-10-14 23:59")
        found[row["student"].strip().lstrip("'"), (row.get("lab") or "").strip()] = when
    return found
