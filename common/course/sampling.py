"""The long lists of `make test`: wrong kernels, submissions, programs, and tests that take long. A whole run of them takes half an hour, so that
`make test` takes a part and `make test-rest` the others. Which part goes with the course's last commit, so that in time each is seen, and a
commit has always the same. A test that is run by itself, or by `make test ONLY=...`, takes all."""

from __future__ import annotations

import os
import unittest
import zlib
from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Test = TypeVar("Test", bound=Callable)
CHOICES = ("sample", "rest", "all")


LEFT = "make test-rest runs it"


def part() -> str:
    """Raises ValueError where LADDER_TESTS is no part."""
    asked = os.environ.get("LADDER_TESTS", "all")
    if asked not in CHOICES:
        raise ValueError(f"LADDER_TESTS={asked}: it can be {', '.join(CHOICES)}")
    return asked


def turn() -> int:
    """The hour of the last commit (common/commands/test.sh)."""
    return int(os.environ.get("LADDER_TURN") or 0)


def has_list(test: Test) -> Test:
    """A test of which `make test` runs a part, by sampled(); `make test-rest` finds it by this."""
    test.long = True
    return test


def left_to_rest(test: Test) -> Test:
    """A long test that `make test` leaves out."""
    return unittest.skipIf(part() == "sample", LEFT)(has_list(test))


def in_turn(one_in: int) -> Callable[[Test], Test]:
    """Tests that `make test` runs at every n-th commit or so, and `make test-rest` at the others."""

    def marked(test: Test) -> Test:
        if (zlib.crc32(test.__qualname__.encode()) + turn()) % one_in:
            return left_to_rest(test)
        return test

    return marked


def due(items: Sequence[Item], one_in: int) -> list[Item]:
    """Those whose turn it is, never none."""
    return list(items[turn() % min(one_in, len(items) or 1) :: one_in])


def sampled(items: Sequence[Item], one_in: int, what: str, among: Callable[[Item], bool] | None = None) -> list[Item]:
    """items: in the order of their list; what: how a line of the report calls them; among: the sample is taken from these alone. Which part is
    taken says LADDER_TESTS."""
    asked = part()
    sample = set(due([number for number, item in enumerate(items) if among is None or among(item)], one_in))
    taken = [item for number, item in enumerate(items) if asked == "all" or (number in sample) == (asked == "sample")]
    if asked == "sample":
        print(f"sampled: {len(taken)} of {len(items)} {what}", flush=True)
    return taken
