"""The GPUs that times are predicted for: their machine files (common/simt/timing/machines), their roofs, what was measured on them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import results
from results import UserError

ROOT = Path(__file__).resolve().parents[2]
MACHINES = ROOT / "common/simt/timing/machines"
RANGES = ROOT / "common/simt/timing/constants.inc"
LANES = 32


def known() -> list[str]:
    return sorted(path.stem for path in MACHINES.glob("*.json"))


def machine_file(name: str) -> Path:
    """name: of a file in machines/, or a path that ends in .json."""
    if name in known():
        return MACHINES / f"{name}.json"
    if name.endswith(".json"):
        if not Path(name).is_file():
            raise UserError(f"cannot read the machine file {name}: {'it is no file' if Path(name).exists() else 'No such file or directory'}")
        return Path(name)
    raise UserError(f"GPU={name}: it can be {', '.join(known())}, or the path of a machine file, which ends in .json; make probe writes one")


def ranges() -> dict[str, tuple[float, float, bool]]:
    """The constants that a machine file must have, with their least and greatest values, and whether they are whole numbers: what the
    executor checks (machine.cpp)."""
    found = re.findall(r"^(CONSTANT|WHOLE|DRAM_GBS)\((\w+), ([\d.]+), ([\d.]+)\)$", RANGES.read_text(encoding="utf-8"), re.MULTILINE)
    return {("dram_gbs_written_" if macro == "DRAM_GBS" else "") + name: (float(least), float(most), macro == "WHOLE") for macro, name, least, most in found}


def constants(name: str) -> dict:
    """The machine file's numbers by name, and its "name". A file that lacks one, or has one out of range, is refused, in machine.cpp's words."""
    path = machine_file(name)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise UserError(f"{path}: not a machine file: {error}") from None
    if not isinstance(content, dict) or not isinstance(content.get("name"), str):
        raise UserError(f"{path} lacks the GPU's \"name\"")
    found = {"name": content["name"]}
    for key, (least, most, whole) in ranges().items():
        if key not in content:
            raise UserError(f"{path} lacks the constant '{key}'; make probe writes a file that has all")
        constant = content[key] if isinstance(content[key], dict) else {}
        value = constant.get("value")
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise UserError(f"{path}: '{key}' has no number as its \"value\"")
        if not isinstance(constant.get("source"), str):
            raise UserError(f"{path}: '{key}' does not say its \"source\"")
        if not least <= value <= most:
            raise UserError(f"{path}: '{key}' is {value:.9g}; it must lie between {least:.9g} and {most:.9g}")
        if whole and value != int(value):
            raise UserError(f"{path}: '{key}' is {value:.9g}; it must be a whole number")
        found[key] = value
    if found["l1_kib"] < found["shared_kib"]:
        raise UserError(f"{path}: 'l1_kib' is {found['l1_kib']:.9g} and 'shared_kib' {found['shared_kib']:.9g}; the first is L1 and shared memory together, "
                        "so that it must not be less")
    return found


def slug(name: str) -> str:
    """Of file names: "nvidia-h200" for h200, and for a file of make probe, gpu-nvidia-h200.json."""
    return f"nvidia-{name}" if name in known() else machine_file(name).stem.removeprefix("gpu-")


def measured(name: str) -> dict | None:
    """The repository's measurements of the solutions on that GPU, if it has any."""
    path = ROOT / f"plots/results/{slug(name)}.json"
    return results.load(path) if path.is_file() else None


def roofs(name: str) -> dict:
    """As measured on that GPU where the repository has that; else from the machine file: GB/s, GFLOP/s, Gexp/s."""
    recorded = measured(name)
    if recorded and recorded.get("roofs"):
        return {**recorded["roofs"], "source": "measured"}
    gpu = constants(name)
    schedulers_ghz = gpu["clock_ghz"] * gpu["multiprocessors"] * gpu["schedulers"]
    return {"copy_gbs": gpu["dram_gbs_written_50"], "read_gbs": gpu["dram_gbs_written_0"],
            "fma_gflops": 2 * LANES * gpu["fma_rate"] * schedulers_ghz, "exp_gops": LANES * gpu["mufu_rate"] * schedulers_ghz,
            "source": "the machine file"}
