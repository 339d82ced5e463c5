"""The glossary on the site: an anchor per term, and the terms in the search box, which Doxygen fills with pages and code alone."""

from __future__ import annotations

import re
from pathlib import Path

SOURCE, PAGE = "theory/glossary.md", "chapter_glossary.html"
ROW = re.compile(r"^\| (?!term \|)([^|]+?) \|(?= [^|]+ \| \[)", re.MULTILINE)


def terms(text: str) -> list[str]:
    return ROW.findall(text)


def anchor(term: str) -> str:
    return "term_" + re.sub(r"\W+", "_", term.lower())


def with_anchors(text: str) -> str:
    """The page's Markdown, each term with an anchor that a link can lead to."""
    return ROW.sub(lambda m: f"| \\anchor {anchor(m[1])} {m[1]} |", text)


def entry(term: str, number: int) -> str:
    """A line of Doxygen's search data: its key is the term in lower case, with other characters as their code, and a number."""
    key = "".join(c if c.isalnum() else f"_{ord(c):02x}" for c in term.lower())
    shown = term.replace("'", "&#39;")
    return f"  ['{key}_{number}',['{shown}',['../{PAGE}#{anchor(term)}',1,'glossary']]]"


def add_to_search(folder: Path, text: str) -> None:
    """Puts the terms into the search data of "all". Errors: ValueError if Doxygen's files are not as they are known."""
    index = re.search(r'0: "([^"]*)"', (folder / "searchdata.js").read_text(encoding="utf-8"))
    if not index:
        raise ValueError(f"{folder}/searchdata.js has no list of first characters")
    for term in terms(text):
        place = index[1].find(term[0].lower())
        path = folder / f"all_{place:x}.js"
        data = path.read_text(encoding="utf-8") if place >= 0 and path.exists() else ""
        if not data.rstrip().endswith("\n];"):
            raise ValueError(f"{path}: no search data for {term}")
        number = data.count("\n  [")
        path.write_text(f"{data.rstrip()[:-len(chr(10) + '];')]},\n{entry(term, number)}\n];\n", encoding="utf-8")
