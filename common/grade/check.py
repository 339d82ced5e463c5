#!/usr/bin/env python3
"""make check: grades this working copy, or a class.

    check.py                                    the files in labs/ of this working copy
    check.py --solutions                        those in solutions/
    check.py --submissions DIR --out OUT        every folder and archive in DIR; OUT gets the grades and reports
    check.py --doctor                           proves the sandbox

Exit status: 0 if everything passes, 1 if not, 2 if it cannot be graded.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

HERE = Path(__file__).resolve().parent
COURSE = HERE.parents[1]
sys.path.insert(0, str(HERE))

import gpu  # noqa: E402
import ingest  # noqa: E402
import judge  # noqa: E402
import points  # noqa: E402
import roots  # noqa: E402
import sandbox  # noqa: E402
import stages  # noqa: E402

try:
    import reports
except ImportError:  # the records alone then
    reports = None

ERRORS = (points.PointsError, sandbox.SandboxError, judge.JudgeError, roots.RootError, ingest.IngestError)


def colour(text: str, code: str) -> str:
    return f"\033[{code}m{text}\033[0m" if sys.stdout.isatty() and not os.environ.get("NO_COLOR") else text


def say(text: str = "") -> None:
    # Names are a stranger's, and a terminal need not know every letter.
    print(text.encode(sys.stdout.encoding or "utf-8", "replace").decode(sys.stdout.encoding or "utf-8"), flush=True)


def note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def percent(points_: float, out_of: float) -> str:
    return f"{100 * points_ / out_of:.1f} %" if out_of else "nothing was run"


def write_record(folder: Path, grade: dict) -> None:
    """Whole or not at all, so that an interrupted run leaves nothing half done."""
    folder.mkdir(parents=True, exist_ok=True)
    new = folder / "grade.json.new"
    with new.open("w", encoding="utf-8") as file:
        json.dump(grade, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, folder / "grade.json")


def graded_already(folder: Path, key: str) -> dict | None:
    try:
        grade = json.loads((folder / "grade.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return grade if isinstance(grade, dict) and grade.get("key") == key else None


def secret_of(out: Path | None) -> bytes:
    """What hidden cases follow from: new for every run, but one for a whole class, also if its grading is interrupted."""
    if out is None:
        return os.urandom(32)
    path = out / "secret"
    try:
        secret = bytes.fromhex(path.read_text().strip())
        if len(secret) >= 16:
            return secret
    except (OSError, ValueError):
        pass
    secret = os.urandom(32)
    new = out / "secret.new"
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(secret.hex())
    os.replace(new, path)
    return secret


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


def interrupt(*_: object) -> None:
    """Ctrl-C, and whoever else asks this process to end."""
    sandbox.stop()  # first: what a thread finds out from now on is no grade
    raise KeyboardInterrupt


def tidy() -> None:
    """Removes what a grader that was killed had no time to remove."""
    if left_behind := stages.remove_left_behind():
        note(f"note: removed the folders of {left_behind} that had not ended in order" if left_behind > 1 else
             "note: removed the folder of a grader that had not ended in order")


def check_own(arguments: argparse.Namespace, table: points.Points) -> int:
    """This working copy. One's own files may run without a sandbox, which is said."""
    try:
        box = sandbox.find()
    except sandbox.SandboxError as error:
        note(f"{error}")
        note("these are your own files, so they are run without one")
        box = sandbox.Sandbox("none")
    folder = "solutions" if arguments.solutions else "labs"
    device = gpu.find(COURSE) if arguments.gpu else None
    say(f"grading {folder}/ on the CPU{speed_on(device)}, {box.describe()}")
    the_judge = judge.Judge(COURSE, table, box, secret_of(None), arguments.jobs, arguments.only, device)
    try:
        the_judge.prepare(note)
        grade = the_judge.grade(judge.submission_of_course(COURSE, folder, table.limits))
    finally:
        the_judge.close()
    if arguments.out:
        write_record(arguments.out / "students" / grade["id"], grade)
        if reports:
            reports.write_class(arguments.out)
    print_grade(grade)
    for warning in the_judge.warnings:
        note(f"note: {warning}")
    if grade["verdict"] == "pass":
        say("next: commit your work" if folder == "labs" else "the solutions are in order")
        return 0
    say("next: make lab01, or the lab that you are at; make hint01 gives a hint")
    return 1


def speed_on(device: gpu.Gpu | None) -> str:
    return f" and speed on the {device.name}, one at a time" if device else ""


def left(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def check_class(arguments: argparse.Namespace, table: points.Points) -> int:
    folder, out = arguments.submissions, arguments.out
    submissions, others = ingest.find(folder)
    if not submissions:
        raise ingest.IngestError(f"{folder}: no folder and no archive ({', '.join(ingest.ENDINGS)}) in it")
    box = sandbox.find()  # or no grading: foreign code is not run without one
    out.mkdir(parents=True, exist_ok=True)
    if not os.access(out, os.W_OK):
        raise judge.JudgeError(f"cannot write to {out}")
    for other in others:
        note(f"note: {other} is no submission, which is a folder or an archive, and is not graded")
    device = gpu.find(COURSE) if arguments.gpu else None
    say(f"grading {len(submissions)} submissions on the CPU{speed_on(device)}, {arguments.jobs} at a time, {box.describe()}")
    the_judge = judge.Judge(COURSE, table, box, secret_of(out), arguments.jobs, arguments.only, device)
    counts: dict[str, int] = {}
    done = kept = 0
    spent = 0.0  # on those that are done, all together

    def one(submission: ingest.Submission) -> tuple[ingest.Submission, dict, bool]:
        place = out / "students" / submission.id
        ingest.take(submission, the_judge.labs, table.limits)
        grade = graded_already(place, the_judge.key(submission))
        fresh = grade is None
        if fresh:
            grade = the_judge.grade(submission)
            sandbox.go_on()
            write_record(place, grade)
        return submission, grade, fresh

    try:
        the_judge.prepare(note)
        begun = time.monotonic()
        with ThreadPoolExecutor(arguments.jobs) as pool:
            jobs = {pool.submit(one, submission): submission for submission in submissions}
            try:
                for job in as_completed(jobs):
                    try:
                        submission, grade, fresh = job.result()
                    except (OSError, MemoryError, RuntimeError, ValueError, KeyError, TypeError) as error:  # costs this one alone
                        note(f"error: {jobs[job].name} could not be graded: {type(error).__name__}: {error}")
                        counts["could not be graded"] = counts.get("could not be graded", 0) + 1
                        done += 1
                        continue
                    done += 1
                    kept += not fresh
                    counts[grade["verdict"]] = counts.get(grade["verdict"], 0) + 1
                    if fresh:
                        spent += grade["seconds"]
                        others_left = len(submissions) - done
                        rest = spent / (done - kept) * others_left / max(1, min(arguments.jobs, others_left))
                        say(f"{done:4d}/{len(submissions)}  {submission.name:<30.30}  {grade['verdict']:<14}  "
                            f"{percent(grade['points'], grade['out_of']):>8}  {grade['seconds']:5.1f} s   {left(rest)} left")
            except BaseException:
                sandbox.stop()
                pool.shutdown(cancel_futures=True)
                raise
    finally:
        the_judge.close()
    if kept:
        say(f"{kept} were graded before and have not changed")
    for warning in the_judge.warnings:
        note(f"note: {warning}")
    forget_others(out, {submission.id for submission in submissions})
    say(", ".join(f"{number} {verdict}" for verdict, number in sorted(counts.items())) + f" in {left(time.monotonic() - begun)}")
    if reports:
        reports.write_class(out)
        say(f"next: {out}/report.html, {out}/gradebook.csv")
    else:
        say(f"the grades: {out}/students/*/grade.json")
    return 0 if set(counts) <= {"pass"} else 1


def forget_others(out: Path, ids: set[str]) -> None:
    """Grades of submissions that are no longer there are set aside, so that the gradebook shows this class and no other."""
    students = out / "students"
    for folder in sorted(students.iterdir()) if students.is_dir() else []:
        if folder.is_dir() and folder.name not in ids:
            aside = out / "no longer handed in"
            aside.mkdir(exist_ok=True)
            target = aside / folder.name
            number = 1
            while target.exists():
                number += 1
                target = aside / f"{folder.name}-{number}"
            os.replace(folder, target)
            note(f"note: {folder.name} is no longer among the submissions; its grade is in {target}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--solutions", action="store_true")
    parser.add_argument("--submissions", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--points", type=Path, default=HERE / "points.toml")
    parser.add_argument("--jobs", default="")
    parser.add_argument("--only", default="", help="the labs whose names hold this")
    parser.add_argument("--gpu", action="store_true", help="measure speed on the GPU")
    parser.add_argument("--doctor", action="store_true")
    arguments = parser.parse_args()
    try:
        jobs = arguments.jobs or str(os.cpu_count() or 1)
        if not jobs.isdigit() or not 1 <= int(jobs) <= 256:
            raise judge.JudgeError(f"JOBS={arguments.jobs}: it is a number from 1 to 256")
        arguments.jobs = int(jobs)
        if arguments.submissions and not arguments.out:
            raise judge.JudgeError("SUBMISSIONS needs OUT=folder, where grades and reports go")
        for name in ("submissions", "out"):
            if getattr(arguments, name):
                setattr(arguments, name, getattr(arguments, name).absolute())
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # as of nohup
                signal.signal(number, interrupt)
        tidy()
        if arguments.doctor:
            import doctor
            return doctor.main()
        table = points.load(arguments.points, list(judge.labs_of(COURSE)))
        return check_class(arguments, table) if arguments.submissions else check_own(arguments, table)
    except ERRORS as error:
        note(f"error: {error}")
        return 2
    except (KeyboardInterrupt, sandbox.Stopped):
        note("interrupted; the same command goes on where it was")
        return 130


if __name__ == "__main__":
    sys.exit(main())
