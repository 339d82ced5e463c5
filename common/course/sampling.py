"""The long lists of `make test`: wrong kernels, submissions, programs. A whole run of them takes half an hour, so that `make test` takes
every n-th and `make test-rest` the others. A test that is run by itself, or by `make test ONLY=...`, takes all."""

from __future__ import annotations

import os
import unittest
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")
Test = TypeVar("Test")
CHOICES = ("sample", "rest", "all")


LEFT = "make test-rest runs it"


def left_to_rest(test: Test) -> Test:
    """A long test, or a class of them, that `make test` leaves out. `make test-rest` finds it by the words that common/commands/test.sh has for
    its folder."""
    return unittest.skipIf(os.environ.get("LADDER_TESTS") == "sample", LEFT)(test)


def sampled(items: Sequence[Item], one_in: int, what: str) -> list[Item]:
    """items: in the order of their list; what: how a line of the report calls them. Which part is taken says LADDER_TESTS.
    Raises ValueError where that is no part."""
    part = os.environ.get("LADDER_TESTS", "all")
    if part not in CHOICES:
        raise ValueError(f"LADDER_TESTS={part}: it can be {', '.join(CHOICES)}")
    taken = [item for number, item in enumerate(items) if part == "all" or (number % one_in == 0) == (part == "sample")]
    if part == "sample":
        print(f"sampled: {len(taken)} of {len(items)} {what}", flush=True)
    return taken
