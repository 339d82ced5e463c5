"""The table of the lab whose operator is a step of many tensors, out of plots/results/fusion-*.json."""

from __future__ import annotations

import json
from pathlib import Path

OPERATOR = "swap_ffn"
HEAD = ("| variant | type | ms | launches | how often a weight is requested per step of 32 cores | their footprint, MB | L2 to the SMs, GB | "
        "from DRAM, MB | registers per thread | warps active |\n|---|---|---:|---:|---:|---:|---:|---:|---:|---:|\n")
NOTE = ("A GPU's times and a CPU's are not to be compared: the CPU runs the course's executor, at smaller sizes. Launches and how often "
        "a weight is requested in a step are counted by the executor, which gives a tile 16 cores. What passed between the memories, "
        "registers and active warps are Nsight Compute's, the last two of the kernel that takes longest; empty where it was not asked.")


def sizes_of(entry: dict) -> str:
    s = entry["sizes"]
    return f"{s['cores']} cores, {s['d_model']}-{s['d_ff']}, {s['events']} events of {s['ffn_steps']} steps"


def row(entry: dict) -> str:
    ncu = entry.get("ncu", {})

    def shown(value: float | None, unit: float = 1, form: str = ",.4g") -> str:
        return "" if value is None else format(value / unit, form)

    cells = (f"`{entry['variant']}`", entry["dtype"], shown(entry["seconds"], 1e-3), shown(entry.get("launches")),
             shown(entry.get("weight_reads_a_step_32_cores")), shown(entry["weight_bytes"], 1e6, ",.3g"),
             shown(ncu.get("l2_to_sm_bytes"), 1e9, ",.3g"), shown(ncu.get("dram_read_bytes"), 1e6, ",.0f"), shown(ncu.get("registers")),
             shown(ncu.get("warps_active_pct"), form=".3g") + (" %" if "warps_active_pct" in ncu else ""))
    return "| " + " | ".join(cells) + " |\n"


def table(folder: Path) -> str:
    """Markdown: one table per machine and sizes, a GPU's first, slow variants before fast ones. Empty if nothing was measured."""
    files = [json.loads(path.read_text()) for path in sorted(folder.glob("fusion-*.json"))]
    parts = []
    for result in sorted(files, key=lambda result: (result["backend"] != "cuda", result["machine"])):
        entries = [entry for entry in result["variants"] if entry["source"] == "solution"]
        entries.sort(key=lambda entry: (entry["dtype"], -entry["seconds"]))
        for sizes in sorted({sizes_of(entry) for entry in entries}):
            rows = "".join(row(entry) for entry in entries if sizes_of(entry) == sizes)
            command = f", `{result['command']}`" if "command" in result else ""
            parts.append(f"**{result['machine']}**, {result['date']}{command}, solutions, {sizes}:\n\n{HEAD}{rows}")
    return f"\n\n## Measured\n\n{NOTE}\n\n" + "\n".join(parts) if parts else ""
