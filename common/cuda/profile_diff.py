#!/usr/bin/env python3
"""Holds the executor's counters against a GPU's: every variant of every solution, both ways.

    profile_diff.py --output FILE [--shapes 64x600,16x4096] RUNG...   reads both, prints the differences, writes FILE
    profile_diff.py --check FILE                                      holds the executor alone against the readings of FILE

Requests and sectors of global loads and stores must be equal. There is one exception, and it is held to its terms: nvcc
unrolls a loop, and where lanes of one warp go round it a different number of times (the last round of a row), it makes
for them more requests than the source has. Then the bytes asked for must be the same.

Shared memory is another matter: nvcc keeps a value in a register or merges neighbouring reads where the executor's
compiler does not. Each difference is printed with the source lines that make it. What was equal when the file was written
must be equal in every later check.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

import ncu
import read_counters

SHAPES = "64x600,16x4096,2x50257"
LAB01_COLS = 1100  # every thread reads the whole row: a wider one takes the executor minutes
STEP_SHAPE = (32, 64)  # of rungs with another operator (common/rung/swap_ffn.h): cores x d_model
K = 50
GLOBAL = tuple(ncu.GLOBAL.format(what=what, op=op) for op in ("ld", "st") for what in ("requests", "sectors"))
SHARED = tuple(ncu.SHARED_WAVEFRONTS.format(op=op) for op in ncu.OPS)
ASKED = ("global_bytes_op_ld", "global_bytes_op_st")  # active lanes times their width
METRICS = GLOBAL + ASKED + tuple(ncu.GLOBAL.format(what=what, op="atom") for what in ("requests", "sectors")) + SHARED
SHORT = {"global_bytes_op_ld": "bytes asked of global loads", "global_bytes_op_st": "bytes asked of global stores", **{ncu.GLOBAL.format(what=what, op=op): f"global {name} {what}" for what in ("requests", "sectors")
            for op, name in zip(ncu.OPS, ("load", "store", "atomic"))},
         **{ncu.SHARED_WAVEFRONTS.format(op=op): f"shared {name} wavefronts"
            for op, name in zip(ncu.OPS, ("load", "store", "atomic"))}}


def executor(source: str, rows: int, cols: int) -> dict[tuple[str, str], dict]:
    """The executor's reports on a solution, by variant and dtype."""
    rung = f"build/cpu/checked/{source.removesuffix('.cu')}.so"
    done = subprocess.run(["build/cpu/profile", "--worker", "build/cpu/worker", "--rung", rung, "--rows", str(rows), "--cols",
                           str(cols), "--k", str(K)], stdout=subprocess.PIPE, text=True)
    if done.returncode == 2 or not done.stdout:
        raise ncu.UserError(f"{rung}: the executor could not count it")
    reports = {(each["variant"], each["dtype"]): each["report"] for each in json.loads(done.stdout)["variants"]}
    for report in reports.values():
        for launch in report["launches"]:
            for line in launch["lines"]:
                line["file"] = ncu.shortened(line["file"], ".")
    return reports


def total(report: dict, metric: str) -> int:
    return sum(launch["total"][metric] for launch in report["launches"])


def by_line(report: dict, metric: str) -> dict[tuple[str, int], int]:
    counts: dict[tuple[str, int], int] = {}
    for launch in report["launches"]:
        for line in launch["lines"]:
            place = (line["file"], line["line"])
            counts[place] = counts.get(place, 0) + line["counts"][metric]
    return counts


def reason(metric: str, cpu: dict[str, int], gpu: dict[str, int]) -> str:
    """Why a line's counts differ, from what it asks for on either side."""
    space, op = ("shared" if "shared" in metric else "global"), metric.split("_op_")[1].removesuffix(".sum")
    asked, requests = f"{space}_bytes_op_{op}", (ncu.GLOBAL.format(what="requests", op=op) if space == "global"
                                                else f"shared_requests_op_{op}")
    if op == "atom":
        if gpu[asked] < cpu[asked]:
            return "nvcc adds up the lanes of a warp first: one atomic where the source has one a lane"
        return "how many lanes meet on one address depends on the order in which warps arrive"
    if space == "global":
        return ("nvcc unrolled the loop: lanes of one warp that go round it a different number of times make their requests "
                "apart")
    if gpu[requests] == 0 and cpu[requests]:
        return "a kept read: nvcc has the value in a register" if op == "ld" else "nvcc does not store it, or elsewhere"
    if gpu[requests] < cpu[requests] and gpu[asked] >= 0.98 * cpu[asked]:
        return "merged: nvcc makes one wide access of neighbouring ones"
    if gpu[requests] < cpu[requests]:
        return "some are kept in registers" if op == "ld" else "some are merged or not stored"
    if gpu[requests] > cpu[requests]:
        return "nvcc splits it, or does for this line what the executor's compiler does for another"
    return "the lanes' addresses meet in banks otherwise: what is stored where depends on the order of the threads"


def all_counts(report: dict, place: tuple[str, int]) -> dict[str, int]:
    counts = ncu.no_counts()
    for launch in report["launches"]:
        for line in launch["lines"]:
            if (line["file"], line["line"]) == place:
                for name in counts:
                    counts[name] += line["counts"].get(name, 0)
    return counts


def explain(metric: str, cpu: dict, gpu: dict) -> list[dict]:
    """The lines that make a difference, the largest first, at most six."""
    ours, theirs = by_line(cpu, metric), by_line(gpu, metric)
    lines = []
    for place in sorted(set(ours) | set(theirs)):
        here, there = ours.get(place, 0), theirs.get(place, 0)
        if here != there:
            lines.append({"file": place[0], "line": place[1], "executor": here, "ncu": there,
                          "why": reason(metric, all_counts(cpu, place), all_counts(gpu, place))})
    return sorted(lines, key=lambda line: -abs(line["executor"] - line["ncu"]))[:6]


def bare(kernel: str) -> str:
    """A kernel's name without namespace, return type, template and function arguments."""
    return ncu.short_name(kernel).partition("<")[0].rpartition("::")[2]


def compare(source: str, variant: dict, cpu: dict) -> dict:
    # Kernels of a library, such as cuBLAS, are not the rung's; the executor multiplies on the host instead.
    own = {bare(launch["kernel"]) for launch in cpu["launches"]}
    gpu = {**variant["report"], "launches": [each for each in variant["report"]["launches"] if bare(each["kernel"]) in own]}
    values = {metric: (total(cpu, metric), total(gpu, metric)) for metric in METRICS}
    result = {"source": source, "variant": variant["variant"], "dtype": variant["dtype"], "rows": variant["rows"],
              "cols": variant["cols"], "k": variant["k"],
              "left_out": len(variant["report"]["launches"]) - len(gpu["launches"]),
              "executor": {metric: pair[0] for metric, pair in values.items()},
              "ncu": {metric: pair[1] for metric, pair in values.items()}, "differences": []}
    for metric, (ours, theirs) in values.items():
        if ours != theirs:
            result["differences"].append({"metric": metric, "lines": explain(metric, cpu, gpu)})
    return result


def title(entry: dict) -> str:
    shape = f"{entry['rows']}x{entry['cols']}" + (f" K {entry['k']}" if entry["k"] else "")
    return f"{entry['source'].split('/')[1]} {entry['variant']} {entry['dtype']} {shape}"


def verdict(entry: dict) -> str:
    """Of global loads and stores."""
    pairs = [(entry["executor"][metric], entry["ncu"][metric]) for metric in GLOBAL]
    if all(ours == theirs for ours, theirs in pairs):
        return "equal"
    same_bytes = all(entry["executor"].get(metric, -1) == entry["ncu"].get(metric) for metric in ASKED)
    return "unrolled" if same_bytes and all(theirs >= ours for ours, theirs in pairs) else "different"


IN_WORDS = {"equal": "equal", "unrolled": "the same bytes in more requests, by an unrolled loop", "different": "DIFFERENT"}


def show(entry: dict) -> None:
    print(f"{title(entry)}: global loads and stores: {IN_WORDS[verdict(entry)]}"
          + ("" if entry["differences"] else "; all else equal too")
          + (f"; {entry['left_out']} launches of a library left out" if entry.get("left_out") else ""))
    for difference in entry["differences"]:
        metric = difference["metric"]
        print(f"    {SHORT[metric]}: executor {entry['executor'][metric]:,}, ncu {entry['ncu'][metric]:,}")
        for line in difference["lines"]:
            print(f"        {Path(line['file']).name}:{line['line']}: {line['executor']:,} and {line['ncu']:,}: {line['why']}")


def shapes_of(text: str) -> list[tuple[int, int]]:
    try:
        shapes = [tuple(int(part) for part in shape.split("x")) for shape in text.split(",")]
    except ValueError:
        shapes = []
    if not shapes or any(len(shape) != 2 or min(shape) < 1 for shape in shapes):
        raise ncu.UserError(f"SHAPES={text}: it must be ROWSxCOLUMNS, several with commas, for example {SHAPES}")
    return shapes


def is_step(source: str) -> bool:
    """Whether a rung has the operator of many tensors, which takes shapes of its own."""
    return "rung::swap_ffn(" in Path(source).read_text()


def takes(source: str, cols: int) -> bool:
    return "lab01" not in source or cols <= LAB01_COLS


def read(sources: list[str], shapes: list[tuple[int, int]]) -> list[dict]:
    entries = []
    steps = [source for source in sources if is_step(source)]
    work = [(rows, cols, [source for source in sources if source not in steps and takes(source, cols)]) for rows, cols in shapes]
    for rows, cols, suited in [*work, (*STEP_SHAPE, steps)]:
        chosen = {f"build/cuda/{source.removesuffix('.cu')}.so": source for source in suited}
        if not chosen:
            continue
        print(f"reading {rows}x{cols} with ncu ...", file=sys.stderr)
        variants = read_counters.read(list(chosen), rows, cols, K)
        counted = {source: executor(source, rows, cols) for source in chosen.values()}
        for variant in variants:
            source = chosen[variant["rung"]]
            cpu = counted[source].get((variant["variant"], variant["dtype"]))
            if variant["error"] or not cpu:
                print(f"{source} {variant['variant']} {variant['dtype']}: does not take {rows}x{cols}", file=sys.stderr)
                continue
            entries.append(compare(source, variant, cpu))
            show(entries[-1])
    return entries


def fingerprint(source: str) -> str:
    """Of a solution's code, without predictions, comments and white space. Readings of other code say nothing about this."""
    path = Path(source)
    if not path.is_file():
        return ""
    code = re.sub(r"// STEP 0:.*?// END 0", "", path.read_text(), flags=re.DOTALL)
    code = re.sub(r"\s+", "", re.sub(r"//[^\n]*", "", code))
    return hashlib.sha256(code.encode()).hexdigest()[:16]


def check(path: Path) -> list[str]:
    """What no longer is as the file has it; needs build/cpu/profile and the instrumented solutions. Solutions that have
    changed since they were read are named and left out."""
    file = json.loads(path.read_text())
    problems = []
    counted: dict[tuple, dict] = {}
    changed = [source for source, text in file["sources"].items() if fingerprint(source) != text]
    for source in changed:
        print(f"{source} was changed since its counters were read on a GPU; `make profile-diff` there reads them again")
    for entry in file["variants"]:
        if entry["source"] in changed:
            continue
        key = (entry["source"], entry["rows"], entry["cols"])
        if key not in counted:
            counted[key] = executor(*key)
        report = counted[key].get((entry["variant"], entry["dtype"]))
        if report is None:
            problems.append(f"{title(entry)}: the executor counts nothing")
            continue
        for metric, reading in entry["ncu"].items():
            now = total(report, metric)
            if entry["executor"][metric] == reading and now != reading:
                problems.append(f"{title(entry)}: {SHORT[metric]}: the executor counts {now:,}, ncu read {reading:,}")
    return problems


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Hold the executor's counters against a GPU's.")
    parser.add_argument("--check", type=Path)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--shapes", default=SHAPES)
    parser.add_argument("--machine", default="")
    parser.add_argument("sources", nargs="*")
    options = parser.parse_args(argv)
    try:
        if options.check:
            problems = check(options.check)
            print("\n".join(problems) if problems else f"the executor counts as {options.check} has it")
            if problems:
                print("the executor counts otherwise than the hardware did")
            return 1 if problems else 0
        shapes = shapes_of(options.shapes)
        entries = read(options.sources, shapes)
        file = {"machine": options.machine, "date": datetime.date.today().isoformat(), "command": "make profile-diff",
                "ncu": read_counters.version(), "sources": {source: fingerprint(source) for source in options.sources},
                "variants": entries}
        options.output.write_text(json.dumps(file, indent=1) + "\n")
    except (ncu.UserError, OSError) as error:
        print(f"profile-diff: {error}", file=sys.stderr)
        return 2
    verdicts = [verdict(entry) for entry in entries]
    print(f"\n{len(entries)} variants and shapes; global loads and stores: "
          + ", ".join(f"{verdicts.count(each)} {words}" for each, words in IN_WORDS.items() if each in verdicts))
    return 1 if "different" in verdicts else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
