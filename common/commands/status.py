#!/usr/bin/env python3
"""make and make status: where a student is. Reads files, builds nothing, needs nothing but python3.

    status.py           which labs pass and which is next, as the file is now; predictions, hints, counts beside the solution's
    status.py --short   the first screen: the labs, the next one, what to type
    status.py --right LAB   says nothing; succeeds if the lab's file is right as it is now
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1])]
import progress  # noqa: E402  (beside this file)
import screen  # noqa: E402
import todos  # noqa: E402
from check_course import predictions  # noqa: E402
from course import labs as manifest  # noqa: E402

ROOT = progress.ROOT
GREEN, RED, YELLOW, BOLD, DIM = "32", "31", "33", "1", "2"
COUNT_HEAD = ("", "shape", "read", "written", "loads", "stores")


def paint(text: str, code: str) -> str:
    on = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    return f"\033[{code}m{text}\033[0m" if on and text else text


class Lab:
    """One lab: its files, and what is remembered of it."""

    def __init__(self, lab: manifest.Lab | manifest.Program, remembered: dict):
        self.name = lab.name
        self.number = lab.number
        self.file = ROOT / lab.starter if (ROOT / lab.starter).is_file() else None
        self.folder = ROOT / lab.starter.parent
        self.remembered = remembered
        self.runs = remembered.get("runs", {})
        self.run = self.runs.get(progress.hash_of(self.file)) if self.file else None  # of the file as it is now

    @property
    def right(self) -> bool:
        return self.run is not None and self.run["outcome"] == "right"

    def state(self) -> tuple[str, str]:
        """In words, and a colour."""
        text, colour = self.state_now()
        once = self.remembered.get("first_right", "")
        return text + (f"; was right on {once[:10]}" if once and "right" not in text else ""), colour

    def state_now(self) -> tuple[str, str]:
        if self.file is None:
            return "its .cu file is missing", RED
        if self.run:
            return self.words(self.run), GREEN if self.right else RED
        if not self.runs:
            return "not tested yet", DIM
        last = list(self.runs.values())[-1]
        if last["outcome"] == "right":
            return f"changed since it was right ({last['date']})", YELLOW
        return f"changed since the last test ({self.words(last)})", YELLOW

    @staticmethod
    def words(run: dict) -> str:
        if run["outcome"] == "right":
            if run.get("checked"):
                return "right"
            return "right, on a GPU" if run.get("backend") == "cuda" else "right, without the checks and the moves"
        if run["outcome"] != "wrong":
            return run["outcome"]
        total = run["passed"] + run["failed"]
        not_run = f", {run['not_run']} not run" if run["not_run"] else ""
        return f"{run['failed']} of {total} cases wrong{not_run}"

    def predictions(self) -> str:
        if self.file is None:
            return "-"
        known = self.remembered.get("predictions", {})
        tally = {"right": 0, "wrong": 0, "open": 0, "not checked": 0}
        at_first = 0
        table = predictions(self.file)
        for name, text in table.items():
            entry = known.get(name)
            if "unknown" in text:
                tally["open"] += 1
            elif entry and entry["text"] == text.strip():
                tally[entry["outcome"]] += 1
                at_first += entry["outcome"] == "right" and entry["at_first"]
            else:
                tally["not checked"] += 1
        if not table:
            return "-"
        words = ", ".join(f"{count} {word}" for word, count in tally.items() if count)
        return words + (f" ({at_first} at first)" if tally["right"] else "")

    def hints(self) -> str:
        text = (self.folder / "hints.md").read_text(encoding="utf-8") if (self.folder / "hints.md").is_file() else ""
        return f"{self.remembered.get('hints', 0)} of {len(re.findall(r'^## Hint ', text, re.MULTILINE))}"

    def first_open_todo(self) -> str:
        """The place of the first TODO that is still as handed out; else the file."""
        lines = todos.open_todos(self.name, self.file).values()
        return str(self.file.relative_to(ROOT)) + (f":{min(lines)}" if lines else "")


def labs(state: dict) -> list[Lab]:
    all_of_them = sorted((*manifest.load(ROOT), *manifest.programs(ROOT)), key=lambda lab: lab.name)
    return [Lab(lab, state["labs"].get(lab.name, {})) for lab in all_of_them]


def next_lab(all_labs: list[Lab]) -> Lab | None:
    """The first that is not right, in the order in which they are read."""
    known = {lab.name: lab for lab in all_labs}
    return next((known[each.name] for each in manifest.reading_order(ROOT) if each.name in known and not known[each.name].right), None)


def short(number: float) -> str:
    """Three digits, or all before the point."""
    return f"{number:.0f}" if number >= 99.95 else f"{number:.3g}"


def count_row(label: str, entry: dict) -> tuple[str, ...]:
    """Sector bytes per element; instructions of warps per 1000 elements."""
    elements = entry["rows"] * entry["cols"]
    yours, solution = entry["yours"], entry.get("solution")
    cells = []
    for key, scale in (("load_sectors", 32), ("store_sectors", 32), ("load_requests", 1000), ("store_requests", 1000)):
        cell = short(scale * yours[key] / elements)
        if solution:
            cell += " =" if solution[key] == yours[key] else f" ({short(scale * solution[key] / elements)})"
        cells.append(cell)
    shape = f"{entry['rows']} x {entry['cols']}" + (f", K {entry['k']}" if entry["k"] else "")
    return (f"  {label}", shape, *cells)


def print_table(rows: list[tuple[str, ...]], colours: list[str] | None = None, column: int = 0) -> None:
    """Columns as wide as they must be; `colours` paints one column."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row, colour in zip(rows, colours or [""] * len(rows)):
        cells = [cell.ljust(width) for cell, width in zip(row, widths)]
        if colour:
            cells[column] = paint(cells[column], colour)
        print("  ".join(cells).rstrip())


def print_next(all_labs: list[Lab]) -> None:
    lab = next_lab(all_labs)
    if not all_labs:
        print("There are no labs in labs/.")
        return
    if lab is None:
        screen.say("Every lab is right. make ladder measures the solutions on this machine, beside your points on the chart.")
        return
    print(f"{paint('next', BOLD)}: {lab.name}. Handout: labs/{lab.name}/README.md")
    if lab.file:
        print(f"      begin at {lab.first_open_todo()}")
    failure = (lab.run or {}).get("first_failure", "").split(" / ")
    if len(failure) == 3:
        print(f"      first failure: {failure[0]}, {failure[2]}")
        print(f"      that case alone: make lab{lab.number} CASE={failure[2]}")


def print_status(all_labs: list[Lab]) -> None:
    rows = [("lab", "your file", "predictions", "hints seen")]
    colours = [DIM]
    for lab in all_labs:
        text, colour = lab.state()
        rows.append((lab.name, text, lab.predictions(), lab.hints()))
        colours.append(colour)
    print_table(rows, colours, 1)
    counted = [(lab, label, entry) for lab in all_labs for label, entry in lab.remembered.get("counts", {}).items()]
    print()
    if counted:
        rows, last = [COUNT_HEAD], ""
        for lab, label, entry in counted:
            if lab.name != last:
                rows.append((lab.name, "", "", "", "", ""))
                last = lab.name
            rows.append(count_row(label, entry))
        print("Your best counts. '=': as the solution's; in brackets: the solution's.")
        print("read, written: sector bytes per element.")
        print("loads, stores: warp instructions per 1000 elements.")
        print_table(rows)
        print()
    print_next(all_labs)


def print_first_screen(all_labs: list[Lab]) -> None:
    print(f"{paint('Ladder', BOLD)}: one kernel, row-wise softmax, from naive to the limit of the chip.")
    following = next_lab(all_labs)
    rows, colours = [], []
    for lab in all_labs:
        text, colour = lab.state()
        rows.append((f"{'->' if lab is following else '  '} {lab.name}", text))
        colours.append(colour)
    if rows:
        print_table(rows, colours, 1)
    print()
    print_next(all_labs)
    number = following.number if following else all_labs[-1].number if all_labs else "01"
    seen = following.hints() if following else ""
    print(f"""\
  make lab{number}     build, test and measure your file
  make watch{number}   test it again on every save
  make hint{number}    the next hint{f' ({seen} seen)' if seen else ''}
  make status    predictions, hints and counts of every lab
  make ladder    check and measure every solution on this machine
  make help      all commands""")


def main(argv: list[str]) -> int:
    if argv not in ([], ["--short"]) and not (len(argv) == 2 and argv[0] == "--right"):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        state = progress.load(progress.default_path())
    except progress.Unreadable as problem:
        screen.say(f"{problem}. It is shown as empty; the next make labNN sets it aside.\n", sys.stderr)
        state = {"labs": {}}
    all_labs = labs(state)
    if argv[:1] == ["--right"]:
        return 0 if any(lab.name == argv[1] and lab.right for lab in all_labs) else 1
    print_first_screen(all_labs) if argv else print_status(all_labs)
    return 0


if __name__ == "__main__":
    try:
        STATUS = main(sys.argv[1:])
        sys.stdout.flush()
    except manifest.Malformed as error:
        screen.say(f"error: {error}", sys.stderr)
        STATUS = 2
    except BrokenPipeError:  # `make status | head`: who reads it has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        STATUS = 0
    sys.exit(STATUS)
