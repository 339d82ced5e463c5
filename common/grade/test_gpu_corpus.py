#!/usr/bin/env python3
"""Grades on a GPU those submissions of the corpus that only a GPU can tell from honest work, and holds their speed items against
what the files say:

    // GPU: the time is that of the whole work       in words
    // Speed: fail: never written                    the verdict of every speed item, and a part of its reason
    // Speed: no faster                              measured, and not faster than the same kernel without a trick
    // Speed: nothing                                no speed item has points, whatever the reason: it depends on the machine

Not a part of make test, which has no GPU. It builds what it needs. Exit status: 0 if all is as declared.

    test_gpu_corpus.py [--only WORD] [--keep FOLDER]     --only: the submissions whose name holds the word, and none of the honest ones
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import test_corpus  # noqa: E402

PLAIN = "36_work_at_load"  # the kernel that the others have, without a trick on the clock
HONEST = ("honest_very_fast", "honest_templates", "honest_byte_order_mark")
NO_FASTER, NOTHING = "no faster", "nothing"
FASTER = 1.08  # than PLAIN: more is no noise


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
        if speed == NO_FASTER:
            mine, theirs = microseconds(item), plain.get(item["id"], [])
            if not mine or len(mine) != len(theirs):
                return f"{item['id']}: was not measured: {item['reason']}"
            if any(a * FASTER < b for a, b in zip(mine, theirs)):
                return f"{item['id']}: {mine} us beside {theirs} us without the trick"
            continue
        if item["verdict"] != verdict or reason not in item["reason"]:
            return f"{item['id']}: {item['verdict']}: {item['reason']}"
        if verdict == "fail" and item["points"]:
            return f"{item['id']}: fails with {item['points']} points"
    return ""


def build(labs: set[str]) -> str:
    """As common/commands/check.sh does, for these labs; what the compiler said if it fails."""
    targets = ["build/cpu/worker", "build/cpu/speed", "build/cuda/worker", "build/cuda/timer", "build/cuda/roofs"]
    for kernel in sorted(path for lab in labs for path in test_corpus.COURSE.glob(f"solutions/{lab}/*.cu")):
        lab = kernel.parent.name
        targets += [f"build/cpu/tests/{lab}", f"build/cpu/checked/solutions/{lab}/{kernel.stem}.so", f"build/cuda/solutions/{lab}/{kernel.stem}.so"]
    command = ["make", "-s", "--no-print-directory", f"-j{os.cpu_count()}", "-f", "common/build/rules.mk", *targets]
    done = subprocess.run(command, cwd=test_corpus.COURSE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout if done.returncode else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave the grades and reports there")
    parser.add_argument("--only", default="", metavar="WORD")
    options = parser.parse_args()
    corpus = test_corpus.in_repository()
    labs = {case.name: case.lab for case in corpus}
    cases = {case.name: case.speed for case in corpus if case.gpu and options.only in case.name}
    if not cases:
        print(f"error: no submission for a GPU has '{options.only}' in its name", file=sys.stderr)
        return 2
    if not options.only:
        cases |= {name: "pass" for name in HONEST}
    if NO_FASTER in cases.values():
        cases[PLAIN] = NO_FASTER
    needed = {labs[name] for name in cases}
    if said := build(needed):
        print(f"error: the course's own code does not compile:\n{said}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        out = options.keep.absolute() if options.keep else work / "out"
        for case in cases:
            shutil.copytree(test_corpus.CORPUS / case, work / "submissions" / case)
        done = subprocess.run([sys.executable, str(HERE / "check.py"), "--gpu", "--submissions", str(work / "submissions"), "--out", str(out),
                               *(["--only", *needed] if len(needed) == 1 else [])],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        print(done.stdout)
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
            said = "; ".join(f"{i['id'].split('/')[1]} {i['reason'][:60]}" for i in grades[case])
            print(f"{case:<32}  {'FAIL' if problem else 'ok':<5} {problem or speed}   [{said}]")
    print(f"\n{len(cases)} submissions: {len(cases) - failed} as declared, {failed} not")
    return 1 if failed or done.returncode not in (0, 1) else 0


if __name__ == "__main__":
    sys.exit(main())
