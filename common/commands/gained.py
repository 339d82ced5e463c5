#!/usr/bin/env python3
"""After a lab is right: what its last rung gained in bytes and time over the rung before, and what the next lab asks.

    gained.py LAB RESULTS      LAB: lab02_smem; RESULTS: this machine's plots/local/*.json, with the student's points in it
"""

from __future__ import annotations

import re
import signal
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(Path(__file__).resolve().parent), str(ROOT / "common/bench"), str(ROOT / "common")]
import results  # noqa: E402
import screen  # noqa: E402
import table  # noqa: E402
from check_course import predictions  # noqa: E402
from course import labs  # noqa: E402
from course.labs import number_of  # noqa: E402

COLS = labs.shapes()[0].cols  # the shape that make labNN measures


def ladder_of(points: list[dict], source: str) -> list[dict]:
    return results.ladder_order([p for p in points if p["source"] == source and p["input"] == "normal" and p["cols"] == COLS])


def last_rung(points: list[dict], lab: str) -> dict | None:
    """The lab's last rung in its first element type: where its moves have all been made."""
    mine = [p for p in points if p["lab"] == lab]
    of_type = [p for p in mine if p["dtype"] == mine[0]["dtype"]]
    return of_type[-1] if of_type else None


def rung_before(rung: dict, points: list[dict]) -> dict | None:
    """The last rung before this lab that does the same job, of the same type if there is one; else the first rung of this lab.
    `points`: of one source, in ladder order."""
    same = [p for p in points if results.same_job(p, rung)]
    earlier = [p for p in same if p["lab"] < rung["lab"]]
    if earlier:
        return ([p for p in earlier if p["dtype"] == rung["dtype"]] or earlier)[-1]
    own = [p for p in same if p["lab"] == rung["lab"] and p["dtype"] == rung["dtype"]]
    return own[0] if own and results.rung_of(own[0]) != results.rung_of(rung) else None


def name_of(rung: dict, whose: str) -> str:
    return f"{whose} lab{number_of(rung['lab'])} {rung['variant']} {rung['dtype']}"


def ratio_of(before: float, after: float, less: str, more: str) -> str:
    if 0.98 < before / after < 1.02:
        return "unchanged"
    return f"{results.three_digits(before / after)} times {less}" if before > after else f"{results.three_digits(after / before)} times {more}"


def bytes_of(rung: dict) -> float:
    return rung["l1_bytes"] / (rung["rows"] * rung["cols"])


def bytes_line(rung: dict, before: dict) -> list[str]:
    if not (results.is_counted(rung) and results.is_counted(before)):
        return []
    return [f"  sector bytes per element: {results.three_digits(bytes_of(before))} -> {results.three_digits(bytes_of(rung))}, "
            + ratio_of(bytes_of(before), bytes_of(rung), "fewer", "as many")]


def time_line(rung: dict, before: dict) -> str:
    old, new = table.time_per_element(before), table.time_per_element(rung)
    return f"  time per element: {table.format_time(old)} -> {table.format_time(new)}, " + ratio_of(old, new, "faster", "slower")


def find_before(rung: dict, here: dict, elsewhere: dict[str, dict]) -> tuple[dict | None, str]:
    """The rung whose bytes to compare with, and whose it is: the student's own, or a solution's of any machine. What a kernel
    requests is the same on every machine; how long it takes is not."""
    own = rung_before(rung, ladder_of(here["points"], "student"))
    if own and own["lab"] != rung["lab"]:
        return own, "your"
    for others in [here] + [other for _, other in sorted(elsewhere.items())]:
        theirs = rung_before(rung, ladder_of(others["points"], "solution"))
        if theirs and theirs["lab"] != rung["lab"] and results.is_counted(theirs):
            return theirs, "the solution's"
    return own, "your"


def first_of_this_run(rung: dict, here: dict) -> dict | None:
    """The lab's first rung of the same job and type. All rungs of a lab are measured in one run; times of other runs are not
    compared with, as they may come from another machine of the same name, or from a busy hour."""
    own = [p for p in ladder_of(here["points"], "student") if p["lab"] == rung["lab"] and results.same_job(p, rung)
           and p["dtype"] == rung["dtype"]]
    return own[0] if own and results.rung_of(own[0]) != results.rung_of(rung) else None


def both_predicted(rung: dict, before: dict, here: dict) -> bool:
    """Predictions come from one model, whatever the machine was doing: those of one file can be compared across labs."""
    return here["backend"] == results.PREDICTED and any(before is point for point in here["points"]) and bool(rung["seconds"] and before["seconds"])


def gained(lab: str, here: dict, elsewhere: dict[str, dict]) -> list[str]:
    """here: this machine's results, the lab's own just measured; elsewhere: file name -> results of other machines."""
    rung = last_rung(ladder_of(here["points"], "student"), lab)
    if rung is None:
        return []
    lines = []
    before, whose = find_before(rung, here, elsewhere)
    alike = before is not None and both_predicted(rung, before, here)
    compared = [] if before is None else bytes_line(rung, before) + ([time_line(rung, before)] if alike else [])
    if compared:
        how = f", as predicted for an {here['machine']}" if alike else ""
        lines += [f"What {name_of(rung, 'your')} gained over {name_of(before, whose)}{how}:", *compared]
    first = first_of_this_run(rung, here)
    if first is not None and not alike:
        how = f"Predicted for an {here['machine']}" if here["backend"] == results.PREDICTED else "In this run"
        lines += [f"{how}, within the lab, {first['variant']} -> {rung['variant']}:", time_line(rung, first)]
    if before is not None and here["backend"] != "cuda":
        if first is not None and here["backend"] == "cpu":
            lines.append("  (The executor is timed here. That does not rank rungs as a GPU would: theory/01_roofline.md.)")
        lines += on_a_gpu(rung, before, elsewhere)
    return lines


def on_a_gpu(rung: dict, before: dict, elsewhere: dict[str, dict]) -> list[str]:
    """The solutions' step from `before` to `rung`, where it was measured on a GPU. It is named: the student's own times are
    compared within the lab, so theirs may be another step."""
    for name, other in sorted(elsewhere.items()):
        points = {results.rung_of(p): p for p in ladder_of(other["points"], "solution")}
        new, old = points.get(results.rung_of(rung)), points.get(results.rung_of(before))
        if other["backend"] == "cuda" and new and old:
            step = f"{number_of(old['lab'])} {old['variant']} -> {number_of(new['lab'])} {new['variant']}"
            return [f"The solutions' lab{step} on an {other['machine']} ({name}):", *bytes_line(new, old), time_line(new, old)]
    return []


def other_results(here: Path) -> dict[str, dict]:
    found = {}
    for path in sorted((ROOT / "plots/results").glob("*.json")):
        if path.resolve() == here.resolve():
            continue
        try:
            found[f"plots/results/{path.name}"] = results.load(path)
        except results.UserError:
            continue  # not a machine's points
    return found


def last_word(lab: labs.Lab) -> str:
    """The paragraph that ends a handout: **Next.** ..."""
    text = (ROOT / lab.starter.with_name("README.md")).read_text(encoding="utf-8")
    found = re.search(r"^\*\*Next\.\*\* (.*?)(?:\n\n|\Z)", text, re.MULTILINE | re.DOTALL)
    return re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", found[1]).strip() if found else ""  # a terminal has no links


def first_question(lab: labs.Lab) -> str:
    """What the lab asks to predict first, out of the handout's table."""
    handout = ROOT / lab.starter.with_name("README.md")
    text = handout.read_text(encoding="utf-8") if handout.is_file() else ""
    for name in predictions(ROOT / lab.starter) if (ROOT / lab.starter).is_file() else {}:
        row = re.search(rf"^\| `{name}` \| (.+) \|$", text, re.MULTILINE)
        if row:
            return f"`{name}`: {row[1]}"
    return ""


def what_is_next(name: str) -> list[str]:
    lab = labs.lab(name)
    lines = [f"The solution beside yours: make diff{lab.number}"]
    following = [each for each in labs.load() if lab.next == f"labs/{each.name}/README.md"]
    if not following:
        return lines + [f"next: {lab.next}"]
    word, question = last_word(lab), first_question(following[0])
    lines += ["", word] if word else [""]
    if question:
        lines.append(f"It begins with a question. {question}")
    return lines + [f"next: {lab.next}"]


def main(argv: list[str]) -> int:
    if len(argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    lab, path = argv[0], Path(argv[1])
    try:
        lines = gained(lab, results.load(path), other_results(path))
    except results.UserError as error:
        print(f"gained.py: {error}", file=sys.stderr)
        return 1
    for line in ["", *lines, *([""] if lines else []), *what_is_next(lab)]:
        screen.say(line)
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `... | head` ends it without a traceback
    sys.exit(main(sys.argv[1:]))
