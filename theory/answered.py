"""Finds chapters that answer a lab's prediction of time before they tell the reader to make it.

A chapter that is read before a lab, by the syllabus, and prints a time that one of the lab's predictions asks for, must have
told the reader before that place to predict first, by the command that checks it:

    make lab06 CASE='predict-*'

The times are those that test.cpp names and plots/results/nvidia-h200.json has. A paragraph prints one if the variant's name
stands in it with a number of us or ms within NEAR of the measurement. So does a row of a table of us with such a number, if it
begins with the variant, or with the shape where a comment (check_book.py) says that the table is of the lab's operator. Counts,
such as sectors, are not looked for: any number may be one.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from measured import ROOT, measured

sys.path.insert(0, str(ROOT / "common"))
from course import labs as manifest  # noqa: E402

NEAR = 0.03
TIMED = re.compile(r'\{"(lab\d\d[b-z]?_\w+)", "(\w+)", Dtype::(\w+), (\d+), (\d+)\}')


def last_chapters(syllabus: str) -> dict[str, int]:
    """Lab -> the number of the last chapter that is read before it."""
    weeks = re.findall(r"^\| \d+ \| (.+?) \| (.+?) \|", syllabus, re.M)
    return {lab: max(map(int, re.findall(r"\((\d\d)_\w+\.md\)", chapters)), default=-1)
            for labs, chapters in weeks for lab in re.findall(r"\[(lab\d\d[b-z]?_\w+)\]", labs)}


def asked(asking: str, test: str) -> dict[tuple[str, str, str], float]:
    """(variant, shape, type) -> microseconds, of the times of its own kernels that a lab's predictions are about."""
    times = {}
    for lab, variant, dtype, rows, cols in TIMED.findall(test):
        if lab != asking:
            continue  # an order: how many times longer than a kernel of another lab
        k = "x50" if "topk" in lab else ""
        try:
            times[variant, f"{rows} x {cols}", dtype] = measured("nvidia-h200", f"{lab}.{variant}.{dtype}.{rows}x{cols}{k}", "us")
        except KeyError:
            pass  # not measured: there is nothing to print
    return times


def numbers(text: str, unit: str) -> list[float]:
    return [float(number.replace(",", "")) for number in re.findall(rf"(\d[\d,]*(?:\.\d+)?){unit}", text)]


def prints(block: str, operator: str, variant: str, shape: str, us: float) -> bool:
    plain = re.sub(r"<!--.*?-->", "", block, flags=re.S).lstrip()
    near = lambda found, wanted: any(abs(number - wanted) <= NEAR * wanted for number in found)
    if plain.startswith("|"):
        starts = [f"| `{variant}` |"] + ([f"| {shape} |"] if re.search(rf"<!-- columns: \S+ {operator} ", block) else [])
        rows = [row for row in plain.splitlines() if row.startswith(tuple(starts))]
        return "us" in plain.splitlines()[0] and any(near(numbers(row, ""), us) for row in rows)
    return f"`{variant}`" in plain and (near(numbers(plain, r"\s+us\b"), us) or near(numbers(plain, r"\s+ms\b"), us / 1e3))


def problems(root: Path) -> list[str]:
    found = []
    last = last_chapters((root / "theory/syllabus.md").read_text(encoding="utf-8"))
    for lab, operator in ((lab.name, lab.operator.removeprefix("softmax_")) for lab in manifest.load(root)):
        short = lab.partition("_")[0]
        times = asked(lab, (root / "labs" / lab / "test.cpp").read_text(encoding="utf-8"))
        for chapter in sorted(root.glob("theory/[0-9][0-9]_*.md")):
            if int(chapter.name[:2]) > last.get(lab, -1):
                continue
            text = chapter.read_text(encoding="utf-8")
            told = re.search(rf"make\s+{short}\s+CASE='predict-\*'", text)
            for block in re.finditer(r"(?:.+\n)+", text):
                if told and told.start() < block.start():
                    break
                found += [f"{chapter}: prints {us:.3g} us, which {lab} asks for ({variant}, {dtype}, {shape}), and has not said before: "
                          f"make {short} CASE='predict-*'"
                          for (variant, shape, dtype), us in times.items() if prints(block[0], operator, variant, shape, us)]
    return found
