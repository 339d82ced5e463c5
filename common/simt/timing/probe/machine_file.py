#!/usr/bin/env python3
"""Makes a machine file out of what `probe` measured on a GPU: machine_file.py PROBED.json --output plots/local/gpu-x.json

The model's constants were made to fit an H200. So a constant here is the H200's times what the probe reads on this GPU over what it read
on an H200 (plots/results/probe-nvidia-h200.json). Where the two read the same, the constant is the H200's. What the device says of
itself (multiprocessors, registers, ...) is taken as it is. What cannot be probed is taken over from the H200, and its source says so.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
BASE = ROOT / "common/simt/timing/machines/h200.json"
REFERENCE = ROOT / "plots/results/probe-nvidia-h200.json"
# L1 and shared memory of a multiprocessor in KiB, by compute capability: CUDA C++ Programming Guide.
L1_KIB = {"7.0": 128, "7.5": 96, "8.0": 192, "8.6": 128, "8.7": 192, "8.9": 128, "9.0": 256, "10.0": 256, "12.0": 128}
UNPROVEN_BAND = 2.0  # of a GPU on which no launch was held against its prediction


class UserError(Exception):
    pass


def load(path: Path) -> dict:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: cannot be read: {error}") from None


def machine_file(probed: dict, reference: dict, base: dict) -> dict:
    """By the names of `base`; every constant with its source."""
    if probed["capability"] not in L1_KIB:
        raise UserError(f"compute capability {probed['capability']}: how much L1 it has is not known; add it to L1_KIB")
    measured, on_h200, properties = probed["measured"], reference["measured"], probed["properties"]
    made: dict = {"name": probed["machine"]}
    for name, constant in base.items():
        if name == "name":
            continue
        if name in properties:
            made[name] = {"value": round(properties[name], 4), "source": "measured", "by": "cudaDeviceProp"}
        elif name == "l1_kib":
            made[name] = {"value": L1_KIB[probed["capability"]], "source": "data sheet", "by": "CUDA C++ Programming Guide"}
        elif name == "band":
            made[name] = {"value": UNPROVEN_BAND, "source": "assumed", "by": "no launch on this GPU was held against its prediction"}
        elif name in measured:
            value = constant["value"] * measured[name] / on_h200[name]
            made[name] = {"value": float(f"{value:.4g}"), "source": "measured",
                          "by": f"make probe, {probed['date']}: reads {measured[name]:.4g}, and {on_h200[name]:.4g} on an H200"}
        else:
            made[name] = {**constant, "source": "taken over", "by": "the H200's"}
    return made


def table(probed: dict, reference: dict) -> list[str]:
    names = sorted({*probed["measured"], *reference["measured"]})
    rows = [("measured", "here", "H200")] + [(name.replace(" (not in the model as such)", " *"), f"{probed['measured'].get(name, float('nan')):.4g}",
                                              f"{reference['measured'].get(name, float('nan')):.4g}") for name in names]
    width = max(len(row[0]) for row in rows)
    return [f"{a.ljust(width)} {b.rjust(10)} {c.rjust(10)}" for a, b, c in rows] + ["*: measured, but no constant of the model"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("probed", type=Path)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    try:
        probed, reference = load(options.probed), load(REFERENCE)
        made = machine_file(probed, reference, load(BASE))
        options.output.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print("\n".join(table(probed, reference)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
