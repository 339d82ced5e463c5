#!/usr/bin/env python3
"""Guards the course itself: every lab is complete, and no starter has drifted from its solution.

A starter differs from its solution only in numbered regions:

    starter                              solution
    // TODO 1: what to do                // STEP 1: what is done
    ...                                  ...
    // END 1                             // END 1

Everything outside the regions must be the same, line for line, and the numbers must be 1, 2, 3 ... in both. Region 0, near
the top, is for what is predicted before there is code:

    // TODO 0: ...                          // STEP 0: ...
    RUNG_PREDICT({"name", rung::unknown})   RUNG_PREDICT({"name", 4})
    // END 0                                // END 0

The names are the same in both, in test.cpp and in the handout. No page gives a region away (given_away.py).
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "testing"), str(HERE.parent), str(HERE.parent / "grade")]
import broken  # noqa: E402
import corpus_edits  # noqa: E402
import given_away  # noqa: E402
import todos  # noqa: E402
from course import labs as manifest  # noqa: E402

LAB_FILES = {"README.md", "hints.md", "test.cpp"}
PROGRAM_FILES = LAB_FILES - {"test.cpp"}
PROGRAM_TEST = Path("common/bench/sharded/sharded_test.cu")  # of a lab that is part of a program
LEAST_HINTS = 3
# What stands at the top: the course, and the files that a public repository has. Others begin with a dot or are ignored by git.
TOP = {"labs", "theory", "common", "solutions", "plots", "Makefile", "README.md", "LICENSE", "LICENSE-text", "CONTRIBUTING.md",
       "CITATION.cff", "CHANGELOG.md", "Dockerfile", "build", "compile_commands.json"}


def regions(path: Path, opening: str) -> tuple[list[str], list[int], list[str]]:
    """The lines outside the regions (a marker line in place of each), the regions' numbers, and what is malformed."""
    kept: list[str] = []
    numbers: list[int] = []
    problems: list[str] = []
    inside: int | None = None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        start = re.match(rf"\s*// {opening} (\d+):", line)
        end = re.match(r"\s*// END (\d+)$", line)
        if start and inside is not None:
            problems.append(f"{path}:{number}: region {start[1]} begins inside region {inside}")
        if start:
            inside = int(start[1])
            numbers.append(inside)
            kept.append(f"region {inside}")
        elif end:
            if int(end[1]) != inside:
                problems.append(f"{path}:{number}: END {end[1]} closes no region of this number")
            inside = None
        elif inside is None:
            kept.append(line)
    if inside is not None:
        problems.append(f"{path}: region {inside} is never closed")
    if numbers in ([], [0]):
        problems.append(f"{path}: has no // {opening} 1: ... // END 1 region")
    elif numbers[0] > 1 or numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        problems.append(f"{path}: regions are numbered {numbers}")
    return kept, numbers, problems


def compare(starter: Path, solution: Path) -> list[str]:
    starter_lines, starter_numbers, problems = regions(starter, "TODO")
    solution_lines, solution_numbers, more = regions(solution, "STEP")
    problems += more
    if starter_numbers != solution_numbers:
        problems.append(f"{starter} has regions {starter_numbers}, {solution} has {solution_numbers}")
    for ours, theirs in zip(starter_lines, solution_lines):
        if ours != theirs:
            problems.append(f"{starter} differs from {solution} outside the regions:\n    starter:  {ours}\n    solution: {theirs}")
            break
    else:
        if len(starter_lines) != len(solution_lines):
            problems.append(f"{starter} and {solution} have different numbers of lines outside the regions")
    return problems


def predictions(path: Path) -> dict[str, str]:
    """What a file predicts: name -> the number as it is written."""
    code = "\n".join(line for line in path.read_text().splitlines() if not line.lstrip().startswith("//"))
    table = re.search(r"^RUNG_PREDICT\((.*?)\}\)$", code, re.MULTILINE | re.DOTALL)
    return dict(re.findall(r'\{"(\w+)", ([^{}]+)', table[1])) if table else {}


def check_predictions(lab: Path, test: Path, starter: Path, solution: Path) -> list[str]:
    asked, answered = predictions(starter), predictions(solution)
    problems = []
    if list(asked) != list(answered):
        problems.append(f"{starter} predicts {list(asked)}, {solution} {list(answered)}")
    problems += [f"{starter}: {name} is filled in already" for name, value in asked.items() if value != "rung::unknown"]
    problems += [f"{solution}: {name} is not filled in" for name, value in answered.items() if "unknown" in value]
    for path, mention in ((test, '"{}"'), (lab / "README.md", "`{}`")):
        text = path.read_text() if path.is_file() else ""
        problems += [f"{path}: says nothing of the prediction {asked_for}" for asked_for in asked if mention.format(asked_for) not in text]
    return problems


def check_lab(root: Path, lab: Path, is_program: bool) -> list[str]:
    files = PROGRAM_FILES if is_program else LAB_FILES
    problems = [f"{lab}/{name} is missing" for name in sorted(files) if not (lab / name).is_file()]
    kernels = sorted(lab.glob("*.cu"))
    if len(kernels) != 1:
        return problems + [f"{lab} must hold exactly one .cu file, the starter; it has {len(kernels)}"]
    starter = kernels[0]
    solution = root / "solutions" / lab.name / starter.name
    allowed = files | {starter.name}
    problems += [f"{path}: does not belong in a lab" for path in sorted(lab.iterdir()) if path.name not in allowed]
    if not solution.is_file():
        return problems + [f"{solution} is missing: the solution mirrors the lab"]
    # Beside it: the wrong kernels, and the same move in Triton.
    allowed_beside = lambda path: path.name in ("broken.toml", "__pycache__") or path.name.endswith("_triton.py")
    problems += [f"{path}: does not belong beside a solution" for path in solution.parent.iterdir() if path != solution and not allowed_beside(path)]
    problems += [] if is_program else broken.problems(lab.name, root)
    problems += compare(starter, solution)
    problems += check_predictions(lab, root / PROGRAM_TEST if is_program else lab / "test.cpp", starter, solution)
    hints = (lab / "hints.md").read_text() if (lab / "hints.md").is_file() else ""
    numbers = [int(n) for n in re.findall(r"^## Hint (\d+) \(TODO \d+(?:, \d+)*\)$", hints, re.MULTILINE)]
    hinted = {int(n) for line in re.findall(r"^## Hint \d+ \(TODO (.*)\)$", hints, re.MULTILINE) for n in re.findall(r"\d+", line)}
    there = set(map(int, todos.fingerprints(starter.read_text(encoding="utf-8"))))
    if hinted != there:
        problems.append(f"{lab}/hints.md: has hints for TODO {sorted(hinted)}; the starter has {sorted(there)}")
    if numbers != list(range(1, len(numbers) + 1)) or len(numbers) < LEAST_HINTS:
        problems.append(f"{lab}/hints.md: needs sections '## Hint 1 (TODO 1)' to at least '## Hint {LEAST_HINTS} (TODO ...)'; has {numbers}")
    return problems


def check_top(root: Path) -> list[str]:
    """What is missing at the top of the repository, and what does not belong there."""
    made = {"build", "compile_commands.json"}
    problems = [f"{root / name} is missing" for name in sorted(TOP - made) if not (root / name).exists()]
    return problems + [f"{path}: does not belong at the top; the course is {', '.join(sorted(TOP - made))}"
                       for path in sorted(root.iterdir()) if path.name not in TOP and not path.name.startswith(".")]


def check(root: Path) -> list[str]:
    labs = sorted(path for path in (root / "labs").iterdir() if path.is_dir())
    problems = [f"{path}: not a lab" for path in sorted((root / "labs").iterdir())
                if not re.match(r"lab\d\d[b-z]?_\w+$|handed_out\.json$|labs\.toml$", path.name)]
    problems += manifest.problems(root)
    try:
        programs = {each.name for each in manifest.programs(root)}
    except manifest.Malformed:
        programs = set()  # which is said already
    for lab in labs:
        problems += check_lab(root, lab, lab.name in programs)
    problems += given_away.problems(root)
    if (root / corpus_edits.LIST).is_file():
        try:
            corpus_edits.load(root)
        except broken.Malformed as problem:
            problems.append(str(problem))
    if todos.handed_out(root) != todos.of_starters(root):
        problems.append(f"{root / todos.HANDED_OUT}: is not of these starters; python3 common/commands/todos.py note writes it anew")
    names = {lab.name for lab in labs}
    problems += [f"{path}: there is no such lab" for path in sorted((root / "solutions").iterdir()) if path.name not in names]
    return problems


def main(argv: list[str]) -> int:
    root = Path(argv[0]) if argv else Path(".")
    problems = check(root) + check_top(root)
    for problem in problems:
        print(problem)
    if not problems:
        print("every lab is complete, and no starter has drifted from its solution")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
