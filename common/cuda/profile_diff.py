#!/usr/bin/env python3
"""Holds the executor's counters against a GPU's: every variant of every solution, both ways.

    profile_diff.py --output FILE [--shapes 64x600,16x4096] RUNG...   reads both, prints the differences, writes FILE
    profile_diff.py --check FILE                                      holds the executor alone against the readings of FILE

Requests and sectors of global loads and stores must be equal. There are three exceptions, and each is held to its terms, one
of which is that the requested bytes are the same:
- nvcc unrolls a loop, and where its trip count differs between the lanes of a warp (the last round of a row), it makes more
  requests than the source has, never fewer;
- in a kernel with atomics the order in which warps arrive may decide which lane stores which result, and so how many sectors
  the lanes of a warp store to together. That is for stores alone;
- cp.async, which the executor has as a load and a store, moves other sectors than a load. Its requests are the same.

A rung that asks the device how to launch may do so otherwise than in the executor, in other grids or blocks. Then there is
nothing to compare, and both launches are named.

Loads of shared memory are joined as nvcc joins them (simt/counters/shared_loads.h). A later check lets them differ by a fifth:
where the trip count of an unrolled loop differs between lanes, the GPU makes more of them. Stores are another matter: each
difference is printed with the source lines that make it. What was equal when the file was written must be equal in every
later check.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
import re
import subprocess
import sys
from math import prod
from pathlib import Path

import ncu
import read_counters

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from course import labs  # noqa: E402

SHAPES = "64x600,16x4096,2x50257"
QUADRATIC_COLS = 1100  # of a rung in which every thread reads the whole row: a wider one takes the executor minutes
STEP = "swap_ffn"  # the operator of many tensors, which takes shapes of its own
STEP_SHAPE = (32, 64)  # cores x d_model
K = 50
GLOBAL = tuple(ncu.GLOBAL.format(what=what, op=op) for op in ("ld", "st") for what in ("requests", "sectors"))
SHARED = tuple(ncu.SHARED_WAVEFRONTS.format(op=op) for op in ncu.OPS)
ASKED = ("global_bytes_op_ld", "global_bytes_op_st")  # active lanes times their width
METRICS = GLOBAL + ASKED + tuple(ncu.GLOBAL.format(what=what, op="atom") for what in ("requests", "sectors")) + SHARED
LOADED = ncu.SHARED_WAVEFRONTS.format(op="ld")
LOADED_WITHIN = 0.2  # of what ncu read
ATOMICS = (ncu.GLOBAL.format(what="requests", op="atom"), ncu.SHARED_WAVEFRONTS.format(op="atom"))
IN_WORDS = {"equal": "equal", "unrolled": "the same bytes in more requests, by an unrolled loop",
            "order": "the same bytes; which lane stores which depends on the order in which warps arrive",
            "async": "the same bytes and requests, but other sectors, by cp.async",
            "path": "not compared, as it launches otherwise than in the executor", "different": "DIFFERENT"}
WHY = {"unrolled": "nvcc unrolled the loop: where its trip count differs between the lanes of a warp, they make separate requests",
       "order": "which lane stores which result depends on the order in which warps arrive at an atomic",
       "async": "the GPU's program copies to shared memory with cp.async, whose sectors are counted otherwise",
       "different": "the two programs request different bytes"}
SHORT = {"global_bytes_op_ld": "requested bytes of global loads", "global_bytes_op_st": "requested bytes of global stores",
         **{ncu.GLOBAL.format(what=what, op=op): f"global {name} {what}" for what in ("requests", "sectors")
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


def reason(metric: str, cpu: dict[str, int], gpu: dict[str, int], cause: str) -> str:
    """Why a line's counts differ, from what it asks for on either side. cause: of global accesses, see cause()."""
    space, op = ("shared" if "shared" in metric else "global"), metric.split("_op_")[1].removesuffix(".sum")
    asked, requests = f"{space}_bytes_op_{op}", (ncu.GLOBAL.format(what="requests", op=op) if space == "global"
                                                else f"shared_requests_op_{op}")
    if op == "atom":
        if gpu[asked] < cpu[asked]:
            return "nvcc adds up the lanes of a warp first: one atomic per warp where the source has one per lane"
        return "how many lanes meet on one address depends on the order in which warps arrive"
    if space == "global":
        return WHY.get(cause, WHY["different"])
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


def explain(metric: str, cpu: dict, gpu: dict, cause: str) -> list[dict]:
    """The lines that make a difference, the largest first, at most six. cause: of global accesses of this operation."""
    ours, theirs = by_line(cpu, metric), by_line(gpu, metric)
    lines = []
    for place in sorted(set(ours) | set(theirs)):
        here, there = ours.get(place, 0), theirs.get(place, 0)
        if here != there:
            lines.append({"file": place[0], "line": place[1], "executor": here, "ncu": there,
                          "why": reason(metric, all_counts(cpu, place), all_counts(gpu, place), cause)})
    return sorted(lines, key=lambda line: -abs(line["executor"] - line["ncu"]))[:6]


def bare(kernel: str) -> str:
    """A kernel's name without namespace, return type, template and function arguments."""
    return ncu.short_name(kernel).partition("<")[0].rpartition("::")[2]


def cause(entry: dict, op: str) -> str:
    """Why an entry's global accesses of one operation differ: a key of WHY, or "equal"."""
    pairs = [(entry["executor"][metric], entry["ncu"][metric]) for metric in GLOBAL if f"_op_{op}" in metric]
    if all(ours == theirs for ours, theirs in pairs):
        return "equal"
    asked = f"global_bytes_op_{op}"
    if entry["executor"].get(asked, -1) != entry["ncu"].get(asked):
        return "different"
    if op == "st" and any(entry["executor"][metric] for metric in ATOMICS):
        return "order"
    (requests, their_requests), _ = pairs
    if op == "ld" and entry.get("async_copies") and requests == their_requests:
        return "async"
    return "unrolled" if all(theirs >= ours for ours, theirs in pairs) else "different"


def verdict(entry: dict) -> str:
    """Of global loads and stores: the worse of the two."""
    if "launches" in entry:
        return "path"
    return max((cause(entry, op) for op in ("ld", "st")), key=list(IN_WORDS).index)


def launches(report: dict) -> list[str]:
    """Blocks and threads of each launch, in words."""
    return [f"{prod(launch['grid'])} blocks of {prod(launch['block'])} threads" for launch in report["launches"]]


def compare(source: str, variant: dict, cpu: dict) -> dict:
    gpu = variant["report"]
    values = {metric: (total(cpu, metric), total(gpu, metric)) for metric in METRICS}
    result = {"source": source, "variant": variant["variant"], "dtype": variant["dtype"], "rows": variant["rows"],
              "cols": variant["cols"], "k": variant["k"],
              "executor": {metric: pair[0] for metric, pair in values.items()},
              "ncu": {metric: pair[1] for metric, pair in values.items()}, "differences": []}
    async_copies = sum(line["counts"].get("async_copies", 0) for launch in gpu["launches"] for line in launch["lines"])
    if async_copies:
        result["async_copies"] = async_copies
    if launches(cpu) != launches(gpu):
        return {**result, "launches": {"executor": launches(cpu), "ncu": launches(gpu)}}
    causes = {op: cause(result, op) for op in ("ld", "st")}
    for metric, (ours, theirs) in values.items():
        if ours != theirs:
            op = metric.split("_op_")[1].removesuffix(".sum")
            result["differences"].append({"metric": metric, "lines": explain(metric, cpu, gpu, causes.get(op, "different"))})
    return result


def title(entry: dict) -> str:
    shape = f"{entry['rows']}x{entry['cols']}" + (f" K {entry['k']}" if entry["k"] else "")
    return f"{entry['source'].split('/')[1]} {entry['variant']} {entry['dtype']} {shape}"


def show(entry: dict) -> None:
    print(f"{title(entry)}: global loads and stores: {IN_WORDS[verdict(entry)]}"
          + ("" if entry["differences"] or "launches" in entry else "; all else equal too"))
    for side, words in entry.get("launches", {}).items():
        print(f"    {side}: {', '.join(words)}")
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
        raise ncu.UserError(f"SHAPES={text}: it can be ROWSxCOLUMNS, several with commas, for example {SHAPES}")
    return shapes


def lab_of(source: str) -> labs.Lab:
    """Whose solution it is."""
    for lab in labs.load():
        if lab.solution == Path(source):
            return lab
    raise ncu.UserError(f"{source}: it must be the solution of a lab, as labs/labs.toml names it")


def is_step(source: str) -> bool:
    return lab_of(source).operator == STEP


def takes(source: str, cols: int) -> bool:
    return not lab_of(source).quadratic or cols <= QUADRATIC_COLS


def read(sources: list[str], shapes: list[tuple[int, int]]) -> tuple[list[dict], bool]:
    """What was read, and whether that is all: a shape that fails is named on stderr and takes no other with it."""
    entries, complete = [], True
    steps = [source for source in sources if is_step(source)]
    work = [(rows, cols, [source for source in sources if source not in steps and takes(source, cols)]) for rows, cols in shapes]
    for rows, cols, suited in [*work, (*STEP_SHAPE, steps)]:
        chosen = {f"build/cuda/{source.removesuffix('.cu')}.so": source for source in suited}
        if not chosen:
            continue
        print(f"reading {rows}x{cols} with ncu ...", file=sys.stderr)
        try:
            counted = {source: executor(source, rows, cols) for source in chosen.values()}
            # The executor multiplies matrices on the host: ncu is to read the rung's own kernels, not cuBLAS's.
            own = {bare(launch["kernel"]) for reports in counted.values() for report in reports.values()
                   for launch in report["launches"]}
            variants = read_counters.read(list(chosen), rows, cols, K, sorted(own) if suited is steps else [])
        except ncu.UserError as error:
            print(f"profile-diff: {rows}x{cols} was not read: {error}", file=sys.stderr)
            complete = False
            continue
        for variant in variants:
            source = chosen[variant["rung"]]
            cpu = counted[source].get((variant["variant"], variant["dtype"]))
            if variant["error"] or not cpu:
                why = f"it returned CUDA error {variant['error']} under ncu" if cpu else "the executor counts nothing"
                print(f"{source} {variant['variant']} {variant['dtype']} {rows}x{cols}: not compared: {why}", file=sys.stderr)
                continue
            entries.append(compare(source, variant, cpu))
            show(entries[-1])
    return entries, complete


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
        if entry["source"] in changed or verdict(entry) == "path":
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
            elif metric == LOADED and not entry.get("async_copies") and abs(now - reading) > max(LOADED_WITHIN * reading, abs(entry["executor"][metric] - reading)):
                problems.append(f"{title(entry)}: {SHORT[metric]}: the executor counts {now:,}, ncu read {reading:,}: more than a fifth apart, and farther than before")
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
        version = read_counters.version()  # first: it fails where there is no ncu
        entries, complete = read(options.sources, shapes)
        if not entries:
            return 2
        file = {"machine": options.machine, "date": datetime.date.today().isoformat(), "command": "make profile-diff",
                "ncu": version, "sources": {source: fingerprint(source) for source in options.sources},
                "variants": entries}
        options.output.write_text(json.dumps(file, indent=1) + "\n")
    except (ncu.UserError, OSError) as error:
        print(f"profile-diff: {error}", file=sys.stderr)
        return 2
    verdicts = [verdict(entry) for entry in entries]
    print(f"\n{len(entries)} variants and shapes; global loads and stores: "
          + ", ".join(f"{verdicts.count(each)} {words}" for each, words in IN_WORDS.items() if each in verdicts))
    if not complete:
        return 2
    return 1 if "different" in verdicts else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
