"""Lab 07's variants on a roofline, one panel per type: a dot at the FLOP per byte that the SMs fetch from L2, a tick at those a byte
that DRAM delivers. Each name says what was fetched, in bytes and as how many times all weights of an FFN step, each step."""

from __future__ import annotations

import json
from pathlib import Path

from chart import COMPUTE, FAINT, INK, MEMORY
from places import spread

try:
    import matplotlib
    from matplotlib.figure import Figure
except ImportError:
    matplotlib = None

COLOURS = {"unfused": "#0072B2", "graphed": "#00805E", "fused_per_core": "#C04A00", "fused_tiled": "#A8437F"}
LINE = 13  # points, from one line of a name to the next


def time_of(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.3g} us"


def bytes_of(count: float | None) -> str:
    if count is None:
        return ""
    return f"{count / 1e9:.3g} GB" if count >= 1e9 else f"{count / 1e6:.3g} MB"


def weight_reads(variant: dict, fetched: float) -> float:
    """How many times all weights of an FFN step would make the bytes that were fetched, a step. Activations are in it, too."""
    steps = variant["sizes"]["events"] * variant["sizes"]["ffn_steps"]
    return fetched / (variant["weight_bytes"] * steps)


def drawable(results: dict, dtype: str) -> list[dict]:
    """The solution's variants of a type that have counts; `graphed` has those of `unfused` at the same sizes, whose kernels it launches."""
    mine = [v for v in results["variants"] if v["source"] == "solution" and v["dtype"] == dtype]
    counts = {json.dumps(v["sizes"]): v["ncu"] for v in mine if v["variant"] == "unfused" and "ncu" in v}
    lent = [{**v, "ncu": counts[json.dumps(v["sizes"])]} for v in mine
            if v["variant"] == "graphed" and "ncu" not in v and json.dumps(v["sizes"]) in counts]
    return [v for v in mine if "ncu" in v] + lent


def place_of(v: dict) -> tuple[float, float, float]:
    """FLOP per byte from L2, FLOP per byte from DRAM, TFLOP/s."""
    return (v["flops"] / max(v["ncu"]["l2_to_sm_bytes"], 1), v["flops"] / max(v["ncu"]["dram_read_bytes"], 1),
            v["flops"] / v["seconds"] / 1e12)


def note_of(v: dict) -> str:
    fetched = v["ncu"]["l2_to_sm_bytes"]
    return (f"{v['variant']}, {time_of(v['seconds'])}\n"
            f"{bytes_of(fetched)} from L2: {weight_reads(v, fetched):.3g} x the weights, a step")


def put_names(axes: object, variants: list[dict]) -> None:
    """The names, in a column right of the panel, each as near as can be to the height of its variant and joined to it by a line."""
    upwards = sorted(variants, key=lambda v: place_of(v)[2])
    points = 72 / axes.figure.dpi
    (left, bottom), (right, top) = axes.bbox.get_points() * points
    heights = [axes.transData.transform(place_of(v)[1:])[1] * points for v in upwards]
    for v, height in zip(upwards, spread(heights, 2.4 * LINE, bottom + LINE, top - LINE)):
        from_l2, from_dram, y = place_of(v)
        axes.annotate(note_of(v), (max(from_l2, from_dram), y), xytext=(right - left + 8, height - bottom), textcoords="axes points",
                      color=COLOURS.get(v["variant"], INK), fontsize=8.5, ha="left", va="center",
                      arrowprops=dict(arrowstyle="-", color=FAINT, linewidth=0.6, shrinkA=2, shrinkB=6))


def draw_panel(axes: object, variants: list[dict], dtype: str, roofs: dict) -> None:
    for v in variants:
        from_l2, from_dram, height = place_of(v)
        colour = COLOURS.get(v["variant"], INK)
        axes.plot([from_l2, from_dram], [height, height], color=colour, linewidth=1, alpha=0.6)
        axes.plot([from_l2], [height], "o", color=colour, markersize=8)
        axes.plot([from_dram], [height], "|", color=colour, markersize=12)
    left, right = axes.get_xlim()
    bottom, _ = axes.get_ylim()
    if roofs.get("read_gbs"):
        slope = roofs["read_gbs"] / 1e3
        low = max(left, bottom / slope)
        axes.plot([low, right], [low * slope, right * slope], color=MEMORY, linewidth=1.6)
        axes.annotate(f"DRAM, {roofs['read_gbs']:,.0f} GB/s read", (low * 1.3, low * 1.3 * slope), xytext=(10, 0),
                      textcoords="offset points", color=MEMORY, fontsize=8.5, ha="left", va="center")
    if dtype == "f32" and roofs.get("fma_gflops"):
        roof = roofs["fma_gflops"] / 1e3
        axes.plot([left, right], [roof, roof], color=COMPUTE, linewidth=1.6)
        axes.annotate(f"fp32, {roof:,.1f} TFLOP/s", (left, roof), xytext=(4, 3), textcoords="offset points", color=COMPUTE, fontsize=8.5,
                      ha="left", va="bottom")
    axes.set_title(dtype, loc="left", fontsize=10, fontweight="bold")
    axes.set_ylabel("TFLOP/s")
    put_names(axes, variants)


def figure_of(results: dict, roofs: dict) -> object | None:
    """None where no variant has counts of a GPU. roofs: of the same machine, read_gbs and fma_gflops, as far as there are any."""
    panels = {dtype: variants for dtype in ("f32", "bf16") if (variants := drawable(results, dtype))}
    if not panels:
        return None
    matplotlib.rcParams.update({"font.family": "DejaVu Sans", "font.size": 9.5, "svg.hashsalt": "ladder", "axes.spines.top": False,
                                "axes.spines.right": False, "text.color": INK, "axes.labelcolor": INK})
    inches = 0.6 + 3.6 * len(panels)
    figure = Figure(figsize=(9.6, inches))
    figure.subplots_adjust(left=0.08, right=0.66, bottom=0.5 / inches, top=1 - 0.7 / inches, hspace=0.25)
    places = [place_of(v) for variants in panels.values() for v in variants]
    intensities, heights = [x for *both, _ in places for x in both], [y for *_, y in places]
    all_axes = figure.subplots(len(panels), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    all_axes[0].set(xscale="log", yscale="log", xlim=(min(intensities) / 3, max(intensities) * 3),
                    ylim=(min(heights) / 4, max(heights) * 4))
    for axes, (dtype, variants) in zip(all_axes, panels.items()):
        draw_panel(axes, variants, dtype, roofs)
    all_axes[-1].set_xlabel("FLOP per byte: from L2 to the SMs (dot), from DRAM (tick)")
    s = next(iter(panels.values()))[0]["sizes"]
    figure.suptitle(f"{results['machine']}: a decode step of {s['cores']} cores, {s['d_model']}-{s['d_ff']}", fontsize=10.5, x=0.37,
                    y=1 - 0.2 / inches)
    return figure


def draw(results: dict, roofs: dict, out: Path) -> bool:
    """False where there is nothing to draw."""
    figure = figure_of(results, roofs)
    if not figure:
        return False
    figure.savefig(out, bbox_inches="tight", metadata={"Date": None})
    return True
