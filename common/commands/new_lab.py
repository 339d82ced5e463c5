#!/usr/bin/env python3
"""Creates a lab that is complete and passes the course's own checks, for its author to fill with a move of its own.

    new_lab.py lab10_thing [ROOT]

The texts are in new_lab/*.in. kernel.cu.in becomes the starter and the solution (its parts behind @starter and @solution).
Nothing that exists is overwritten; if anything goes wrong, nothing is left behind.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import screen  # noqa: E402  (beside this file)
import todos  # noqa: E402
from course.labs import MANIFEST  # noqa: E402


class Refused(Exception):
    """The lab cannot be created; the text says why and what to do."""


def check_name(name: str, root: Path) -> None:
    if not re.fullmatch(r"lab\d\d_[a-z][a-z0-9_]{0,30}", name, re.ASCII):
        given = f"NAME={name}" if name else "no NAME was given"
        raise Refused(f"{given}: a lab is called labNN_word, with two digits and then lower-case letters, digits and "
                      "underscores. For example: make new-lab NAME=lab10_thing")
    for folder in ("labs", "solutions"):
        for path in sorted((root / folder).glob(f"{name[:5]}_*")):
            raise Refused(f"{folder}/{path.name} is there already; nothing was changed. "
                          f"The next free number is {next_free(root):02d}")


def next_free(root: Path) -> int:
    taken = {path.name[3:5] for folder in ("labs", "solutions") for path in (root / folder).glob("lab[0-9][0-9]_*")}
    return next(number for number in range(1, 100) if f"{number:02d}" not in taken)


def part(template: str, wanted: str) -> str:
    """The lines for everybody and those behind @wanted."""
    lines, inside = [], "both"
    for line in template.splitlines(keepends=True):
        marker = re.fullmatch(r"@(starter|solution|both)\n", line)
        if marker:
            inside = marker[1]
        elif inside in ("both", wanted):
            lines.append(line)
    return "".join(lines)


def added(manifest: str, entry: str, name: str) -> str:
    """The manifest with the lab's entry in its place: labs are in ascending order."""
    later = [match for match in re.finditer(r'^\[\[lab\]\]\nname = "(lab\d\d)', manifest, re.MULTILINE) if match[1] > name[:5]]
    if not later:
        return manifest + ("\n" if manifest else "") + entry
    return f"{manifest[:later[0].start()]}{entry}\n{manifest[later[0].start():]}"


def files_of(name: str) -> dict[str, str]:
    """Path -> text of everything that makes up the lab; of the manifest its entry."""
    word = name[6:]
    kernel = f"softmax_{word}.cu"
    fill = {"@LAB@": name, "@NUMBER@": name[3:5], "@WORD@": word.replace("_", " "), "@KERNEL@": kernel}

    def template(file: str) -> str:
        text = (HERE / "new_lab" / f"{file}.in").read_text(encoding="utf-8")
        for placeholder, value in fill.items():
            text = text.replace(placeholder, value)
        return text

    files = {f"solutions/{name}/{kernel}": part(template("kernel.cu"), "solution"),
             f"solutions/{name}/broken.toml": template("broken.toml"),
             str(MANIFEST): template("labs.toml"),
             f"labs/{name}/{kernel}": part(template("kernel.cu"), "starter")}
    files |= {f"labs/{name}/{file}": template(file) for file in ("README.md", "hints.md", "test.cpp")}
    return files


def create(name: str, root: Path) -> list[str]:
    """The files that were written. Raises Refused."""
    check_name(name, root)
    files = files_of(name)
    folders = [root / "labs" / name, root / "solutions" / name]
    made = []
    manifest = root / MANIFEST
    before = manifest.read_text(encoding="utf-8") if manifest.is_file() else ""
    files[str(MANIFEST)] = added(before, files[str(MANIFEST)], name)
    try:
        for folder in folders:
            folder.mkdir()
            made.append(folder)
        for path, text in files.items():
            (root / path).parent.mkdir(exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        todos.note(root, name)
    except OSError as error:
        for folder in made:
            shutil.rmtree(folder, ignore_errors=True)
        if before and manifest.read_text(encoding="utf-8") != before:
            manifest.write_text(before, encoding="utf-8")
        raise Refused(f"{error.filename}: {error.strerror}; nothing was created") from None
    return sorted(files)


def main(argv: list[str]) -> int:
    if len(argv) not in (1, 2):
        print(__doc__, file=sys.stderr)
        return 2
    name, root = argv[0], Path(argv[1]) if len(argv) == 2 else HERE.parents[1]
    try:
        files = create(name, root)
    except Refused as reason:
        screen.say(f"error: {reason}", sys.stderr)
        return 2
    print("\n".join(f"  {path}" for path in files))
    number = name[3:5]
    print(f"""
{name} is there and works: a softmax with one variant, two TODOs, two predictions, two moves, six wrong kernels.
Now make it yours: theory/syllabus.md, "Adding a lab". While you do, these say whether it still holds together:
  make lab{number} SOLUTION=1                          the solution passes
  make lab{number}                                     the starter fails, and says what to do
  python3 common/commands/check_course.py         nothing is missing, the starter mirrors the solution
  python3 common/testing/shelf.py --only {name}
                                                  every wrong kernel gets its verdict""")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
