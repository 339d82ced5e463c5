#!/usr/bin/env python3
"""What a student has reached, in one small file: .progress.json beside the Makefile.

It does not lie in build/, which may be deleted at any time: hints that were seen, a prediction that was right at first,
a lab that once passed cannot be made again as an object file can. git ignores it. LADDER_PROGRESS names another file.

Only runs of a lab's own file are recorded (make lab02, make watch02), under the SHA-256 of what the file held; whether it
is right *now* is thus known without running it, also after a change that was taken back.

    progress.py record LAB --hash HASH --status STATUS --events FILE   after a run; FILE is what common/testing/events.h describes, or is
                                                    not there if nothing ran
    progress.py unchanged LAB --hash HASH                                             says so if the last run was of this file
    progress.py hint LAB NUMBER                                                       after make hintNN

The file:

    {"version": 1, "labs": {"lab02_smem": {
      "runs": {HASH: {"outcome": "right" | "wrong" | "does not compile" | "does not run", "date", "backend", "checked",
                      "passed", "failed", "not_run", "first_failure"}},        whole runs, the oldest first
      "first_right": DATE,
      "predictions": {"tree_barriers": {"text": "20", "outcome": "right" | "wrong", "at_first": true}},
      "counts": {"tree f32": {"rows", "cols", "k", "yours": {...}, "solution": {...}}},            the best so far
      "hints": 3}}}
"""

from __future__ import annotations

import argparse
import datetime
import fcntl
import hashlib
import json
import os
import sys
from contextlib import contextmanager
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1])]
import screen  # noqa: E402  (beside this file)
from check_course import predictions  # noqa: E402
from course import labs  # noqa: E402
from course.runs import read_events  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
MOST_RUNS = 40  # of a lab; older ones are forgotten, but never the last that was right
VERSION = 1


class Unreadable(Exception):
    """The file is there and is not what this program writes; the text says so."""


def default_path() -> Path:
    return Path(os.environ.get("LADDER_PROGRESS") or ROOT / ".progress.json")


def load(path: Path) -> dict:
    """The contents; those of an empty file if there is none. Raises Unreadable."""
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {"version": VERSION, "labs": {}}
    except (OSError, ValueError) as error:
        raise Unreadable(f"{path}: cannot be read: {error}") from None
    labs = state.get("labs") if isinstance(state, dict) else None
    if not isinstance(labs, dict) or not all(isinstance(lab, dict) for lab in labs.values()):
        raise Unreadable(f"{path}: holds no labs")
    if state.get("version") != VERSION:
        raise Unreadable(f"{path}: is of version {state.get('version')!r}, this course writes version {VERSION}")
    return state


def save(state: dict, path: Path) -> None:
    new = path.with_name(path.name + ".new")
    new.write_text(json.dumps(state, indent=1) + "\n", encoding="utf-8")
    os.replace(new, path)


@contextmanager
def changing(path: Path):
    """The state, to be changed; saved at the end. One command at a time: others wait. A file that cannot be read is set
    aside, not lost."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        try:
            state = load(path)
        except Unreadable as problem:
            if not path.is_file():
                raise OSError(0, "it is no ordinary file") from None
            aside = path.with_name(path.name + ".unreadable")
            os.replace(path, aside)
            print(f"{problem}; it is kept as {aside.name}, and a new one begun", file=sys.stderr)
            state = load(path)
        yield state
        save(state, path)
    finally:
        os.close(folder)


def hash_of(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


RECORDED = (0, 1, 3)  # the statuses that say something of the file; a run that a signal ended does not


def results_of(events: list[dict]) -> dict | None:
    """What a run's events (common/testing/events.h) come to; None if it did not come to its end."""
    begin = next((event for event in events if event["type"] == "begin"), None)
    end = next((event for event in events if event["type"] == "end"), None)
    if not begin or not end:
        return None
    wrong = [event for event in events if event["type"] == "case" and not event["ok"] and event["group"] != "predict"]
    return {"first_failure": " / ".join(wrong[0][key] for key in ("variant", "group", "case")) if wrong else "",
            "predictions": {event["name"]: event["outcome"] for event in events if event["type"] == "prediction"},
            "counts": {event["variant"]: {key: event[key] for key in ("rows", "cols", "k", "yours", "solution") if key in event}
                       for event in events if event["type"] == "count"},
            **{key: begin[key] for key in ("backend", "checked", "whole")}, **{key: end[key] for key in ("passed", "failed", "not_run")}}


def outcome_of(status: int, results: dict | None) -> str:
    if status == 3:
        return "does not compile"
    if results is None:
        return "does not run"
    return "right" if status == 0 and not results["failed"] and not results["not_run"] else "wrong"


def sectors_and_requests(entry: dict) -> tuple[float, float]:
    """What makes counts better: fewer sectors; of as many, fewer requests."""
    yours = entry["yours"]
    return (yours["load_sectors"] + yours["store_sectors"], yours["load_requests"] + yours["store_requests"])


def record_run(lab: dict, file_hash: str, status: int, results: dict | None, date: str) -> None:
    outcome = outcome_of(status, results)
    run = {"outcome": outcome, "date": date}
    if results:
        run |= {key: results[key] for key in ("backend", "checked", "passed", "failed", "not_run", "first_failure")}
    runs = lab.setdefault("runs", {})
    before = runs.pop(file_hash, {})
    if outcome == "right" and not results["checked"] and before.get("outcome") == "right":
        run["checked"] = before.get("checked", False)  # CHECKS=off takes nothing back
    runs[file_hash] = run
    if outcome == "right":
        lab.setdefault("first_right", date)
    last_right = [known for known, kept in runs.items() if kept.get("outcome") == "right"][-1:]
    for old in [known for known in runs if known not in last_right][:max(0, len(runs) - MOST_RUNS)]:
        del runs[old]


def record_predictions(lab: dict, outcomes: dict[str, str], texts: dict[str, str]) -> None:
    """outcomes: of a run; texts: the numbers as the file has them."""
    table = lab.setdefault("predictions", {})
    for name, outcome in outcomes.items():
        if outcome in ("right", "wrong") and name in texts:
            at_first = table[name]["at_first"] if name in table else outcome == "right"
            table[name] = {"text": texts[name].strip(), "outcome": outcome, "at_first": at_first}


def record_counts(lab: dict, results: dict) -> None:
    """The tests count only what is right: a wrong kernel may well read less. A best count is kept for as long as the
    course counts on the same shape."""
    best = lab.setdefault("counts", {})
    for label, entry in results["counts"].items():
        old = best.get(label)
        same_shape = old and all(old[key] == entry[key] for key in ("rows", "cols", "k"))
        if not same_shape or sectors_and_requests(entry) <= sectors_and_requests(old):
            best[label] = entry
        elif "solution" in entry:
            old["solution"] = entry["solution"]


def record(state: dict, lab_name: str, file: Path, file_hash: str, status: int, results: dict | None, date: str) -> None:
    """Takes in one run of the lab's own file. file_hash: of what was run; if the file has changed since, its predictions
    are not known to be those of the run and are left out."""
    lab = state["labs"].setdefault(lab_name, {})
    if results is None or results["whole"]:
        record_run(lab, file_hash, status, results, date)
    if results is None:
        return
    if hash_of(file) == file_hash:
        record_predictions(lab, results["predictions"], predictions(file))
    if results["whole"]:
        record_counts(lab, results)


def say_if_unchanged(lab_name: str, file_hash: str) -> None:
    try:
        runs = load(default_path())["labs"].get(lab_name, {}).get("runs", {})
    except Unreadable:
        return
    if runs and list(runs)[-1] == file_hash:
        last = runs[file_hash]
        screen.say(f"The file has not changed since its last run ({last['date']}: {last['outcome']}). Is it saved?")


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Takes note of what a student has reached.")
    commands = parser.add_subparsers(dest="command", required=True)
    of_run = commands.add_parser("record")
    of_run.add_argument("lab")
    of_run.add_argument("--hash", required=True)
    of_run.add_argument("--status", type=int, required=True, help="of the tests: 0, 1; 3: does not compile; of others nothing is recorded")
    of_run.add_argument("--events", type=Path, required=True)
    of_file = commands.add_parser("unchanged")
    of_file.add_argument("lab")
    of_file.add_argument("--hash", required=True)
    of_hint = commands.add_parser("hint")
    of_hint.add_argument("lab")
    of_hint.add_argument("number", type=int)
    options = parser.parse_args(argv)
    if options.command == "unchanged":
        say_if_unchanged(options.lab, options.hash)
        return 0
    if options.command == "record" and options.status not in RECORDED:
        return 0
    path = default_path()
    try:
        with changing(path) as state:
            if options.command == "hint":
                lab = state["labs"].setdefault(options.lab, {})
                lab["hints"] = max(options.number, lab.get("hints", 0))
            else:
                results = results_of(read_events(options.events))
                date = datetime.datetime.now().isoformat(sep=" ", timespec="minutes")
                record(state, options.lab, ROOT / labs.folder(options.lab).starter, options.hash, options.status, results, date)
    except OSError as error:
        print(f"this run will not show in make status: {path} cannot be written: {error.strerror}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
