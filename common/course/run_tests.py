"""Runs the tests beside a folder's Python files: run_tests.py FOLDER. Of a rest (sampling.py) those with long lists alone; with --long it says by
its status whether there are any."""

from __future__ import annotations

import os
import re
import sys
import unittest
from collections.abc import Iterator
from pathlib import Path


def has_long(folder: Path) -> bool:
    """Looked for in the text: importing them all takes seconds."""
    return any(re.search(r"^(    )?@(has_list|left_to_rest|in_turn\(\d+\))$", path.read_text(), re.MULTILINE) for path in folder.glob("test_*.py"))


def cases(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    for each in suite:
        if isinstance(each, unittest.TestSuite):
            yield from cases(each)
        else:
            yield each


def is_long(test: unittest.TestCase) -> bool:
    """What could not be imported is in no rest: it fails without one."""
    return getattr(test, "long", False) or getattr(getattr(test, test._testMethodName, None), "long", False)


def main() -> int:
    *options, folder = sys.argv[1:]
    if options == ["--long"]:
        return 0 if has_long(Path(folder)) else 1
    sys.path.pop(0)  # this folder: its modules are the package's
    tests = unittest.defaultTestLoader.discover(folder, "test_*.py")
    found = tests.countTestCases()
    rest = os.environ.get("LADDER_TESTS") == "rest"
    if rest:  # none, if all that take turns had theirs in the sample
        tests = unittest.TestSuite(filter(is_long, cases(tests)))
    done = unittest.TextTestRunner(verbosity=2).run(tests)
    return 0 if done.wasSuccessful() and (done.testsRun or (rest and found)) else 1


if __name__ == "__main__":
    sys.exit(main())
