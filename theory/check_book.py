#!/usr/bin/env python3
"""Holds the book to its own arithmetic and to what was measured.

    theory/check_book.py [CHAPTER.md ...]       all chapters and handouts without arguments

1. Equations. A line that is indented by four spaces and holds a "=" is an equation, and both sides must agree:

       128 warps x 2 x 4096 requests x 32 bytes / 4096 elements = 8192 bytes,   5 / 8192 = 0.00061 FLOP per byte

   Words are units and are skipped. "x" multiplies, "^" is a power; log2, exp, sqrt, ceil, floor, min, max are functions.
   Equations on one line are divided by a comma and two spaces or more; a = b = c is two equations. The right side has
   to be the left side, rounded to the digits that it shows. A chain whose sides hold no numbers, and a line of code in
   a fenced block, is not looked at.

2. Measured figures. A comment behind a number says where it was measured:

       takes 35.4 us<!-- nvidia-h200 lab02_smem.tree.f32.4096x4096 us -->
       copies at 4232 GB/s<!-- nvidia-h200 roofs copy_gbs -->
       warm 3.02 us<!-- experiments-nvidia-h200 cache warm_us -->
       1.01 times a copy<!-- peers-nvidia-h200 softmax.f32.4096x4096 over_floor -->

   A comment before a table says it for the columns after the first, which has the shape; "-" is a column of something else, and
   in a row what was not measured:

       <!-- columns: peers-nvidia-h200 softmax f32.us f32.over_floor - -->

   The number must be that of plots/results/<machine>.json within 6 %, the noise between two runs. So for the handouts.

3. Excerpts. A block of code behind a comment that names a file stands in that file, line for line, indented as it may be:

       <!-- from solutions/lab02_smem/softmax_smem.cu -->

4. Form. Five drills or more, each with its answer folded; local links lead somewhere.

5. Predictions. No chapter prints a time that a lab asks for before it has told the reader to predict it (answered.py).
"""

from __future__ import annotations

import math
import re
import sys
import warnings
from pathlib import Path

import answered
from measured import ROOT, measured

NOISE = 0.06
LEAST_DRILLS = 5
FUNCTIONS = {"log2": math.log2, "exp": math.exp, "sqrt": math.sqrt, "ceil": math.ceil, "floor": math.floor,
             "min": min, "max": max}
NUMBER = r"\d[\d,]*\d(?:\.\d+)?|\d+(?:\.\d+)?"
TOKEN = re.compile(rf"(?P<number>(?:{NUMBER})(?:e[+-]?\d+)?)(?P<glued>[A-Za-z%_]\w*)?"
                   r"|(?P<word>[A-Za-z_]\w*(?:/[A-Za-z]\w*)*)|(?P<op>[-+*/^(),])|\s+|(?P<other>.)")


def value(text: str) -> float | None:
    """What an expression comes to; None if it holds no number or is no expression. Units are skipped."""
    out: list[str] = []
    for token in TOKEN.finditer(text):
        if token["number"]:
            out.append(token["number"].replace(",", ""))
        elif token["word"] == "x":
            out.append("*")
        elif token["word"] in FUNCTIONS:
            out.append(token["word"])
        elif token["op"]:
            out.append("**" if token["op"] == "^" else token["op"])
        elif token["other"]:
            return None
    expression = " ".join(out).rstrip(" ,")
    if not re.search(r"\d", expression):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "12 (3)" is a SyntaxWarning before it is an error
            return float(eval(expression, {"__builtins__": {}}, FUNCTIONS))  # numbers, operators and FUNCTIONS alone
    except (SyntaxError, TypeError, ZeroDivisionError):
        return None


def allowed_error(shown: str) -> float:
    """Half a unit of the last digit that a result shows: 0.61 -> 0.005; a round 3100 may be rounded to its zeros."""
    number = re.search(NUMBER + r"(?:e[+-]?\d+)?", shown)
    if number is None:
        return 0.0
    digits, _, exponent = number[0].replace(",", "").partition("e")
    scale = 10.0 ** int(exponent or 0)
    if "." in digits:
        return 0.5001 * scale * 10.0 ** -len(digits.partition(".")[2])
    zeros = len(digits) - len(digits.rstrip("0"))
    return 0.5001 * scale * 10.0 ** min(zeros, max(0, len(digits) - 2))


def equations(line: str) -> list[tuple[str, str]]:
    pairs = []
    for part in re.split(r",\s{2,}|;\s{2,}", line.strip()):
        sides = part.split(" = ")
        pairs += list(zip(sides, sides[1:]))
    return pairs


def check_equation(left: str, right: str) -> str:
    """"" if both sides agree, or if the line claims nothing about numbers; else what is wrong."""
    wanted, shown = value(left), value(right)
    if wanted is None or shown is None:
        return ""
    is_plain = sum(token["number"] is not None for token in TOKEN.finditer(right)) == 1
    error = allowed_error(right) if is_plain else abs(wanted) * 1e-9
    if abs(wanted - shown) <= error + abs(wanted) * 1e-9:
        return ""
    return f"{left.strip()} is {wanted:.6g}, not {right.strip()}"


def check_figure(machine: str, name: str, field: str, before: str) -> str:
    """What is wrong with the last number of a text."""
    place = f"{machine} {name} {field}"
    try:
        wanted = measured(machine, name, field)
    except StopIteration:
        return f"{place}: was not measured"
    except (KeyError, ValueError, FileNotFoundError) as error:
        return f"{place}: {error}"
    numbers = re.findall(NUMBER, before)
    shown = float(numbers[-1].replace(",", "")) if numbers else math.nan
    allowed = NOISE * abs(wanted) + (allowed_error(numbers[-1]) if numbers else 0)
    return "" if abs(shown - wanted) <= allowed else f"{place}: measured {wanted:.4g}, the text says {shown:g}"


def check_measured(text: str) -> list[str]:
    problems = [check_figure(*comment.groups(), before=text[max(0, comment.start() - 60):comment.start()])
                for comment in re.finditer(r"<!-- ([\w-]+) ([\w.]+) (\w+) -->", text)]
    for machine, op, columns, table in re.findall(r"<!-- columns: (\S+) (\S+) (.*) -->\n((?:\|.*\n)+)", text):
        for row in table.splitlines()[2:]:
            first, *cells = [cell.strip() for cell in row.strip("|").split("|")]
            shape = "x".join(re.findall(r"\d+", first))
            if len(cells) != len(columns.split()):
                problems.append(f"{first}: {len(cells)} columns, the comment has {len(columns.split())}")
            problems += [check_figure(machine, f"{op}.{dtype}.{shape}", field, cell)
                         for column, cell in zip(columns.split(), cells) if "-" not in (column, cell)
                         for dtype, field in [column.split(".")]]
    return [problem for problem in problems if problem]


def check_excerpts(text: str) -> list[str]:
    problems = []
    for name, code in re.findall(r"<!-- from (\S+) -->\n```\w*\n(.*?)^```$", text, re.S | re.M):
        try:
            source = [line.strip() for line in (ROOT / name).read_text().splitlines()]
        except FileNotFoundError:
            problems.append(f"an excerpt is from {name}, which is not there")
            continue
        lines = [line.strip() for line in code.splitlines()]
        if not any(source[i:i + len(lines)] == lines for i in range(len(source))):
            problems.append(f"an excerpt is no longer in {name}: {lines[0]} ...")
    return problems


def check_form(path: Path, text: str) -> list[str]:
    problems = []
    drills = text.partition("\n## Drills")[2]
    questions, answers = len(re.findall(r"^\*\*\d+\.", drills, re.M)), drills.count("<details>")
    if questions < LEAST_DRILLS or questions != answers:
        problems.append(f"{questions} drills and {answers} folded answers; {LEAST_DRILLS} of both are wanted")
    for target in re.findall(r"\]\(([^)#\s]+)", text):
        if not target.startswith(("http:", "https:")) and not (path.parent / target).exists():
            problems.append(f"link to {target}, which is not there")
    return problems


def check(path: Path) -> list[str]:
    text = path.read_text()
    problems = []
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        fenced ^= line.lstrip().startswith("```")
        if line.startswith("    ") and not fenced:
            problems += [f"line {number}: {wrong}" for left, right in equations(line)
                         if (wrong := check_equation(left, right))]
    problems += check_measured(text) + check_excerpts(text)
    return problems if path.parts[-3:-2] == ("labs",) else problems + check_form(path, text)


def main(arguments: list[str]) -> int:
    paths = [Path(argument) for argument in arguments] or sorted([*(ROOT / "theory").glob("[0-9]*.md"), *(ROOT / "labs").glob("lab*/README.md")])
    problems = [f"{path}: {problem}" for path in paths for problem in check(path)] + ([] if arguments else answered.problems(ROOT))
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
