#!/usr/bin/env python3
"""Draws the book's figures: theory/figures/NAME.svg.

    theory/figures.py [NAME ...]        all without arguments
    theory/figures.py --dark FOLDER     all for the dark theme, FOLDER/NAME-dark.svg, as make docs does

What is measured comes from plots/results/*.json, what is counted is computed here by the rules of chapters 3 and 4. After
a new measurement run this again and commit the result.
"""

from __future__ import annotations

import heapq
import sys
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

from measured import ROOT, measured, results  # noqa: E402

FOLDER = ROOT / "theory/figures"
LIGHT = {"paper": "#ffffff", "ink": "#22303c", "faint": "#9aa5ae", "grid": "#e4e8ec"}
DARK = {"paper": "#1c1f23", "ink": "#dde3e8", "faint": "#7d8790", "grid": "#333a41"}
BLUE, GREEN, ORANGE, RED = "#3b8ed0", "#2fa36b", "#dd7a2b", "#cc4b4b"


def bare(axes) -> None:
    axes.axis("off")
    axes.set_aspect("equal")


def box(axes, x, y, w, h, colour, ink, text="", alpha=0.85, size=8) -> None:
    axes.add_patch(plt.Rectangle((x, y), w, h, facecolor=colour, edgecolor=ink, linewidth=0.6, alpha=alpha))
    if text:
        axes.text(x + w / 2, y + h / 2, text, ha="center", va="center", fontsize=size, color=ink)


# ---- 2: sums -------------------------------------------------------------------------------------

def sum_error(t):
    """The relative error of fp32 sums of one 1 and n - 1 times exp(-5): in order, and as 256 partial sums and a tree."""
    widths = [2 ** i for i in range(8, 18)]
    e = np.float32(np.exp(-5.0))
    chain, tree = [], []
    for n in widths:
        exact = 1 + (n - 1) * float(np.exp(-5.0))
        terms = np.full(n, e, dtype=np.float32)
        terms[0] = 1
        chain.append(abs(float(np.cumsum(terms, dtype=np.float32)[-1]) - exact) / exact)
        parts = np.cumsum(terms.reshape(-1, 256), axis=0, dtype=np.float32)[-1]
        while len(parts) > 1:
            parts = parts[:len(parts) // 2] + parts[len(parts) // 2:]
        tree.append(max(abs(float(parts[0]) - exact) / exact, 1e-9))
    figure, axes = plt.subplots(figsize=(7, 3.2))
    axes.loglog(widths, chain, "o-", color=RED, label="one after another")
    axes.loglog(widths, tree, "o-", color=GREEN, label="256 partial sums, then a tree")
    axes.axhline(1e-4, color=t["ink"], linestyle="--", linewidth=1)
    axes.text(widths[0], 1.2e-4, "tolerance", color=t["ink"], fontsize=9)
    axes.set_xlabel("numbers added, fp32 (computed with numpy)")
    axes.set_ylabel("relative error of the sum")
    axes.legend(frameon=False, labelcolor=t["ink"])
    return figure


# ---- 3: sectors ----------------------------------------------------------------------------------

def sectors(t):
    """The sectors that a warp requests: three strides of 4-byte loads."""
    figure, all_axes = plt.subplots(3, 1, figsize=(8, 3.6))
    for axes, (stride, title) in zip(all_axes, [(1, "neighbours"), (2, "every second float"), (8, "every eighth float")]):
        touched = sorted({lane * stride * 4 // 32 for lane in range(32)})
        for sector in range(32):
            box(axes, sector * 8, 0, 8, 5, BLUE if sector in touched else t["paper"], t["faint"], alpha=0.35)
        for lane in range(32):
            axes.add_patch(plt.Rectangle((lane * stride, 0), 1, 5, facecolor=ORANGE, edgecolor="none"))
        axes.set_xlim(-1, 257)
        axes.set_ylim(-1, 12)
        axes.text(0, 7.5, f"{title}: {len(touched)} sectors, {len(touched) * 32} bytes moved for 128", fontsize=10, color=t["ink"])
        axes.axis("off")
    return figure


# ---- 4: banks and the tree -----------------------------------------------------------------------

def wavefronts_of(stride: int) -> int:
    """Wavefronts of a 4-byte load in which lane i reads word i * stride: the most distinct words in one bank."""
    banks: dict[int, set[int]] = {}
    for lane in range(32):
        banks.setdefault(lane * stride % 32, set()).add(lane * stride)
    return max(len(words) for words in banks.values())


def banks(t):
    """Wavefronts against the stride between lanes."""
    strides = list(range(1, 35))
    counts = [wavefronts_of(stride) for stride in strides]
    figure, axes = plt.subplots(figsize=(8, 3))
    axes.bar(strides, counts, color=[GREEN if count == 1 else RED for count in counts])
    axes.set_yscale("log", base=2)
    axes.set_yticks([1, 2, 4, 8, 16, 32], ["1", "2", "4", "8", "16", "32"])
    axes.set_xticks([1, 2, 4, 8, 16, 24, 32, 33])
    axes.set_xlabel("words between neighbouring lanes")
    axes.set_ylabel("wavefronts per load")
    return figure


def tree(t):
    """Eight values folded in half three times."""
    figure, axes = plt.subplots(figsize=(7, 3.2))
    for level, count in enumerate((8, 4, 2, 1)):
        y = -1.7 * level
        for i in range(8):
            box(axes, i, y, 0.8, 0.8, GREEN if i < count else t["paper"], t["ink"] if i < count else t["faint"],
                alpha=0.6 if i < count else 0.3)
        if count > 1:
            for i in range(count // 2):
                for source in (i, i + count // 2):
                    axes.annotate("", (i + 0.4, y - 0.85), (source + 0.4, y), arrowprops={"arrowstyle": "->", "color": t["faint"]})
            axes.text(8.3, y - 0.45, "barrier", fontsize=9, color=RED, va="center")
            axes.plot([-0.2, 8.2], [y - 0.45, y - 0.45], color=RED, linewidth=0.8, linestyle=":")
    axes.set_xlim(-0.5, 9.8)
    axes.set_ylim(-5.5, 1.2)
    bare(axes)
    return figure


# ---- 5: the butterfly ----------------------------------------------------------------------------

def butterfly(t):
    """Eight lanes, three exchanges: afterwards every lane holds the result."""
    figure, axes = plt.subplots(figsize=(7, 3.4))
    for level, distance in enumerate((4, 2, 1, 0)):
        y = -1.8 * level
        for lane in range(8):
            box(axes, lane, y, 0.8, 0.6, BLUE, t["ink"], str(lane) if level == 0 else "", alpha=0.25 + 0.2 * level)
            if distance:
                for source in (lane, lane ^ distance):
                    axes.plot([source + 0.4, lane + 0.4], [y, y - 1.2], color=t["faint"] if source == lane else ORANGE, linewidth=0.9)
        if distance:
            axes.text(8.2, y - 0.6, f"distance {distance}", fontsize=9, color=t["ink"], va="center")
    axes.set_xlim(-0.3, 10)
    axes.set_ylim(-5.8, 1)
    bare(axes)
    return figure


# ---- 6, 8, 9: measured ---------------------------------------------------------------------------

def packs(t):
    """lab 04 on an H200: the same bytes by accesses of 2, 4 and 16 bytes."""
    variants = ["f16", "f16x2", "f16x8"]
    times = [measured("nvidia-h200", f"lab04_f16x8.{v}.f16.4096x4096", "us") for v in variants]
    copy = 4 * 4096 * 4096 / results("nvidia-h200")["roofs"]["copy_gbs"] / 1e3
    figure, axes = plt.subplots(figsize=(7, 2.4))
    axes.barh([f"{v}: {b} bytes per lane" for v, b in zip(variants, (2, 4, 16))], times, color=BLUE)
    axes.axvline(copy, color=t["ink"], linestyle="--", linewidth=1)
    axes.text(copy + 0.3, 2.3, "the bytes at copy speed", fontsize=9, color=t["ink"])
    for i, us in enumerate(times):
        axes.text(us + 0.3, i, f"{us:.1f}", va="center", fontsize=9, color=t["ink"])
    axes.invert_yaxis()
    axes.set_xlabel("us, 4096 x 4096 halves, NVIDIA H200")
    return figure


def in_flight(t):
    """Read bandwidth against bytes in flight, by loads per thread."""
    figure, axes = plt.subplots(figsize=(7, 3.6))
    readings = results("experiments-nvidia-h200")["in_flight"]
    for loads, colour in zip((1, 2, 4, 8), (BLUE, GREEN, ORANGE, RED)):
        line = [r for r in readings if r["loads_a_thread"] == loads]
        axes.plot([r["bytes_an_sm"] / 1024 for r in line], [r["gbs"] for r in line], "o-", color=colour,
                  label=f"{loads} load{'s' if loads > 1 else ''} per thread")
    axes.set_xscale("log", base=2)
    axes.set_xticks([0.5, 2, 8, 32, 128], ["0.5", "2", "8", "32", "128"])
    axes.axhline(results("nvidia-h200")["roofs"]["read_gbs"], color=t["ink"], linestyle="--", linewidth=1)
    axes.set_xlabel("KiB in flight per SM if all loads are under way at once, NVIDIA H200")
    axes.set_ylabel("GB/s read")
    axes.legend(frameon=False, labelcolor=t["ink"])
    return figure


def launches(t):
    """What an empty kernel seems to cost, by how it is timed."""
    launch = results("experiments-nvidia-h200")["launch"]
    names = {"waited_for_us": "launched and waited for", "between_events_us": "between two events",
             "queued_us": "one of 1000 in a row", "in_a_graph_us": "one of 1000 in a graph"}
    figure, axes = plt.subplots(figsize=(7, 2.2))
    axes.barh(list(names.values()), [launch[key] for key in names], color=ORANGE)
    for i, key in enumerate(names):
        axes.text(launch[key] + 0.08, i, f"{launch[key]:.2f}", va="center", fontsize=9, color=t["ink"])
    axes.invert_yaxis()
    axes.set_xlabel("us, an empty kernel, NVIDIA H200")
    return figure


# ---- 7: a threshold ------------------------------------------------------------------------------

def threshold(t):
    """How many of the first n random numbers were among the K largest when they came: drawn once, and expected."""
    rng, width = np.random.default_rng(7), 50_257
    values = rng.standard_normal(width)
    figure, axes = plt.subplots(figsize=(7, 3.2))
    for k, colour in ((5, GREEN), (50, BLUE), (256, ORANGE), (1024, RED)):
        kept: list[float] = []  # the k largest so far, a heap
        passed = np.zeros(width)
        for i, value in enumerate(values):
            if len(kept) < k:
                heapq.heappush(kept, value)
                passed[i] = 1
            elif value > kept[0]:
                heapq.heapreplace(kept, value)
                passed[i] = 1
        at = np.unique(np.logspace(0, np.log10(width), 60).astype(int))
        axes.loglog(at, np.cumsum(passed)[at - 1], color=colour, label=f"K = {k}")
        late = at[at > k]
        axes.loglog(late, k * (1 + np.log(late / k)), color=t["ink"], linestyle=":", linewidth=1)
    axes.set_xlabel("columns read, random order (dotted: K (1 + ln(n / K)))")
    axes.set_ylabel("columns that passed")
    axes.legend(frameon=False, labelcolor=t["ink"])
    return figure


# ---- 10: the parts -------------------------------------------------------------------------------

def parts(t):
    """From a .cu file to a verdict, and where the line of trust runs."""
    figure, axes = plt.subplots(figsize=(8, 3.4))
    for x, y, text, colour in [(0, 3, "kernel.cu", ORANGE), (3.4, 4.2, "g++ (CPU)", t["faint"]),
                               (3.4, 1.8, "nvcc (GPU)", t["faint"]), (7.2, 3, "worker: runs it", ORANGE), (11.2, 4.2, "counters", BLUE),
                               (11.2, 1.8, "output bytes", BLUE), (15, 3, "judge", GREEN)]:
        box(axes, x, y, 3, 1, colour, t["ink"], text, alpha=0.35, size=9)
    for (x1, y1), (x2, y2) in [((3, 3.6), (3.4, 4.6)), ((3, 3.4), (3.4, 2.4)), ((6.4, 4.6), (7.2, 3.6)), ((6.4, 2.4), (7.2, 3.4)),
                               ((10.2, 3.6), (11.2, 4.6)), ((10.2, 3.4), (11.2, 2.4)), ((14.2, 4.6), (15, 3.6)), ((14.2, 2.4), (15, 3.4))]:
        axes.annotate("", (x2, y2), (x1, y1), arrowprops={"arrowstyle": "->", "color": t["ink"]})
    axes.plot([10.7, 10.7], [1, 5.6], color=RED, linestyle="--", linewidth=1)
    axes.text(10.6, 5.75, "not trusted", ha="right", fontsize=9, color=RED)
    axes.text(10.8, 5.75, "trusted", ha="left", fontsize=9, color=RED)
    axes.set_xlim(-0.3, 18.3)
    axes.set_ylim(0.8, 6.3)
    bare(axes)
    return figure


FIGURES = {f.__name__: f for f in (sum_error, sectors, banks, tree, butterfly, packs, threshold, in_flight, launches, parts)}


def draw(name: str, theme: dict, path: Path) -> None:
    settings = {"figure.facecolor": theme["paper"], "axes.facecolor": theme["paper"], "savefig.facecolor": theme["paper"],
                "text.color": theme["ink"], "axes.labelcolor": theme["ink"], "xtick.color": theme["ink"], "ytick.color": theme["ink"],
                "axes.edgecolor": theme["faint"], "grid.color": theme["grid"], "axes.grid": True, "axes.axisbelow": True,
                "axes.spines.top": False, "axes.spines.right": False, "font.size": 10, "svg.hashsalt": name}
    with plt.rc_context(settings):
        figure = FIGURES[name](theme)
        figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
        plt.close(figure)


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--dark"] and len(arguments) == 2:
        for name in FIGURES:
            draw(name, DARK, Path(arguments[1]) / f"{name}-dark.svg")
        return
    for name in arguments or FIGURES:
        if name not in FIGURES:
            sys.exit(f"there is no figure {name}; there are {', '.join(FIGURES)}")
        draw(name, LIGHT, FOLDER / f"{name}.svg")


if __name__ == "__main__":
    main(sys.argv[1:])
