#!/usr/bin/env python3
"""Wrong programs of a lab that is part of a program (lab 09). common/bench/sharded/broken.toml has edits of the lab's solution or of what
is given: each entry makes one mistake.

    [no_offset]
    why = "The columns are those of the shard, not of the row."
    variant = "packed"                  which is run
    verdict = "FAIL packed"             text that must be said of it, under the checks
    devices = 1                         with so many devices; 3 without it
    [[no_offset.edit]]
    replace = "..."                     stands exactly once in all of these files
    by = "..."

    broken_program.py NAME     makes build/broken/lab09_sharded/NAME/, all files of the program with the mistake, and prints what a command
                               needs of it, a line each: variant, number of devices, whether what is given is changed, too (1 or 0), why
"""

from __future__ import annotations

import difflib
import os
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LAB = Path("solutions/lab09_sharded/sharded_topk.cu")
GIVEN = Path("common/bench/sharded")
LIST = GIVEN / "broken.toml"
DEVICES = 3


class Malformed(Exception):
    """An entry cannot be made; the text names it and says why."""


@dataclass
class Program:
    name: str
    entry: dict
    files: dict[str, str]  # name -> text
    changed: set[str]

    @property
    def given_changed(self) -> bool:
        """Else the mistake is in the lab's file alone, and the given parts need not be compiled again."""
        return self.changed != {LAB.name}

    @property
    def devices(self) -> int:
        return self.entry.get("devices", DEVICES)

    def write(self, folder: Path) -> Path:
        """The lab's file, with all others beside it. A file that is there already stays as it is."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in self.files.items():
            file = folder / name
            if not file.is_file() or file.read_text(encoding="utf-8") != text:
                new = folder / f"{name}.{os.getpid()}"
                new.write_text(text, encoding="utf-8")
                new.replace(file)
        return folder / LAB.name


def load(root: Path = ROOT) -> dict[str, dict]:
    try:
        return tomllib.loads((root / LIST).read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise Malformed(f"{LIST}: {error}") from None


def program(name: str, root: Path = ROOT) -> Program:
    entries = load(root)
    if name not in entries:
        near = difflib.get_close_matches(name, entries, 1)
        raise Malformed(f"{LIST} has no entry {name}.{f' Do you mean {near[0]}?' if near else ''} It has: {', '.join(entries)}")
    try:
        given = [path for path in sorted((root / GIVEN).iterdir()) if path.suffix in (".cu", ".cuh", ".h")]
        files = {path.name: path.read_text(encoding="utf-8") for path in (*given, root / LAB)}
    except OSError as error:
        raise Malformed(f"{LIST}: there is no program to edit: {error}") from None
    changed = set()
    for edit in entries[name]["edit"]:
        places = [file for file, text in files.items() for _ in range(text.count(edit["replace"]))]
        if len(places) != 1:
            raise Malformed(f"{LIST}, [{name}]: the text to replace stands {len(places)} times in the program, not once:\n{edit['replace']}")
        files[places[0]] = files[places[0]].replace(edit["replace"], edit["by"])
        changed.add(places[0])
    return Program(name, entries[name], files, changed)


def path(name: str) -> Path:
    """The lab's file of a wrong program, from the root."""
    return Path("build/broken") / LAB.parent.name / name / LAB.name


def write(name: str, root: Path = ROOT) -> Path:
    program(name, root).write((root / path(name)).parent)
    return path(name)


def main(argv: list[str]) -> int:
    if len(argv) != 1 or argv[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        made = program(argv[0])
        made.write((ROOT / path(argv[0])).parent)
    except Malformed as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(made.entry["variant"], made.devices, int(made.given_changed), made.entry["why"], sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
