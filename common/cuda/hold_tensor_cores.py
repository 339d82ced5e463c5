#!/usr/bin/env python3
"""Holds the executor's tensor cores and approximate instructions against a GPU's: hold_tensor_cores.py [--arch sm_90].

Builds tensor_core_values.cu by nvcc and by simtcc, runs both, and says for each instruction how many results are equal and how
far apart the others are, in units of the last place and relative to the largest result. Without a GPU it stops.
"""

from __future__ import annotations

import argparse
import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "common/cuda/tensor_core_values.cu"
INTEGERS = {"s8_k32"}


def values(command: list) -> dict[str, list[int]]:
    run = subprocess.run(command, text=True, stdout=subprocess.PIPE)
    if run.returncode:
        sys.exit(f"{command[0]} failed with status {run.returncode}: is there a GPU?")
    found: dict[str, list[int]] = {}
    for line in run.stdout.splitlines():
        name, _, bits = line.split()
        found.setdefault(name, []).append(int(bits, 16))
    return found


def as_float(bits: int) -> float:
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def ordered(bits: int) -> int:
    """Neighbouring floats have neighbouring numbers."""
    return bits if bits < 1 << 31 else (1 << 31) - bits


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--nvcc", default=os.environ.get("NVCC", "nvcc"))
    parser.add_argument("--keep", metavar="FOLDER", help="keep both outputs here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        gpu, cpu = Path(folder, "gpu"), Path(folder, "cpu")
        subprocess.run([options.nvcc, "-std=c++17", f"-arch={options.arch}", PROGRAM, "-o", gpu], check=True)
        subprocess.run([sys.executable, ROOT / "common/simt/simtcc", PROGRAM, "-o", cpu], check=True)
        ours, theirs = values([cpu]), values([gpu])
    if options.keep:
        for name, found in [("gpu", theirs), ("cpu", ours)]:
            Path(options.keep, f"tensor_cores-{name}.txt").write_text(
                "".join(f"{one} {i} {bits:08x}\n" for one, all_ in found.items() for i, bits in enumerate(all_)))
    print(f"{'instruction':16} results   equal   largest difference: last places, of the largest result")
    unequal_integers = 0
    for name, expected in theirs.items():
        found = ours[name]
        equal = sum(a == b for a, b in zip(expected, found))
        if name in INTEGERS:
            unequal_integers += len(expected) - equal
            print(f"{name:16} {len(expected):7} {equal:7}")
            continue
        apart = max(abs(ordered(a) - ordered(b)) for a, b in zip(expected, found))
        largest = max(abs(as_float(bits)) for bits in expected)
        relative = max(abs(as_float(a) - as_float(b)) for a, b in zip(expected, found)) / largest
        print(f"{name:16} {len(expected):7} {equal:7}   {apart:8}   {relative:.2e}")
    return 1 if unequal_integers else 0


if __name__ == "__main__":
    sys.exit(main())
