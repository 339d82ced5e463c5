"""What a report tells about a lab, told once: items with one verdict and one cause stand together, with the words of the first, and of long
details as much as a person reads. feedback.md and results.json are made from the same groups."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from escape import shortened
from record import FAIL, PASS, VERDICTS, Item, Lab, number_text

DETAILS_OF_A_LAB, DETAILS_OF_A_GROUP, LEAST = 700, 350, 150
NAMED = 3  # of the items of a variant that have one cause
NOT_LOOKED_AT = "not looked at"


@dataclass(frozen=True)
class Group:
    """Items of one verdict and one reason, in the order of the record."""

    verdict: str
    items: tuple[Item, ...]
    reason: str
    hint: str
    details: str  # shortened

    @property
    def points(self) -> float:
        return round(sum(item.points for item in self.items), 2)

    @property
    def out_of(self) -> float:
        return round(sum(item.out_of for item in self.items), 2)


def cause(item: Item) -> tuple[str, ...]:
    """What items have in common that one mistake explains: the reason without its numbers and without the case that came first."""
    reason = re.sub(r"\d+(?:\.\d+)?", "#", re.sub(r", first [^\s:]+(?=:)", "", item.reason))
    reason = re.sub(r"(not filled in yet: ).*", r"\1", reason)  # the question, which is the prediction's own
    # Of hidden cases that were wrong the hint is all that there is.
    return (item.verdict, reason, "" if item.hint.startswith("make ") or "not run" in reason else item.hint)


def groups(lab: Lab) -> list[Group]:
    """What there is to do comes first. The details of all groups together have a limit, and those that come first have them."""
    found: dict[tuple[str, ...], list[Item]] = {}
    for verdict in VERDICTS:
        for item in lab.with_verdict(verdict):
            if item.category == "integrity" and verdict == FAIL and item.reason.startswith(NOT_LOOKED_AT):
                continue  # it has no points, and others say why
            found.setdefault(cause(item), []).append(item)
    left, result = DETAILS_OF_A_LAB, []
    for (verdict, *_), items in found.items():
        first = items[0]
        details = first.details if first.details.strip() != first.reason.strip() else ""
        if details and left >= LEAST:
            details = shortened(details, min(left, DETAILS_OF_A_GROUP))
            left -= len(details)
        else:
            details = ""  # make lab02 shows the rest
        result.append(Group(verdict, tuple(items), first.reason, first.hint, details))
    return result


def named(lab: Lab, items: tuple[Item, ...]) -> str:
    """Their names, in which what several begin with is said once: "serial f32, tree f32: masked entries, many sizes; per_row f32: everything".
    Of many the first ones and how many more; what is right is only counted."""
    def split(item: Item) -> tuple[str, str]:
        head, _, tail = item.name.partition(": ")
        return (head, tail) if tail else ("", head)

    mine, whole = Counter(split(item)[0] for item in items), Counter(split(item)[0] for item in lab.items)
    tails: dict[str, list[str]] = {}
    for item in items:
        head, tail = split(item)
        tails.setdefault(head, []).append(tail)
    heads: dict[str, list[str]] = {}  # those that have the same said of them
    for head, said in tails.items():
        if head and mine[head] == whole[head] > 3:
            text = "everything"
        elif len(said) <= NAMED + 1:
            text = ", ".join(said)
        elif items[0].verdict == PASS:
            text = f"{len(said)} of {whole[head]} items"
        else:
            text = f"{', '.join(said[:NAMED])} and {len(said) - NAMED} more"
        heads.setdefault(text, []).append(head)
    return "; ".join(f"{', '.join(filter(None, who))}: {said}" if any(who) else said for said, who in heads.items())


def of(points: float, out_of: float) -> str:
    return f"{number_text(points)} of {number_text(out_of)}"


def signed(points: float) -> str:
    return f"+{number_text(points)}" if points > 0 else number_text(points)
