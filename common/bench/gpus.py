"""The GPUs that times are predicted for: their machine files (common/simt/timing/machines), their roofs, what was measured on them."""

from __future__ import annotations

import json
from pathlib import Path

import results
from results import UserError

ROOT = Path(__file__).resolve().parents[2]
MACHINES = ROOT / "common/simt/timing/machines"
LANES = 32


def known() -> list[str]:
    return sorted(path.stem for path in MACHINES.glob("*.json"))


def machine_file(name: str) -> Path:
    """name: of a file in machines/, or a path that ends in .json."""
    if name in known():
        return MACHINES / f"{name}.json"
    if name.endswith(".json") and Path(name).is_file():
        return Path(name)
    raise UserError(f"there is no GPU '{name}'; there are: {', '.join(known())}, or the path of a machine file")


def constants(name: str) -> dict:
    """The machine file's numbers by name, and its "name". The executor checks their ranges."""
    path = machine_file(name)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return {key: value["value"] if isinstance(value, dict) else value for key, value in content.items()}
    except (ValueError, KeyError, AttributeError, OSError) as error:
        raise UserError(f"{path}: not a machine file: {error}") from None


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
    if "fma_rate" not in gpu:
        raise UserError(f"{machine_file(name)} lacks the constant 'fma_rate'; make probe writes one that has it")
    schedulers_ghz = gpu["clock_ghz"] * gpu["multiprocessors"] * gpu["schedulers"]
    return {"copy_gbs": gpu["dram_gbs_written_50"], "read_gbs": gpu["dram_gbs_written_0"],
            "fma_gflops": 2 * LANES * gpu["fma_rate"] * schedulers_ghz, "exp_gops": LANES * gpu["mufu_rate"] * schedulers_ghz,
            "source": "the machine file"}
