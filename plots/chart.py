"""What the two panels of the roofline chart share: the chart itself, the colours, the marks and arrows of its points."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from points import TITLES, is_solution, results

# Okabe and Ito's colours for the colour-blind, darkened where text in them would be too faint on white.
LAB_COLOURS = {"01": "#4D4D4D", "02": "#0072B2", "03": "#00805E", "04": "#C04A00", "05": "#A8437F", "06": "#9A6A00",
               "08": "#5E3C99"}
OTHER_COLOUR = "#B0003A"
MARKERS = {"softmax": ("o", 58), "softmax_topk": ("D", 42)}  # with its size
OTHER_MARKERS = [("s", 46), ("^", 58), ("v", 58), ("P", 58), ("X", 54)]  # of the manifest's other operators, in its order
INK, FAINT = "#222222", "#8A8A8A"
MEMORY, COMPUTE = "#1B3A57", "#8C2D04"  # the two kinds of roof


@dataclass
class Chart:
    """The figure and what stands in it, for the tests: artists in the order of `ladder`, on the roofline of `under_roofs`."""

    figure: object
    ladder: list[dict]
    under_roofs: list[dict]  # those of the ladder that the roofline has
    roofline: object
    steps: object
    markers: list = field(default_factory=list)  # on the roofline, one per point
    step_markers: list = field(default_factory=list)
    spans: list = field(default_factory=list)  # one a counted point, from L1 to footprint
    labels: list = field(default_factory=list)
    arrows: list[tuple[dict, dict, object]] = field(default_factory=list)
    step_arrows: list[tuple[dict, dict, object]] = field(default_factory=list)
    beside: list[dict] = field(default_factory=list)  # of the other kind, without names: measured where the ladder is predicted
    bands: list = field(default_factory=list)  # one a predicted point, on the roofline


def colour_of(point: dict) -> str:
    return LAB_COLOURS.get(point["lab"][3:5], OTHER_COLOUR)


def marker_of(op: str) -> tuple[str, int]:
    others = [each for each in TITLES if each not in MARKERS]
    number = others.index(op) if op in others else len(others)
    return MARKERS.get(op) or OTHER_MARKERS[number % len(OTHER_MARKERS)]


def marker_style(point: dict, scale: float = 1.0) -> dict:
    """Circles for softmax, diamonds for top-K, other marks for other operators, hollow where they are predicted; a hollow star for whatever is not the solution."""
    if not is_solution(point):
        return dict(marker="*", s=170 * scale, facecolors="none", edgecolors=colour_of(point), linewidths=1.5, zorder=8)
    marker, size = marker_of(point["op"])
    if results.is_predicted(point):
        return dict(marker=marker, s=size * scale, facecolors="none", edgecolors=colour_of(point), linewidths=1.3, zorder=7)
    return dict(marker=marker, s=size * scale, facecolors=colour_of(point), edgecolors="white", linewidths=0.8,
                zorder=7)


def in_band(point: dict, height: object) -> list[float]:
    """The least and the most of height(point), a rate, that the band allows; nothing for a measured point."""
    if not results.is_predicted(point):
        return []
    return [height({**point, "seconds": point["predicted"][end]}) for end in ("high", "low")]


def draw_arrow(axes: object, start: tuple, end: tuple, bulge: float) -> object:
    """`bulge`: how far the arrow swings out to the right, in pixels, at least; 0 for a straight one."""
    (x0, y0), (x1, y1) = axes.transData.transform([start, end])
    length = max(math.hypot(x1 - x0, y1 - y0), 1.0)
    least = 0.22 if abs(x1 - x0) < 4 * bulge else 0.12
    bend = min(max(least, 2 * bulge / length), 2.0) * (1 if y1 > y0 else -1) if bulge else 0.0
    style = dict(arrowstyle="-|>,head_length=0.36,head_width=0.18", color=FAINT, linewidth=1.0, shrinkA=3.5,
                 shrinkB=3.5, connectionstyle=f"arc3,rad={bend:.3f}")
    return axes.annotate("", end, start, arrowprops=style, zorder=4)
