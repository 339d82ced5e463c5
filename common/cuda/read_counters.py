#!/usr/bin/env python3
"""Reads a GPU's counters of every variant of some rungs on one shape with Nsight Compute, and prints them as the executor's
counts are printed (common/bench/profile.cpp), one JSON object:
    read_counters.py --rows R --cols C [--k K] RUNG.so...
Exit status 1 if a variant could not be profiled, 2 if nothing could be."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from math import ceil

import ncu

LAUNCH_ONCE = "build/cuda/launch_once"
TIME_LIMIT = 500  # seconds for all variants; one takes about a second


def find_ncu() -> str:
    """The program; like nvcc it may lie in the toolkit's folder and not be on the PATH."""
    places = [shutil.which("ncu"), os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin/ncu")]
    found = next((place for place in places if place and os.access(place, os.X_OK)), None)
    if not found:
        raise ncu.UserError("ncu is not found: install Nsight Compute, which comes with the CUDA toolkit, or put it on the "
                            "PATH. BACKEND=cpu counts on the CPU, without it")
    return found


def run(command: list[str]) -> str:
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=TIME_LIMIT)
    except subprocess.TimeoutExpired:
        raise ncu.UserError(f"ncu was stopped after {TIME_LIMIT} s") from None
    if "ERR_NVGPUCTRPERM" in done.stdout:
        raise ncu.UserError("the driver lets only an administrator read the counters: run this as root, or see "
                            "https://developer.nvidia.com/ERR_NVGPUCTRPERM")
    if done.returncode:
        raise ncu.UserError(f"{command[0]} ended with exit status {done.returncode}; its last lines:\n"
                            + "\n".join(done.stdout.splitlines()[-12:]))
    return done.stdout


def version() -> str:
    return run([find_ncu(), "--version"]).strip().splitlines()[-1]


def read(rungs: list[str], rows: int, cols: int, k: int, kernels: list[str] = []) -> list[dict]:
    """The variants of all rungs in order, each with its report. One that refused the shape has "error" and no launch.
    kernels: names, without arguments, of those to read; all without it."""
    program = find_ncu()
    mark = ncu.MARK.removesuffix("()")
    chosen = ["--kernel-name", f"regex:^({'|'.join([mark, *kernels])})$"] if kernels else []
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report")
        manifest = run([program, "--clock-control", "none", "--metrics", ",".join(ncu.METRICS), "--section", "SourceCounters",
                        *chosen, "--force-overwrite", "--export", report, LAUNCH_ONCE, "--rows", str(rows), "--cols", str(cols),
                        "--k", str(k), *rungs])

        def page(*options: str) -> str:
            return run([program, "--import", report + ".ncu-rep", "--csv", "--print-units", "base", "--page", *options])

        launches = ncu.read_raw(page("raw"))
        # ncu prints some 3 launches per second with all lines of their files: each processor takes a part of them.
        part = ceil(len(launches) / (os.cpu_count() or 1))
        with ThreadPoolExecutor() as threads:
            parts = threads.map(lambda first: ncu.read_source(page("source", "--print-source", "cuda,sass", "--launch-skip", str(first),
                                                                   "--launch-count", str(part))), range(0, len(launches), part))
            sources = [source for part in parts for source in part]
    ncu.join_lines(launches, sources, os.getcwd())
    variants = ncu.by_variant(launches, manifest)
    return [{**variant, "rows": rows, "cols": cols} for variant in variants]


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Read a GPU's counters with Nsight Compute.")
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--cols", type=int, required=True)
    parser.add_argument("--k", type=int, default=50)
    parser.add_argument("rungs", nargs="+")
    options = parser.parse_args(argv)
    try:
        variants = read(options.rungs, options.rows, options.cols, options.k)
    except ncu.UserError as error:
        print(f"profile: {error}", file=sys.stderr)
        return 2
    refused = [variant for variant in variants if variant["error"]]
    for variant in refused:
        print(f"{variant['variant']} {variant['dtype']}: it returned CUDA error {variant['error']} for this shape",
              file=sys.stderr)
    json.dump({"variants": [variant for variant in variants if not variant["error"]]}, sys.stdout)
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
