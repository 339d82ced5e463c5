#!/usr/bin/env python3
"""What Nsight Compute reads of lab 07's variants at the sizes of the course, put into the results that swap_ffn_bench wrote:
    fusion_counters.py RESULTS.json RUNG.so                    runs ncu here (needs a GPU and build/cuda/launch_once)
    fusion_counters.py RESULTS.json --csv "VARIANT DTYPE=FILE.csv" ...   from what `ncu --csv --page raw --print-units base` said
Caches stay as the kernels leave them (--cache-control none): what a step finds in L2 is part of the question."""

from __future__ import annotations

import csv
import io
import json
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
VARIANTS = ("unfused bf16", "fused_per_core bf16", "fused_tiled bf16")


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


def main(arguments: list[str]) -> int:
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    path = Path(arguments[0])
    try:
        results = json.loads(path.read_text())
        if arguments[1] == "--csv":
            texts = {name: Path(file).read_text() for name, _, file in (entry.partition("=") for entry in arguments[2:])}
        else:
            texts = {variant: read(arguments[1], variant) for variant in VARIANTS}
        for name, text in texts.items():
            variant, dtype = name.split()
            entry = next((e for e in results["variants"] if (e["source"], e["variant"], e["dtype"]) == ("solution", variant, dtype)
                          and e["sizes"]["cores"] == 512), None)
            if not entry:
                raise ncu.UserError(f"{path} has no {name} at the sizes of the course: measure it first")
            entry["ncu"] = summary(kernels(text))
    except (ncu.UserError, OSError, ValueError, subprocess.SubprocessError) as error:
        print(f"fusion_counters: {error}", file=sys.stderr)
        return 2
    path.write_text(json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
