#!/usr/bin/env python3
"""Wrong kernels. solutions/labNN_name/broken.toml has edits of that lab's solution: each entry makes one mistake.

    [tree_without_barrier]
    why = "The tree folds without a barrier between its rounds."
    variant = "tree"                              which is rejected; "online f16": of one dtype. The others are left out
    verdict = "racecheck: race in shared memory"  text of the first failure; a list: all of them
    move = "no serial section"                    right, but against this move of the lab (test.cpp); a verdict beside it: of what was counted
    line = "scratch[t] = op("                     text of the line that the failure must name; a list: all of them
    case = "normal-7x33"                          only these cases are run; without it, all
    cases = "huge"                                as make labNN CASES=huge
    backend = "cuda"                              the mistake cannot show on a CPU; runs with BACKEND=cuda only
    [[tree_without_barrier.edit]]
    replace = "..."                               stands in the solution exactly once, or in the headers that it is given (limit/*.h)
    by = "..."

    broken.py LAB [NAME ...]     makes build/broken/LAB/NAME.cu and prints its path; make labNN BROKEN=NAME tests it
"""

from __future__ import annotations

import difflib
import os
import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from course import labs  # noqa: E402

FIELDS = {"why", "variant", "verdict", "move", "line", "case", "cases", "backend", "edit"}
LISTS = {"verdict", "line"}
GIVEN = (Path("common/rung/limit"), Path("common/rung/fusion"))
DTYPES = {"float": "f32", "__half": "f16", "__nv_bfloat16": "bf16", "bf16": "bf16"}


class Malformed(Exception):
    """An entry cannot be made; the text names it and says why."""


@dataclass
class Kernel:
    lab: str
    name: str
    fields: dict
    text: str
    folder: str = "build/broken"

    @property
    def path(self) -> Path:
        return Path(self.folder) / self.lab / f"{self.name}.cu"

    @property
    def lines(self) -> list[int]:
        """The numbers of the lines that the failure must name."""
        return sorted(number for number, line in enumerate(self.text.splitlines(), 1)
                      if any(wanted in line for wanted in self.all("line")))

    def all(self, field: str) -> list[str]:
        value = self.fields.get(field, [])
        return [value] if isinstance(value, str) else value

    def one(self, field: str) -> str:
        return self.fields.get(field, "")

    def write(self, root: Path = Path(".")) -> Path:
        """Its path from the root. A file that is there already stays as it is, so that nothing is built again."""
        file = root / self.path
        if not file.is_file() or file.read_text(encoding="utf-8") != self.text:
            file.parent.mkdir(parents=True, exist_ok=True)
            new = file.with_name(f"{file.name}.{os.getpid()}")
            new.write_text(self.text, encoding="utf-8")
            new.replace(file)
        return self.path


def list_of(lab: str) -> Path:
    return Path("solutions") / lab / "broken.toml"


def solution_of(lab: str, root: Path) -> str:
    """Its text."""
    try:
        return (root / labs.lab(lab, root).solution).read_text(encoding="utf-8")
    except (OSError, labs.Malformed) as error:
        raise Malformed(f"{list_of(lab)}: there is no solution to edit: {error}") from None


def load(lab: str, root: Path = Path(".")) -> dict[str, dict]:
    """Name -> fields, as the file has them."""
    try:
        return tomllib.loads((root / list_of(lab)).read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise Malformed(f"{list_of(lab)}: {error}") from None


def without_predictions(text: str) -> str:
    """The kernel is judged alone: its file makes no predictions."""
    return re.sub(r"^// STEP 0:.*?^// END 0\n\n?", "", text, flags=re.DOTALL | re.MULTILINE)


def exporting(text: str, variant: str) -> str:
    """The table of variants reduced to this one. The others are right, and would take longer to compile and to test."""
    name, _, dtype = variant.partition(" ")
    begin = text.rindex("RUNG_EXPORT(")
    entries = re.findall(r'(rung::\w+\("(\w+)", \w+(?:<(\w+)>)?\))', text[begin:])
    kept = [entry for entry, of, element in entries if of == name and dtype in ("", DTYPES.get(element, dtype))]
    if not kept or dtype not in ("", *DTYPES.values()):
        raise Malformed(f'the solution exports no variant "{variant}"')
    return f"{text[:begin]}RUNG_EXPORT({', '.join(kept)})\n"


def with_given(text: str, folder: Path, seen: set[str] | None = None) -> str:
    """With the headers of `folder`, parts of the kernel that nobody writes, pasted where they are included first."""
    seen = set() if seen is None else seen

    def paste(match: re.Match) -> str:
        if match[1] in seen:
            return ""
        seen.add(match[1])
        return with_given((folder / match[1]).read_text(encoding="utf-8").replace("#pragma once\n", ""), folder, seen)

    return re.sub(rf'^#include "(?:{folder.name}/)?(\w+\.h)"\n', lambda match: paste(match) if (folder / match[1]).is_file() else match[0], text, flags=re.MULTILINE)


def edited(text: str, edits: list[dict]) -> str:
    if not edits:
        raise Malformed("it has no edit: it would be the solution")
    for number, edit in enumerate(edits, 1):
        if set(edit) != {"replace", "by"} or edit["replace"] == edit["by"]:
            raise Malformed(f"edit {number} needs `replace` and `by`, and they must differ")
        times = text.count(edit["replace"])
        if times != 1:
            raise Malformed(f"edit {number} does not apply: the text to replace stands {times} times in the solution, not once:\n"
                            f"{edit['replace']}")
        text = text.replace(edit["replace"], edit["by"])
    return text


def made(lab: str, name: str, fields: dict, solution: str, root: Path = Path(".")) -> Kernel:
    try:
        if not isinstance(fields, dict) or not re.fullmatch(r"[a-z][a-z0-9_]*", name):
            raise Malformed("an entry is a table with a name of lower-case letters, digits and underscores")
        if unknown := set(fields) - FIELDS:
            raise Malformed(f"there is no field {', '.join(sorted(unknown))}")
        if missing := {"why", "variant"} - set(fields):
            raise Malformed(f"it needs {' and '.join(sorted(missing))}")
        if not {"verdict", "move"} & set(fields):
            raise Malformed("it needs a verdict or a move")
        for field in FIELDS - {"edit"} & set(fields):
            values = fields[field] if field in LISTS and isinstance(fields[field], list) else [fields[field]]
            if not values or not all(isinstance(value, str) and value for value in values):
                raise Malformed(f"{field} must be a text{' or a list of texts' if field in LISTS else ''}")
        text, edits = without_predictions(solution), fields.get("edit", [])
        lines = fields.get("line", [])
        if any(part not in text for part in [*(edit.get("replace", "") for edit in edits), *([lines] if isinstance(lines, str) else lines)]):
            for folder in GIVEN:
                text = with_given(text, root / folder)
        code = exporting(edited(text, edits), fields["variant"])
        kernel = Kernel(lab, name, fields, f"// Broken: {fields['why']}\n// Made from {list_of(lab)}.\n//\n{code}")
        for wanted in kernel.all("line"):
            times = sum(wanted in line for line in kernel.text.splitlines())
            if times != 1:
                raise Malformed(f"line: {times} lines hold this, not one: {wanted}")
        return kernel
    except Malformed as error:
        raise Malformed(f"{list_of(lab)}, [{name}]: {error}") from None


def kernel(lab: str, name: str, root: Path = Path(".")) -> Kernel:
    entries = load(lab, root)
    if name not in entries:
        near = difflib.get_close_matches(name, entries, 1)
        raise Malformed(f"{list_of(lab)} has no entry {name}.{f' Do you mean {near[0]}?' if near else ''} It has: {', '.join(entries)}")
    return made(lab, name, entries[name], solution_of(lab, root), root)


def write(lab: str, name: str, root: Path = Path(".")) -> Path:
    return kernel(lab, name, root).write(root)


def problems(lab: str, root: Path) -> list[str]:
    """What is wrong with the lab's entries, for the course's own check: all that can be seen without a compiler."""
    found = []
    try:
        entries, solution = load(lab, root), solution_of(lab, root)
        for name, fields in entries.items():
            try:
                made(lab, name, fields, solution, root)
            except Malformed as error:
                found.append(str(error))
    except Malformed as error:
        found.append(str(error))
    return found


def main(argv: list[str]) -> int:
    if not argv or argv[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    os.chdir(Path(__file__).resolve().parents[2])
    try:
        for name in argv[1:] or load(argv[0]):
            print(write(argv[0], name))
    except Malformed as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
