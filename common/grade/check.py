#!/usr/bin/env python3
"""make check: grades this working copy, or a class.

    check.py                                    the files in labs/ of this working copy
    check.py --solutions                        those in solutions/
    check.py --submissions DIR --out OUT        every folder and archive in DIR; OUT gets the grades and reports
    check.py --doctor                           proves the sandbox

Exit status: 0 if everything passes, 1 if not, 2 if it cannot be graded, 130 if interrupted. (Of make: 0 or 2.)
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import textwrap
import threading
from pathlib import Path

HERE = Path(__file__).resolve().parent
COURSE = HERE.parents[1]
sys.path.insert(0, str(HERE))

import classrun  # noqa: E402
import gpu  # noqa: E402
import ingest  # noqa: E402
import judge  # noqa: E402
import lock  # noqa: E402
import points  # noqa: E402
import reports  # noqa: E402
import roots  # noqa: E402
import sandbox  # noqa: E402
import stages  # noqa: E402
import store  # noqa: E402
from classrun import percent  # noqa: E402
from judge import manifest  # noqa: E402

ERRORS = (points.PointsError, sandbox.SandboxError, judge.JudgeError, roots.RootError, ingest.IngestError, classrun.ClassError, lock.LockError,
          *reports.RULES_ERRORS)


def colour(text: str, code: str) -> str:
    return f"\033[{code}m{text}\033[0m" if sys.stdout.isatty() and not os.environ.get("NO_COLOR") else text


def say(text: str = "") -> None:
    # Names are a stranger's, and a terminal need not know every letter.
    print(text.encode(sys.stdout.encoding or "utf-8", "replace").decode(sys.stdout.encoding or "utf-8"), flush=True)


def note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def print_grade(grade: dict) -> None:
    for lab in grade["labs"]:
        good = lab["verdict"] == "pass"
        say(f"{lab['lab']:<14} {colour(lab['verdict'], '32' if good else '31'):<{14 + (0 if not sys.stdout.isatty() else 9)}} "
            f"{lab['points']:7.2f} of {lab['out_of']:g} points  {percent(lab['points'], lab['out_of'])}")
        bad = [item for item in lab["items"] if item["verdict"] in ("fail", "needs a person")]
        shown: set[str] = set()
        for item in bad:
            if item["reason"] in shown or len(shown) == 6:
                continue
            shown.add(item["reason"])
            say(f"    {item['name']}: {item['reason']}" + (f"  ({item['hint']})" if item["hint"] else ""))
        if len(bad) > len(shown):
            say(f"    and {len(bad) - len(shown)} more")
    say()
    not_run = sum(lab["not_run"] for lab in grade["labs"])
    rest = f"; {not_run:g} points for what was not run (speed needs a GPU) are neither given nor lost" if not_run else ""
    say(f"{percent(grade['points'], grade['out_of'])}: {grade['points']:g} of {grade['out_of']:g} points{rest}")


def end_on_signals() -> threading.Event:
    """From now on Ctrl-C, and whoever else asks this process to end, sets the event that is returned, and interrupts."""
    stopping = threading.Event()

    def interrupt(number: int, _: object) -> None:
        stopping.set()  # first: what a thread finds out from now on is no grade
        raise KeyboardInterrupt(number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as of nohup
            signal.signal(number, interrupt)
    return stopping


def tidy() -> None:
    """Removes what a grader that was killed had no time to remove."""
    if left_behind := stages.remove_left_behind():
        note(f"note: removed the folders of {left_behind} that had not ended in order" if left_behind > 1 else
             "note: removed the folder of a grader that had not ended in order")


def check_own(arguments: argparse.Namespace, table: points.Points, stopping: threading.Event) -> int:
    """This working copy. One's own files may run without a sandbox, which is said."""
    try:
        box = sandbox.find(stopping=stopping)
    except sandbox.SandboxError as error:
        note(f"{error}")
        note("these are your own files, so they are run without one")
        box = sandbox.Sandbox("none", stopping=stopping)
    folder = "solutions" if arguments.solutions else "labs"
    device = gpu.find(COURSE) if arguments.gpu else None
    say(f"grading {folder}/ on the CPU{f' and speed on the {device.name}' if device else ''}, {box.describe()}")
    the_judge = judge.Judge(COURSE, table, box, store.secret_of(None), arguments.jobs, arguments.only, device)
    try:
        the_judge.prepare(note)
        grade = the_judge.grade(judge.submission_of_course(COURSE, folder, table.limits))
    finally:
        the_judge.close()
    if arguments.out:
        keep_own(arguments.out, grade)
    print_grade(grade)
    for warning in the_judge.warnings:
        note(f"note: {warning}")
    if grade["verdict"] == "pass":
        say("next: commit your work" if folder == "labs" else "the solutions are in order")
        return 0
    say("next: make lab01, or the lab that you are at; make hint01 gives a hint")
    return 1


def keep_own(out: Path, grade: dict) -> None:
    classrun.make_folder(out)
    with lock.Lock(out):
        place = store.Store(out)
        place.write(grade["id"], store.merged(place.read(grade["id"]), {**grade, "why": "make check"}))
    reports.write_class(out)


def on_slurm(arguments: argparse.Namespace, table: points.Points):
    from slurm.controller import OnSlurm
    from slurm.scheduler import Slurm, options_from
    try:
        options = options_from(dict(pair.split("=", 1) for pair in arguments.slurm), arguments.jobs, table.limits["memory_mib"])
    except ValueError as error:
        raise classrun.ClassError(str(error)) from None
    return OnSlurm(Slurm(options), arguments.submissions, arguments.points.absolute())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--solutions", action="store_true")
    parser.add_argument("--submissions", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--points", type=Path, default=HERE / "points.toml")
    parser.add_argument("--jobs", default="")
    parser.add_argument("--only", default="", help="these labs: lab02,lab05")
    parser.add_argument("--gpu", action="store_true", help="measure speed on the GPU")
    parser.add_argument("--keep", action="store_true", help="keep the grades in OUT of those who are not in DIR")
    parser.add_argument("--doctor", action="store_true")
    parser.add_argument("--on", default="", help="slurm: a cluster's nodes grade the class")
    parser.add_argument("--slurm", action="append", default=[], metavar="NAME=VALUE", help="PARTITION=, TIME= and the others of slurm/README.md")
    arguments = parser.parse_args()
    try:
        jobs = arguments.jobs or ("2" if arguments.on else str(os.cpu_count() or 1))
        if not jobs.isdigit() or not 1 <= int(jobs) <= 256:
            raise judge.JudgeError(f"JOBS={arguments.jobs}: it can be a number from 1 to 256")
        arguments.jobs = int(jobs)
        if arguments.submissions and not arguments.out:
            raise judge.JudgeError("SUBMISSIONS needs OUT=folder, where grades and reports go")
        for name in ("submissions", "out"):
            if getattr(arguments, name):
                setattr(arguments, name, getattr(arguments, name).absolute())
        stopping = end_on_signals()
        tidy()
        if arguments.doctor:
            import doctor
            return doctor.main()
        labs = list(judge.labs_of(COURSE))
        try:
            manifest.chosen(arguments.only, labs)
        except manifest.Malformed as error:
            raise judge.JudgeError(f"LABS={arguments.only}: {error}") from None
        table = points.load(arguments.points, labs)
        if not arguments.submissions:
            return check_own(arguments, table, stopping)
        return classrun.check_class(arguments.submissions, arguments.out, table, arguments.jobs, arguments.only,
                                    lambda: gpu.find(COURSE) if arguments.gpu else None, arguments.keep, say, stopping,
                                    on_slurm(arguments, table) if arguments.on else None)
    except ERRORS as error:
        # A compiler's lines stay as they are.
        lines = f"error: {error}".split("\n")
        note("\n".join([textwrap.fill(lines[0], 80, subsequent_indent="       ", break_long_words=False, break_on_hyphens=False), *lines[1:]]))
        return 2
    except (KeyboardInterrupt, sandbox.Stopped):
        note("interrupted; the same command goes on where it was")
        return 130


if __name__ == "__main__":
    sys.exit(main())
