#!/usr/bin/env python3
"""What Nsight Compute reads of lab 07's variants at the sizes of the course, put into the results that swap_ffn_bench wrote:
    fusion_counters.py RESULTS.json RUNG.so ["VARIANT DTYPE" ...]        runs ncu here (needs a GPU and build/cuda/launch_once)
    fusion_counters.py RESULTS.json --csv "VARIANT DTYPE=FILE.csv" ...   from what `ncu --csv --page raw --print-units base` said
Without names it reads all but `graphed`, whose kernels are those of `unfused`. The results are written anew after each
variant: what one has said is not lost when the next one fails. Caches stay as the kernels leave them (--cache-control none): what a step finds in L2 is part of the question."""

from __future__ import annotations

import csv
import functools
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import ncu
import read_counters

SECTOR = 32
METRICS = {
    "kernel_ns": "gpu__time_duration.sum",
    "dram_read": "dram__bytes_read.sum",
    "dram_written": "dram__bytes_write.sum",
    "l2_to_sm_sectors": "lts__t_sectors_srcunit_tex_op_read.sum",
    "instructions": "smsp__inst_executed.sum",
    "registers": "launch__registers_per_thread",
    "warps_active_pct": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "l2_throughput_pct": "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "sm_throughput_pct": "sm__throughput.avg.pct_of_peak_sustained_elapsed",
}
VARIANTS = [f"{variant} {dtype}" for dtype in ("bf16", "f32") for variant in ("unfused", "fused_per_core", "fused_tiled")]


def kernels(text: str) -> list[dict[str, float]]:
    """One entry a launch, marks left out, in the order of launching."""
    rows = [row for row in csv.reader(io.StringIO("".join(line + "\n" for line in text.splitlines() if line.startswith('"'))))]
    if len(rows) < 3 or "Kernel Name" not in rows[0]:
        raise ncu.UserError("ncu printed no table of kernels")
    head, units = rows[0], rows[1]
    if units[head.index(METRICS["dram_read"])] != "byte":
        raise ncu.UserError("the bytes are not in bytes; ncu needs --print-units base")
    found = []
    for cells in rows[2:]:
        row = dict(zip(head, cells))
        if row["Kernel Name"] == ncu.MARK:
            continue
        found.append({"name": row["Kernel Name"], **{key: float((row[metric] or "0").replace(",", "")) for key, metric in METRICS.items()}})
    if not found:
        raise ncu.UserError("no kernel was launched; does the rung have this variant, and does it run on this GPU?")
    return found


def summary(launches: list[dict[str, float]]) -> dict:
    """Sums over the launches; what is no sum is that of the kernel that takes longest, all its launches together."""
    total = lambda key: round(sum(launch[key] for launch in launches))
    times: dict[str, float] = {}
    for launch in launches:
        times[launch["name"]] = times.get(launch["name"], 0) + launch["kernel_ns"]
    longest = max(times, key=lambda name: times[name])
    mine = [launch for launch in launches if launch["name"] == longest]
    mean = lambda key: round(sum(launch[key] for launch in mine) / len(mine), 1)
    return {"launches": len(launches), "kernel_us": round(total("kernel_ns") / 1e3, 1), "dram_read_bytes": total("dram_read"),
            "dram_written_bytes": total("dram_written"), "l2_to_sm_bytes": total("l2_to_sm_sectors") * SECTOR,
            "instructions": total("instructions"), "longest_kernel": longest.split("(")[0], "longest_kernel_launches": len(mine),
            "longest_kernel_us": round(times[longest] / 1e3, 1), "registers": int(mean("registers")),
            "warps_active_pct": mean("warps_active_pct"), "l2_throughput_pct": mean("l2_throughput_pct"),
            "sm_throughput_pct": mean("sm_throughput_pct")}


def read(rung: str, variant: str) -> str:
    return read_counters.run([read_counters.find_ncu(), "--clock-control", "none", "--cache-control", "none", "--metrics",
                              ",".join(METRICS.values()), "--csv", "--page", "raw", "--print-units", "base",
                              read_counters.LAUNCH_ONCE, "--rows", "512", "--cols", "1024", "--only", variant, rung])


def entry_of(results: dict, name: str) -> dict:
    """The solution's entry of "VARIANT DTYPE" at the sizes of the course."""
    for entry in results["variants"]:
        if (entry["source"], f"{entry['variant']} {entry['dtype']}", entry["sizes"]["cores"]) == ("solution", name, 512):
            return entry
    raise ncu.UserError(f"the results have no {name} at the sizes of the course: measure it first")


def write(path: Path, results: dict) -> None:
    beside = path.with_name(f"{path.name}.tmp{os.getpid()}")
    beside.write_text(json.dumps(results, indent=1) + "\n")
    beside.replace(path)


def main(arguments: list[str]) -> int:
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    path, name = Path(arguments[0]), ""
    try:
        results = json.loads(path.read_text())
        if arguments[1] == "--csv":
            texts = {name: Path(file).read_text for name, _, file in (entry.partition("=") for entry in arguments[2:])}
        else:
            texts = {name: functools.partial(read, arguments[1], name) for name in arguments[2:] or VARIANTS}
        for name, text in texts.items():
            entry = entry_of(results, name)
            entry["ncu"] = summary(kernels(text()))
            write(path, results)
            print(f"{name}: {entry['ncu']['launches']} launches, {entry['ncu']['kernel_us']:,} us", flush=True)
    except (ncu.UserError, OSError, LookupError, TypeError, ValueError, subprocess.SubprocessError) as error:
        print(f"fusion_counters: {path}: {name + ': ' if name else ''}{error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
