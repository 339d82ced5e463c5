"""The page of messages: it shows what the examples say, has every title that the executor can print and every kind of wrong element,
and the wrong kernels that it names get the verdicts that it says."""

from __future__ import annotations

import contextlib
import io
import platform
import re
import tomllib
import unittest
from unittest import mock

import messages

ROOT = messages.ROOT
CHECK = r"(?:memcheck|racecheck|synccheck|initcheck): "
TITLES = re.compile(rf'"({CHECK}[^"]+)"|what = "([^"]+)"|\bfail(?:_in_host)?\("([^"]+)",')
WORDS = re.compile(r'case Fault::\w+: return "([^"]+)";')
LIMITS = re.compile(r'(?:invalid\(|cudaError\w+,)\s*(?:std::string\()?"([^"]+)"')
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
ROW = re.compile(r"^\| (?P<message>[^|]+?) \| [^|]+ \| (?P<lab>lab\w+) (?P<broken>\w+) \|$", re.MULTILINE)


def titles() -> set[str]:
    """Those of all failures that the executor's sources can print."""
    found = set()
    for path in (ROOT / "common/simt").rglob("*.cpp"):
        if not path.name.startswith("test_"):
            found |= {next(filter(None, match.groups())) for match in TITLES.finditer(path.read_text())}
    return found


def options_refused() -> set[str]:
    """Those of which a message says "NAME=value: it can be ...", of the commands and of what they call."""
    found = set()
    for path in (ROOT / "common").rglob("*"):
        if path.suffix in (".sh", ".py", ".cpp") and not path.name.startswith("test_m"):
            found |= set(re.findall(r"\b([A-Z_]+)=[^\n]{0,60}: it can be", path.read_text()))
    commands = (ROOT / "common/commands/options.sh").read_text()
    found |= set(re.search(r'^switches="(.*)"', commands, re.MULTILINE)[1].split())
    found |= set(re.findall(r'chosen\(\w+, [^\n]*"([A-Z]+)"\)', (ROOT / "common/peers/shapes.py").read_text()))
    return found - {"LADDER_TESTS", "LADDER_TURN"}  # of the course's own tests


def sentences(strings) -> set[str]:
    """Those of which sentences are put together."""
    return {string.removesuffix("\\n").strip(" :;,") for string in strings if " " in string.strip()}


def parts(code: str, begin: str) -> set[str]:
    """Of the messages that are put together between each `begin` and the bracket that ends it."""
    found = set()
    code = re.sub(r'"\s*\n\s*"', "", code)
    for match in re.finditer(re.escape(begin), code):
        rest = code[match.end():]
        blank = STRING.sub(lambda string: "_" * len(string[0]), rest)
        depth, end = 1, 0
        while depth:
            depth += (blank[end] in "({") - (blank[end] in ")}")
            end += 1
        found |= sentences(STRING.findall(rest[:end]))
    return found


def missing(texts, page: str) -> list[str]:
    plain = " ".join(page.lower().replace("`", "").split())
    return sorted(text for text in texts if text.strip().lower() not in plain)


def agrees(message: str, verdict) -> bool:
    """Whether a wrong kernel's verdict is this message, or a part of it."""
    begin = message.split(" ...")[0]
    return any(begin in each or each in message for each in ([verdict] if isinstance(verdict, str) else verdict))


class Messages(unittest.TestCase):
    def setUp(self):
        self.page = messages.PAGE.read_text()

    @unittest.skipUnless(platform.machine() == "x86_64", "elsewhere an integer division by zero, say, goes on")
    def test_the_examples_say_what_the_page_shows(self):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            status = messages.main([])
        self.assertEqual(status, 0, f"theory/messages.py --write\n{said.getvalue()}")

    def test_a_difference_is_seen(self):
        said = io.StringIO()
        with mock.patch.object(messages, "build"), mock.patch.object(messages, "said", return_value="something else"), \
                contextlib.redirect_stdout(said):
            self.assertEqual(messages.main([]), 1)
        self.assertIn("+something else", said.getvalue())

    def test_every_example_is_shown(self):
        shown = [match["name"] for match in messages.BLOCK.finditer(self.page)]
        self.assertFalse("```text\n\n```" in self.page, "an example says nothing")
        self.assertEqual(sorted(shown), sorted(messages.codes(messages.PROGRAM.read_text())))

    def test_every_title_of_the_executor_is_there(self):
        self.assertGreater(len(titles()), 30)
        self.assertEqual(missing(titles(), self.page), [])

    def test_every_limit_of_a_launch_is_there(self):
        limits = {text for name in ("launch_limits.cpp", "cluster.cpp") for text in LIMITS.findall((ROOT / "common/simt" / name).read_text())}
        self.assertGreater(len(limits), 10)
        self.assertEqual(missing(limits, self.page), [])

    def test_every_kind_of_wrong_element_is_there(self):
        kinds = WORDS.findall((ROOT / "common/testing/compare.cpp").read_text())
        self.assertGreater(len(kinds), 8)
        self.assertEqual(missing((kind.split(" (")[0] for kind in kinds), self.page), [])

    def test_every_demand_of_a_lab_is_there(self):
        files = [*(ROOT / "labs").glob("*/test.cpp"), *(ROOT / "common/ops").glob("*/demands.cpp"), *(ROOT / "common/testing").glob("*.cpp")]
        demands = {part for file in files for part in parts(file.read_text(), "unmet(")}
        demands |= {part for file in files if file.name == "test.cpp" for part in parts(file.read_text(), "return {false,")}
        self.assertGreater(len(demands), 40)
        self.assertEqual(missing(demands, self.page), [])

    def test_every_word_on_a_prediction_is_there(self):
        code = (ROOT / "common/testing/predictions.cpp").read_text().split("std::string comparison(")[1]
        said = sentences(STRING.findall(re.sub(r"//.*", "", code)))
        self.assertGreater(len(said), 20)
        self.assertEqual(missing(said, self.page), [])

    def test_every_line_at_the_end_of_a_report_is_there(self):
        code = "".join((ROOT / "common/testing" / name).read_text() for name in ("reporter.cpp", "next_step.cpp"))
        lines = re.findall(r'(?:printf|print)\("(?:  )?([A-Z][^"%]*?:)[ "]', code)
        self.assertGreater(len(lines), 4)
        self.assertEqual(missing(lines, self.page), [])

    def test_every_option_that_can_be_wrong_is_there(self):
        listed = set(re.findall(r"`([A-Z_]+)=`", self.page.split("## A command that is refused")[1]))
        self.assertGreater(len(options_refused()), 25)
        self.assertEqual(sorted(options_refused() - listed), [])

    def test_the_wrong_kernels_get_what_the_page_says(self):
        rows = list(ROW.finditer(self.page))
        self.assertGreater(len(rows), 15)
        for row in rows:
            with self.subTest(row["broken"]):
                folder = next((ROOT / "solutions").glob(f"{row['lab']}_*"))
                entry = tomllib.loads((folder / "broken.toml").read_text())[row["broken"]]
                self.assertTrue(agrees(row["message"], entry.get("verdict", [])), (row["message"], entry.get("verdict")))


if __name__ == "__main__":
    unittest.main()
