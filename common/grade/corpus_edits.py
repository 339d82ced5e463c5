"""The submissions of the corpus that are the course's solution with a few lines changed: corpus/edits.toml. What is made of the solution
as it is today cannot fall behind it; an edit that no longer applies is an error of the whole corpus."""

from __future__ import annotations

import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

COURSE = Path(__file__).resolve().parents[2]
LIST = Path("common/grade/corpus/edits.toml")
sys.path[:0] = [str(COURSE / "common/testing"), str(COURSE / "common")]
import broken  # noqa: E402
from course import labs  # noqa: E402

MAKING = {"lab": str, "why": str, "line_ends": str, "mark": bool, "edit": list}
DECLARED = {"entry": int, "expect": str, "reason": str, "most": (int, float), "least": (int, float), "never": list, "gpu": str, "speed": str}


@dataclass
class Made:
    """A submission: one kernel."""

    lab: labs.Lab
    source: bytes
    declared: dict  # what it must get, by the names of corpus_entries.py

    def write(self, folder: Path) -> None:
        """Into the submission's folder, as it would be handed in."""
        place = folder / self.lab.starter
        place.parent.mkdir(parents=True)
        place.write_bytes(self.source)


def made(name: str, fields: dict, root: Path) -> Made:
    kinds = MAKING | DECLARED
    wrong = [field for field, value in fields.items() if field not in kinds or not isinstance(value, kinds[field])]
    if wrong or not {"lab", "why", "expect"} <= set(fields):
        raise broken.Malformed(f"{LIST}, [{name}]: it needs lab, why and expect; not understood: {', '.join(wrong) or 'nothing'}")
    if not {"line_ends", "mark", "edit"} & set(fields) or fields.get("line_ends", "CRLF") != "CRLF":
        raise broken.Malformed(f"{LIST}, [{name}]: it needs an edit, a mark, or line_ends, which are CRLF")
    try:
        text = (root / labs.lab(fields["lab"], root).solution).read_text(encoding="utf-8")
        text = broken.edited(text, fields["edit"]) if "edit" in fields else text
    except (OSError, labs.Malformed, broken.Malformed) as error:
        raise broken.Malformed(f"{LIST}, [{name}]: {error}") from None
    text = ("\ufeff" if fields.get("mark") else "") + (text.replace("\n", "\r\n") if "line_ends" in fields else text)
    return Made(labs.lab(fields["lab"], root), text.encode(), {field: fields[field] for field in DECLARED if field in fields})


def load(root: Path = COURSE) -> dict[str, Made]:
    """Name -> submission. Raises broken.Malformed."""
    try:
        entries = tomllib.loads((root / LIST).read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise broken.Malformed(f"{LIST}: {error}") from None
    return {name: made(name, fields, root) for name, fields in entries.items()}
