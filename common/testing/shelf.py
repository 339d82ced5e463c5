#!/usr/bin/env python3
"""The shelf of wrong kernels: each must be rejected, with the verdict and at the line that its entry names (broken.py).

And the other way round: every solution must pass under the checks, or they raise false alarms.

    shelf.py [--only WORD] [--broken]       only those whose lab/name holds WORD; not the solutions
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import broken  # beside this file; finds the course's package
from course import labs as manifest
from course import runs
from course.sampling import sampled

BUILD_SECONDS, RUN_SECONDS = 300, 600


@dataclass
class Result:
    what: str
    outcome: str  # "ok", "FAIL", "needs a GPU"; "": not for this backend
    said: str  # the verdict that it got, or what is wrong
    seconds: float = 0.0


def build(*targets: str) -> str:
    """What the compiler said; '' if it built without a warning."""
    command = ["make", "-s", "--no-print-directory", "-f", "common/build/rules.mk", *targets]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=BUILD_SECONDS)
    return done.stdout.strip() or ("make failed" if done.returncode else "")


def run_tests(lab: str, file: Path, backend: str, checked: bool, request: dict) -> runs.Run:
    """Builds the file and runs the lab's tests on it. Status 2: it does not compile without a warning, or the tests refuse it."""
    asked = {"rung": f"build/{backend}/{file.with_suffix('.so')}", "file": str(file), "worker": f"build/{backend}/worker", **request}
    if checked:
        asked["checked"] = f"build/cpu/checked/{file.with_suffix('.so')}"
    targets = [asked["rung"], *([asked["checked"]] if checked else [])]
    if os.environ.get("PREBUILT") != "1" and (said := build(*targets)):
        for target in targets:  # or the next run would find it built, and see no warning
            Path(target).unlink(missing_ok=True)
        return runs.Run(2, f"does not compile without a warning:\n{said}", [])
    return runs.run(lab, asked, backend, RUN_SECONDS)


def judge(kernel: broken.Kernel, run: runs.Run) -> tuple[str, str]:
    explanation = runs.first_failure(run.events, kernel.one("variant"))
    got = "\n".join(explanation)
    wanted = (["the move: " + kernel.one("move")] if kernel.one("move") else []) + kernel.all("verdict")
    if run.status == 0:
        return "FAIL", f"passes; expected: {wanted[0]}"
    if not explanation:
        return "FAIL", f"nothing is wrong with {kernel.one('variant')}:\n{run.output}"
    for verdict in wanted:
        if verdict not in got:
            return "FAIL", f"expected: {verdict}\ngot: {got}"
    for line in kernel.lines:
        if not re.search(rf"{re.escape(str(kernel.path))}:{line}\b", got):
            return "FAIL", f"does not name {kernel.path}:{line}\ngot: {got}"
    if kernel.lines:
        at = re.match(r"(?:\w+ )*?(\S+):(\d+):", explanation[0])
        if not at or at[1] != str(kernel.path) or int(at[2]) not in kernel.lines:
            return "FAIL", f"the verdict is given for another line than {kernel.lines}\ngot: {got}"
    return "ok", wanted[0] + (f" (line {', '.join(map(str, kernel.lines))})" if kernel.lines else "")


def tried(kernel: broken.Kernel) -> tuple[str, str]:
    """Outcome, and what was said: builds it and runs its lab's tests on it."""
    backend = "cuda" if os.environ.get("BACKEND") == "cuda" else "cpu"  # make exports its options, also those that were not given
    if (kernel.one("backend") or "cpu") != backend:
        return ("needs a GPU", f"expects there: {kernel.all('verdict')[0]}") if backend == "cpu" else ("", "")
    kernel.folder = "build/shelf"  # where no time is predicted (common/build/rules.mk)
    run = run_tests(kernel.lab, kernel.write(), backend, backend == "cpu", {"case": kernel.one("case"), "cases": kernel.one("cases")})
    return ("FAIL", run.output) if run.status == 2 else judge(kernel, run)


def examine(lab: str, name: str) -> Result:
    begun = time.monotonic()
    try:
        outcome, said = tried(broken.kernel(lab, name))
    except broken.Malformed as error:
        outcome, said = "FAIL", str(error)
    except subprocess.TimeoutExpired as error:
        outcome, said = "FAIL", f"took longer than {error.timeout:.0f} s"
    return Result(f"{lab}/{name}", outcome, said, time.monotonic() - begun)


def examine_solution(path: Path) -> Result:
    begun = time.monotonic()
    try:
        run = run_tests(path.parts[1], path, "cpu", True, {})
    except subprocess.TimeoutExpired as error:
        run = runs.Run(1, f"took longer than {error.timeout:.0f} s", [])
    outcome, said = ("ok", "clean under the checks") if run.status == 0 else ("FAIL", "a false alarm?\n" + run.output)
    return Result(str(path), outcome, said, time.monotonic() - begun)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="WORD", help="only those whose lab/name holds WORD")
    parser.add_argument("--broken", action="store_true", help="only the wrong kernels, not the solutions")
    options = parser.parse_args()
    only = options.only
    os.chdir(Path(__file__).resolve().parents[2])
    on_gpu = os.environ.setdefault("BACKEND", "cpu") == "cuda"
    if os.environ["BACKEND"] not in ("cpu", "cuda"):
        os.environ["BACKEND"] = "cpu"

    try:
        all_labs = manifest.load()
        wrong = [(lab.name, name) for lab in all_labs for name in broken.load(lab.name) if only in f"{lab.name}/{name}"]
    except (broken.Malformed, manifest.Malformed) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if not only:
        wrong = sampled(wrong, 12, "wrong kernels of the labs")
    solutions = [] if on_gpu or options.broken else [lab.solution for lab in all_labs if only in str(lab.solution)]
    if not wrong and not solutions:
        print(f"error: no wrong kernel and no solution has '{only}' in its name", file=sys.stderr)
        return 2
    labs = sorted({lab for lab, _ in wrong} | {path.parts[1] for path in solutions})
    if os.environ.get("PREBUILT") != "1":
        said = build(f"-j{os.cpu_count()}", f"build/{os.environ['BACKEND']}/worker", *(f"build/cpu/tests/{lab}" for lab in labs))
        if said:
            print(f"error: the course's own code does not compile:\n{said}", file=sys.stderr)
            return 2

    counts = {"ok": 0, "FAIL": 0, "needs a GPU": 0}
    with ThreadPoolExecutor(1 if on_gpu else os.cpu_count() or 2) as pool:
        jobs = [pool.submit(examine, *each) for each in wrong] + [pool.submit(examine_solution, path) for path in solutions]
        for job in jobs:
            result = job.result()
            if not result.outcome:
                continue
            counts[result.outcome] += 1
            first, *rest = result.said.splitlines() or [""]
            print(f"{result.what:<44}  {result.outcome:<7} {result.seconds:6.1f} s  {first}", flush=True)
            for line in rest[:40]:
                print(f"    {line}", flush=True)
    print()
    if counts["needs a GPU"]:
        print(f"{counts['needs a GPU']} not run: needs a GPU (BACKEND=cuda)")
    print(f"{counts['ok']} passed, {counts['FAIL']} failed")
    return 1 if counts["FAIL"] or not counts["ok"] else 0


if __name__ == "__main__":
    sys.exit(main())
