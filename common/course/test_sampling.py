"""A sample and its rest are the list."""

import contextlib
import io
import os
import re
import sys
import unittest
import unittest.mock
from pathlib import Path

COMMON = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(COMMON))
from course.sampling import LEFT, left_to_rest, sampled  # noqa: E402


class Sampled(unittest.TestCase):
    def taken(self, part: str, items: list[int], one_in: int) -> tuple[list[int], str]:
        said = io.StringIO()
        with unittest.mock.patch.dict(os.environ, {"LADDER_TESTS": part}), contextlib.redirect_stdout(said):
            return sampled(items, one_in, "numbers"), said.getvalue()

    def test_a_sample_and_its_rest_are_the_list(self):
        for count in (0, 1, 2, 7, 100):
            for one_in in (1, 3, 12):
                items = list(range(count))
                sample, rest = (self.taken(part, items, one_in)[0] for part in ("sample", "rest"))
                self.assertEqual(sorted(sample + rest), items)
                self.assertEqual(len(sample), -(-count // one_in))

    def test_a_sample_says_that_it_is_one(self):
        self.assertEqual(self.taken("sample", list(range(7)), 3)[1], "sampled: 3 of 7 numbers\n")
        self.assertEqual(self.taken("rest", list(range(7)), 3)[1], "")

    def test_by_itself_a_test_takes_all(self):
        with unittest.mock.patch.dict(os.environ):
            os.environ.pop("LADDER_TESTS", None)
            self.assertEqual(sampled([1, 2, 3], 2, "numbers"), [1, 2, 3])

    def test_a_long_test_is_left_out_of_a_sample_alone(self):
        for part, why in (("sample", LEFT), ("rest", None), ("all", None)):
            with unittest.mock.patch.dict(os.environ, {"LADDER_TESTS": part}):

                @left_to_rest
                def long_test(self):
                    pass

            self.assertEqual(getattr(long_test, "__unittest_skip_why__", None), why)

    def test_what_is_left_out_is_found_by_the_rest(self):
        """test.sh has words for every test with this decorator, and its own text for the reason."""
        script = (COMMON / "commands/test.sh").read_text()
        self.assertIn(f'": {LEFT}"', script)
        chosen = {folder: re.findall(r"-k (\w+)", words) for folder, words in re.findall(r'\["python: (common/[\w/]+)"\]="([^"]*)"', script)}
        found = 0
        for path in COMMON.rglob("test_*.py"):
            for name in re.findall(r"@left_to_rest\n    def (test_\w+)", path.read_text()):
                if path.parent.name != "course":
                    found += 1
                    folder = path.parent.relative_to(COMMON.parent).as_posix()
                    self.assertTrue(any(word in name for word in chosen[folder]), f"{path}: {name}")
        self.assertGreater(found, 0)

    def test_another_word_is_refused(self):
        with self.assertRaisesRegex(ValueError, "LADDER_TESTS=some: it can be sample, rest, all"):
            self.taken("some", [], 1)


if __name__ == "__main__":
    unittest.main()
