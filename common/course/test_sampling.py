"""A sample and its rest are the list."""

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

COMMON = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(COMMON))
from course import run_tests  # noqa: E402
from course.sampling import LEFT, in_turn, left_to_rest, sampled  # noqa: E402


class Sampled(unittest.TestCase):
    def setUp(self):
        clean = unittest.mock.patch.dict(os.environ)  # whatever commit this runs at
        clean.start()
        self.addCleanup(clean.stop)
        os.environ.pop("LADDER_TURN", None)

    def taken(self, part: str, items: list[int], one_in: int, among=None) -> tuple[list[int], str]:
        said = io.StringIO()
        with unittest.mock.patch.dict(os.environ, {"LADDER_TESTS": part}), contextlib.redirect_stdout(said):
            return sampled(items, one_in, "numbers", among), said.getvalue()

    def test_a_sample_and_its_rest_are_the_list(self):
        for count in (0, 1, 2, 7, 100):
            for one_in in (1, 3, 12):
                items = list(range(count))
                sample, rest = (self.taken(part, items, one_in)[0] for part in ("sample", "rest"))
                self.assertEqual(sorted(sample + rest), items)
                self.assertEqual(len(sample), -(-count // one_in))

    def test_of_some_a_sample_is_taken_and_the_rest_has_all_others(self):
        with unittest.mock.patch.dict(os.environ, {"LADDER_TURN": "1"}):
            sample, rest = (self.taken(part, list(range(12)), 3, among=lambda number: number % 2)[0] for part in ("sample", "rest"))
        self.assertEqual(sample, [3, 9])
        self.assertEqual(sorted(sample + rest), list(range(12)))

    def test_a_sample_says_that_it_is_one(self):
        self.assertEqual(self.taken("sample", list(range(7)), 3)[1], "sampled: 3 of 7 numbers\n")
        self.assertEqual(self.taken("rest", list(range(7)), 3)[1], "")

    def test_by_itself_a_test_takes_all(self):
        with unittest.mock.patch.dict(os.environ):
            os.environ.pop("LADDER_TESTS", None)
            self.assertEqual(sampled([1, 2, 3], 2, "numbers"), [1, 2, 3])

    def test_in_turn_each_is_in_a_sample(self):
        items = list(range(10))
        for one_in in (3, 12):
            with self.subTest(one_in=one_in):
                seen = []
                for hour in range(one_in):
                    with unittest.mock.patch.dict(os.environ, {"LADDER_TURN": str(1_000_000 + hour)}):
                        sample, rest = (self.taken(part, items, one_in)[0] for part in ("sample", "rest"))
                        self.assertEqual(sorted(sample + rest), items)
                        self.assertTrue(sample)
                        seen += sample
                self.assertEqual(set(seen), set(items))

    def test_a_long_test_is_left_out_of_a_sample_alone(self):
        for part, why in (("sample", LEFT), ("rest", None), ("all", None)):
            with unittest.mock.patch.dict(os.environ, {"LADDER_TESTS": part}):

                @left_to_rest
                def long_test(self):
                    pass

            self.assertEqual(getattr(long_test, "__unittest_skip_why__", None), why)
            self.assertTrue(long_test.long)

    def test_a_test_in_turn_is_in_the_sample_or_in_the_rest(self):
        def of_sample(hour: int) -> bool:
            with unittest.mock.patch.dict(os.environ, {"LADDER_TESTS": "sample", "LADDER_TURN": str(hour)}):

                @in_turn(3)
                def one(self):
                    pass

            left = getattr(one, "__unittest_skip__", False)
            self.assertEqual(left, getattr(one, "long", False))  # a test of the sample is none of the rest's
            return not left

        self.assertEqual(sum(map(of_sample, range(9))), 3)

    def test_what_is_left_out_is_found_by_the_rest(self):
        """And nothing else; of a class that is left out every test."""
        self.assertIn(f'": {LEFT}"', (COMMON / "commands/test.sh").read_text())
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            self.assertFalse(run_tests.has_long(folder))
            at = "@"  # or this file would seem to have such tests
            (folder / "test_these.py").write_text(f"""
import sys, unittest
sys.path.insert(0, {str(COMMON)!r})
from course.sampling import has_list, in_turn, left_to_rest
class Some(unittest.TestCase):
    def test_short(self): pass
    {at}has_list
    def test_of_a_list(self): pass
    {at}left_to_rest
    def test_left(self): pass
    {at}in_turn(1)
    def test_of_each_sample(self): pass
{at}left_to_rest
class All(unittest.TestCase):
    def test_one(self): pass
""")
            self.assertTrue(run_tests.has_long(folder))
            for part, expected in (("all", {"short", "of_a_list", "left", "of_each_sample", "one"}),
                                   ("sample", {"short", "of_a_list", "of_each_sample"}), ("rest", {"of_a_list", "left", "one"})):
                done = subprocess.run([sys.executable, COMMON / "course/run_tests.py", folder], env={**os.environ, "LADDER_TESTS": part}, text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                self.assertEqual(done.returncode, 0, done.stdout)
                self.assertEqual(set(re.findall(r"^test_(\w+) .* ok$", done.stdout, re.MULTILINE)), expected, done.stdout)

    def test_a_rest_may_be_empty_and_a_folder_without_tests_may_not(self):
        with tempfile.TemporaryDirectory() as name:
            for text, expected in (("class Some(unittest.TestCase):\n    def test_short(self): pass\n", {"rest": 0, "sample": 0}), ("", {"rest": 1, "sample": 1})):
                Path(name, "test_these.py").write_text("import unittest\n" + text)
                for part, status in expected.items():
                    done = subprocess.run([sys.executable, COMMON / "course/run_tests.py", name], env={**os.environ, "LADDER_TESTS": part}, text=True,
                                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                    self.assertEqual(done.returncode, status, done.stdout)

    def test_who_takes_a_part_is_marked(self):
        """Otherwise no rest would have the other part."""
        for path in COMMON.rglob("test_*.py"):
            if path.parent.name != "course" and re.search(r"\bsampled\(", text := path.read_text()) and "unittest" in text:
                with self.subTest(path.relative_to(COMMON)):
                    self.assertTrue(run_tests.has_long(path.parent))
                    self.assertEqual(len(re.findall(r"^(?:    )?@has_list$", text, re.MULTILINE)), len(re.findall(r"\bsampled\(", text)))

    def test_another_word_is_refused(self):
        with self.assertRaisesRegex(ValueError, "LADDER_TESTS=some: it can be sample, rest, all"):
            self.taken("some", [], 1)


if __name__ == "__main__":
    unittest.main()
