"""Every term of the glossary stands in the chapter that it names."""

from __future__ import annotations

import re
import unittest
from pathlib import Path

HERE = Path(__file__).parent
ROW = re.compile(r"^\| (?P<term>[^|]+?) \| (?P<meaning>[^|]+?) \| \[(?P<number>\d+)\]\((?P<chapter>[\w.]+)\) \|$", re.MULTILINE)


def terms(text: str) -> list[tuple[str, int, str]]:
    """(term, number of the chapter, its file)."""
    return [(row["term"], int(row["number"]), row["chapter"]) for row in ROW.finditer(text)]


def occurs(term: str, text: str) -> bool:
    """As words of the prose, in any case, also in the plural and over a line's end."""
    prose = re.sub(r"<!--.*?-->|[*`]", "", text, flags=re.DOTALL)
    words = r"[\s-]+".join(re.escape(word) for word in re.split(r"[\s-]+", term))
    return re.search(rf"(?<!\w){words}(?:s|es)?(?!\w)", prose, re.IGNORECASE) is not None


def problems(glossary: str, chapter_text) -> list[str]:
    found = []
    for term, number, name in terms(glossary):
        if not name.startswith(f"{number:02}_"):
            found.append(f"{term}: [{number}] links to {name}")
        elif not occurs(term, chapter_text(name)):
            found.append(f"{term} does not occur in {name}")
    return found


class Glossary(unittest.TestCase):
    def setUp(self):
        self.text = (HERE / "glossary.md").read_text(encoding="utf-8")

    def test_each_term_occurs_in_its_chapter(self):
        self.assertGreater(len(terms(self.text)), 40)
        self.assertEqual(problems(self.text, lambda name: (HERE / name).read_text(encoding="utf-8")), [])

    def test_every_row_is_read_and_terms_are_sorted(self):
        names = [term for term, _, _ in terms(self.text)]
        rows = [line for line in self.text.splitlines() if line.startswith("| ")][1:]
        self.assertEqual(len(rows), len(names))
        self.assertEqual(len(set(names)), len(names))
        self.assertEqual(names, sorted(names, key=lambda name: name.lower().replace("-", " ")))

    def test_a_wrong_chapter_is_seen(self):
        wrong = "| warp | w | [2](02_softmax.md) |\n| lane | l | [4](03_the_machine.md) |\n"
        self.assertEqual(problems(wrong, lambda name: "a wart, warped"),
                         ["warp does not occur in 02_softmax.md", "lane: [4] links to 03_the_machine.md"])


if __name__ == "__main__":
    unittest.main()
