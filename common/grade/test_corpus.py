#!/usr/bin/env python3
"""Grades the corpus and holds every verdict against what it must be (corpus_entries.py), with what make_hostile.py makes.

    test_corpus.py [--only WORD] [--keep FOLDER] [--jobs N] [--draw N]
    test_corpus.py --write FOLDER    writes what is a regular kernel file, a submission each, to be graded by `make check`
    test_corpus.py --graded OUT      compares what `make check SUBMISSIONS=FOLDER OUT=OUT` has given, and grades nothing

A class gets hidden shapes and values at random. Here they are those of one draw, so that the same commit has the same grades everywhere; after
a change of a demand, try honest work in others, too: for n in 2 3 4 5 6 7 8 9; do test_corpus.py --only honest_ --draw $n; done
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True  # a folder in the corpus is a submission
sys.path.insert(0, str(HERE))
from corpus_entries import (CONTROL, CORPUS, COURSE, Case, Malformed, check_entries, compare, compare_graded, holds, in_repository, labs,  # noqa: E402
                            read_grades, report, write, wrong)
sys.path.insert(0, str(CORPUS))
import corpus_edits  # noqa: E402
import make_hostile  # noqa: E402
import store  # noqa: E402
from course.sampling import due, part, sampled  # noqa: E402

# Tighter than for a class: what comes to a limit here does so on purpose.
LIMITS = {"compile_seconds": 25, "memory_mib": 1536}
STARTERS = "0_the_untouched_starters"


def collect(folder: Path, only: str) -> tuple[list[Case], list[Case], list[str]]:
    """Copies what is to be graded into the folder. Returns that, all that there is, and what cannot be made here."""
    everything = in_repository(only)
    in_turn = labs_in_turn()
    cases = everything if only else sampled(everything, 13, "submissions of the corpus", among=lambda case: case.lab in in_turn)
    write([case.name for case in cases if not case.needs_gpu], folder)
    made = folder.parent / "hostile"
    made.mkdir()
    maker = make_hostile.make(made)
    hostile = [Case(one.name, one.lab, one.expect, one.entry, one.reason, one.most, never=one.never) for one in maker.declared if holds(one.name, only)]
    taken = hostile if only else sampled(hostile, 4, "links, archives and odd names of the corpus")
    for case in taken:
        for path in made.iterdir():  # with its ending
            if path.name == case.name or (path.name.startswith(case.name + ".") and path.is_file()):
                os.rename(path, folder / path.name)
    return cases + taken, everything + hostile, maker.skipped


def labs_in_turn() -> list[str]:
    """Those that a sample grades: before the first submission of a lab its solution is run, which takes longer than the submissions."""
    return due([lab.name for lab in labs.load(COURSE)], 4)


def labs_for(cases: list[Case], only: str) -> list[str]:
    """Those that are graded, each after a run of its solution: all labs, those in turn, or those of the submissions that were asked for."""
    names = [lab.name for lab in labs.load(COURSE)]
    used = {case.lab for case in cases}
    if not only:
        used.update(labs_in_turn() if part() == "sample" else names)
    return [name for name in names if name in used]


def points_file(folder: Path) -> Path:
    text = (HERE / "points.toml").read_text()
    for name, value in LIMITS.items():
        text, count = re.subn(rf"(?m)^{name} = \d+", f"{name} = {value}", text)
        assert count == 1, name
    path = folder / "points.toml"
    path.write_text(text)
    return path


def draw_shapes(out: Path, draw: int) -> None:
    """Hidden shapes and values follow from OUT's secret (store.secret_of): one for each draw, instead of one at random."""
    out.mkdir(parents=True, exist_ok=True)
    store.write(out / "secret", hashlib.sha256(f"draw {draw} of the corpus".encode()).hexdigest(), 0o600)


def hostile_environment(folder: Path) -> dict[str, str]:
    """Entry 47: variables by which a compiler takes other headers, tools and options. None may get through."""
    headers = folder / "headers"
    headers.mkdir()
    for name in ("rung.h", "cfloat", "cmath", "cuda_runtime.h", "string.h"):
        (headers / name).write_text("#error taken from the environment\n")
    evil = {name: str(headers) for name in ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH")}
    return {**os.environ, **evil, "CXXFLAGS": "-include /nowhere", "NVCC_PREPEND_FLAGS": "--nowhere", "LADDER_SEED": "0",
            "LADDER_CASE": "normal-7x33", "LADDER_RECORD": str(folder / "record"), "BACKEND": "cuda"}


def build() -> str:
    """As common/commands/check.sh does; what the compiler said if it fails."""
    targets = ["build/cpu/worker"]
    for lab in labs.load(COURSE):
        targets += [f"build/cpu/tests/{lab.name}", f"build/cpu/checked/{lab.solution.with_suffix('.so')}"]
    command = ["make", "-s", "--no-print-directory", f"-j{os.cpu_count()}", "-f", "common/build/rules.mk", *targets]
    done = subprocess.run(command, cwd=COURSE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout if done.returncode else ""


def processes() -> set[str]:
    """Those of users that submissions get."""
    found = set()
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and 50000 <= entry.stat().st_uid < 60000 and "Z" not in (entry / "stat").read_text().rsplit(")")[-1][:3]:
                found.add(entry.name)
        except OSError:
            pass
    return found


def compare_starters(grades: dict[str, tuple[dict, Path]], names: list[str]) -> int:
    """The untouched starters get nothing in any of these labs, but for what points.toml leaves to them."""
    if STARTERS not in grades:
        return report(STARTERS, "has no grade", "")
    graded = grades[STARTERS][0]["labs"]
    some = [f"{lab['points']:g} points in {lab['lab']}" for lab in graded if lab["points"] > 0 or lab["verdict"] != "fail"]
    some += [] if [lab["lab"] for lab in graded] == names else [f"graded: {' '.join(lab['lab'] for lab in graded)}"]
    return report(STARTERS, ", ".join(some), f"nothing in {len(names)} labs")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="WORDS", help="only submissions whose name holds one of the words, which commas separate")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave the grades and reports there")
    parser.add_argument("--jobs", default=str(2 * (os.cpu_count() or 1)), help="twice the cores: some of these only wait for their end")
    parser.add_argument("--draw", type=int, default=1, metavar="N", help="hidden shapes and values of another draw than the first")
    parser.add_argument("--write", type=Path, metavar="FOLDER")
    parser.add_argument("--graded", type=Path, metavar="OUT")
    options = parser.parse_args()
    if options.write:
        write([case.name for case in in_repository(options.only)], options.write)
        return 0
    if options.graded:
        return compare_graded(options.graded)
    if said := build():
        print(f"error: the course's own code does not compile:\n{said}", file=sys.stderr)
        return 2
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        submissions, out = work / "submissions", options.keep.absolute() if options.keep else work / "out"
        submissions.mkdir()
        try:
            cases, everything, skipped = collect(submissions, options.only)
            names = labs_for(cases, options.only)
            if not options.only:
                for starter in (lab.starter for lab in labs.load(COURSE) if lab.name in names):
                    place = submissions / STARTERS / starter
                    place.parent.mkdir(parents=True)
                    shutil.copyfile(COURSE / starter, place)
        except (Malformed, corpus_edits.broken.Malformed) as error:
            print(f"error: {error}", file=sys.stderr)
            return 2
        if not cases:
            print(f"error: no submission of the corpus has '{options.only}' in its name", file=sys.stderr)
            return 2
        draw_shapes(out, options.draw)
        before = processes()
        command = [sys.executable, str(HERE / "check.py"), "--submissions", str(submissions), "--out", str(out), "--points",
                   str(points_file(work)), "--jobs", options.jobs, "--only", ",".join(name.partition("_")[0] for name in names)]
        done = subprocess.run(command, env=hostile_environment(work), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=work)
        said = done.stdout.decode(errors="replace")
        grades = read_grades(out)
        failed = compare([case for case in cases if not case.needs_gpu], grades)
        if not options.only:
            failed += compare_starters(grades, names)
        on_gpu = [case for case in cases if case.gpu]
        for case in on_gpu:
            print(f"{case.name:<44}  needs a GPU: {case.gpu}")
        for line in skipped:
            print(f"not run: {line}")
        problems = [] if options.only else check_entries(everything)
        if done.returncode != (0 if all(grade["verdict"] == "pass" for grade, _ in grades.values()) else 1):
            problems.append(f"check.py ended with status {done.returncode}:\n{said[-2000:]}")
        # What was killed takes a moment to end, and another grader on this machine has processes of such users, too.
        left = processes() - before
        for _ in range(600):
            left &= processes()
            if not left:
                break
            time.sleep(0.1)
        if left:
            problems.append(f"{len(left)} processes of submissions are left: {', '.join(sorted(left))}")
        for path in ("/tmp/ladder_corpus_was_here", "/tmp/pwned", str(work / "pwned"), str(COURSE / "pwned")):
            if os.path.lexists(path):
                problems.append(f"{path} was made by a submission")
        if "\x1b" in said:
            problems.append("a name has put an escape sequence on the terminal")
        page = (out / "report.html").read_text(encoding="utf-8") if (out / "report.html").exists() else ""
        if page.count("<script") != 1 or CONTROL.search(page):
            problems.append("report.html has more than its own script, or control characters")
        for problem in problems:
            print(f"FAIL  {problem}")
    failed += len(problems)
    if on_gpu:
        print(f"\nnot run: {len(on_gpu)} submissions need a GPU")
    cases = [case for case in cases if not case.needs_gpu]
    print("", *wrong, sep="\n")
    print(f"\n{len(cases)} submissions in {time.monotonic() - begun:.0f} s: {len(cases) - min(failed, len(cases))} as declared, {failed} not")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
