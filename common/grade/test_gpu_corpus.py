#!/usr/bin/env python3
"""Grades on a GPU those submissions of the corpus that only a GPU can tell from honest work, and holds their speed items against
what the files say:

    // GPU: the time is that of the whole work       in words
    // Speed: fail: never written                    the verdict of every speed item, and a part of its reason
    // Speed: no faster                              measured, and not faster than the same kernel without a trick (geometric mean of the shapes)
    // Speed: nothing                                no speed item has points, whatever the reason: it depends on the machine
    // Speed: measured                               whatever the speed, nobody has to look at it

Not a part of make test, which has no GPU. It builds what it needs. Exit status: 0 if all is as declared.

    test_gpu_corpus.py [--only WORDS] [--without WORDS] [--keep FOLDER] [--seconds N]
        --only: the submissions whose names hold one of the words, separated by commas, and none of the honest ones that check nothing else
        --without: not those whose names hold one of the words
        --seconds: grading ends after that time; what has no grade by then is named
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import corpus_entries  # noqa: E402

PLAIN = "36_work_at_load"  # the kernel that the others have, without a trick on the clock
HONEST = ("honest_very_fast", "honest_templates", "honest_byte_order_mark")
NO_FASTER, NOTHING, MEASURED = "no faster", "nothing", "measured"
LIMITS = {"gpu_seconds": 30}  # of files that are far slower than honest ones: a class has twice that
FASTER = 1.08  # than PLAIN, over all shapes: more is no noise. (At one shape equal code differed by a tenth.)


def microseconds(item: dict) -> list[float]:
    """What its shapes took, from the details."""
    return [float(found) for found in re.findall(r"(?m)^.*?: (\S+) us, our solution", item["details"])]


def judge(name: str, speed: str, items: list[dict], plain: dict[str, list[float]]) -> str:
    """'' or what is not as declared."""
    verdict, _, reason = speed.partition(": ")
    if not items:
        return "it has no speed items"
    for item in items:
        if speed == NOTHING:
            if item["points"] or item["verdict"] not in ("fail", "needs a person"):
                return f"{item['id']}: {item['verdict']} with {item['points']} points: {item['reason']}"
            continue
        if speed == MEASURED:
            if item["verdict"] == "needs a person" or "of our solution's speed" not in item["reason"]:
                return f"{item['id']}: {item['verdict']}: {item['reason']}"
            continue
        if speed == NO_FASTER:
            mine, theirs = microseconds(item), plain.get(item["id"], [])
            if not mine or len(mine) != len(theirs):
                return f"{item['id']}: was not measured: {item['reason']}"
            if math.prod(b / a for a, b in zip(mine, theirs)) ** (1 / len(mine)) > FASTER:
                return f"{item['id']}: {mine} us beside {theirs} us without the trick"
            continue
        if item["verdict"] != verdict or reason not in item["reason"]:
            return f"{item['id']}: {item['verdict']}: {item['reason']}"
        if verdict == "fail" and item["points"]:
            return f"{item['id']}: fails with {item['points']} points"
    return ""


def build(labs: set[str]) -> str:
    """As common/commands/check.sh does, for these labs; what the compiler said if it fails."""
    targets = ["build/cpu/worker", "build/cpu/speed", "build/cuda/worker", "build/cuda/roofs"]
    for kernel in sorted(path for lab in labs for path in corpus_entries.COURSE.glob(f"solutions/{lab}/*.cu")):
        lab = kernel.parent.name
        targets += [f"build/cpu/tests/{lab}", f"build/cpu/checked/solutions/{lab}/{kernel.stem}.so", f"build/cuda/solutions/{lab}/{kernel.stem}.so"]
    command = ["make", "-s", "--no-print-directory", f"-j{os.cpu_count()}", "-f", "common/build/rules.mk", *targets]
    done = subprocess.run(command, cwd=corpus_entries.COURSE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout if done.returncode else ""


def points_file(folder: Path) -> Path:
    text = (HERE / "points.toml").read_text()
    for name, value in LIMITS.items():
        text = re.sub(rf"(?m)^{name} = \d+", f"{name} = {value}", text)
    (folder / "points.toml").write_text(text)
    return folder / "points.toml"


def grade_all(cases: dict[str, str], needed: set[str], work: Path, out: Path, seconds: float) -> int:
    """check.py's exit status."""
    corpus_entries.write(list(cases), work / "submissions")
    command = [sys.executable, str(HERE / "check.py"), "--gpu", "--submissions", str(work / "submissions"), "--out", str(out), "--points",
               str(points_file(work)), "--only", ",".join(sorted(needed))]
    process = subprocess.Popen(command)
    try:
        return process.wait(timeout=seconds or None)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        return process.wait()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave the grades and reports there")
    parser.add_argument("--only", default="", metavar="WORDS")
    parser.add_argument("--without", default="", metavar="WORDS")
    parser.add_argument("--seconds", type=float, default=0)
    options = parser.parse_args()
    begun = time.monotonic()
    words, others = options.only.split(","), [word for word in options.without.split(",") if word]
    corpus = corpus_entries.in_repository()
    labs = {case.name: case.lab for case in corpus}
    cases = {case.name: case.speed for case in corpus if case.gpu and any(word in case.name for word in words)
             and not any(word in case.name for word in others)}
    cases |= {name: "pass" for name in HONEST if any(word in name for word in words)}
    if not cases:
        print(f"error: no submission for a GPU has '{options.only}' in its name", file=sys.stderr)
        return 2
    if NO_FASTER in cases.values():
        cases[PLAIN] = NO_FASTER
    needed = {labs[name] for name in cases}
    if said := build(needed):
        print(f"error: the course's own code does not compile:\n{said}", file=sys.stderr)
        return 2
    print(f"built after {time.monotonic() - begun:.0f} s", flush=True)
    with tempfile.TemporaryDirectory() as name:
        out = options.keep.absolute() if options.keep else Path(name) / "out"
        status = grade_all(cases, needed, Path(name), out, max(1.0, options.seconds - (time.monotonic() - begun)) if options.seconds else 0)
        grades = {}
        for case in cases:
            path = out / "students" / case / "grade.json"
            grade = json.loads(path.read_text()) if path.exists() else {"labs": []}
            lab = next((lab for lab in grade["labs"] if lab["lab"] == labs[case]), {"items": []})
            grades[case] = [item for item in lab["items"] if item["category"] == "speed"]
    plain = {item["id"]: microseconds(item) for item in grades.get(PLAIN, [])}
    failed = 0
    for case, speed in cases.items():
        problem = judge(case, speed, grades[case], plain)
        failed += bool(problem)
        told = "; ".join(f"{i['id'].split('/')[1]} {i['reason'][:60]}" for i in grades[case])
        print(f"{case:<36}  {'FAIL' if problem else 'ok':<5} {problem or speed}   [{told}]")
    print(f"\n{len(cases)} submissions in {time.monotonic() - begun:.0f} s: {len(cases) - failed} as declared, {failed} not")
    return 1 if failed or status not in (0, 1) else 0


if __name__ == "__main__":
    sys.exit(main())
