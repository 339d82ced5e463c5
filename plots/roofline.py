#!/usr/bin/env python3
"""Draws the roofline of one machine out of its results file: `roofline.py plots/results/<machine>.json`.

Left: each variant under the roofs measured on that machine, from its sector bytes (dot) to its footprint
(tick). Right: the variants in ladder order. Whatever was not measured is not drawn. Where there is softmax, other operators stand on
the right alone (points.on_roofline).
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

import chart_files
from chart import COMPUTE, INK, MEMORY, Chart, colour_of, draw_arrow, in_band, marker_style
from ladder_panel import draw_steps
from places import below, spread, uncrossed
from points import (COLS, FLOP_PER_ELEMENT, LADDER, UserError, arrow_pairs, flop_per_element, footprint_intensity, gflops, intensity,
                    bought, is_crowded, is_solution, name_of, named, on_roofline, operators_of, results, same_rungs, select, title_of)

try:
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.patheffects import withStroke
    from matplotlib.ticker import FuncFormatter
except ImportError:
    matplotlib = None

FONT = {"font.family": "DejaVu Sans", "font.size": 9.5, "svg.hashsalt": "ladder", "axes.spines.top": False,
        "axes.spines.right": False, "axes.edgecolor": "#555555", "text.color": INK, "axes.labelcolor": INK}
LINE, TIGHT_LINE = 13.5, 11.5  # points from name to name: as it should be, at least
KEY_LINE = 15  # points that a line of the key takes, about
INCHES = (12.0, 6.75)  # 1200 x 675 pixels at 100 dpi


# ---- the roofline panel -------------------------------------------------------------------------------------------


def x_limits(ladder: list[dict], roofs: dict) -> tuple[float, float]:
    """From left of the points to right of the names and of the ridge, where the FMA roof lies flat."""
    right = max(map(footprint_intensity, ladder))
    return min(map(intensity, ladder)) / 4, max(right * (90 if is_crowded(ladder) else 30), roofs["fma_gflops"] / roofs["copy_gbs"] * 3.5)


def y_limits(ladder: list[dict], roofs: dict, height: float) -> tuple[float, float]:
    """With room for all names under the exp roof; `height`: of the panel, in points."""
    top = max(*map(gflops, ladder), roofs["fma_gflops"], FLOP_PER_ELEMENT * roofs["exp_gops"])
    bottom = min(*map(gflops, ladder), FLOP_PER_ELEMENT * roofs["exp_gops"])
    bottom, top = min(bottom / 4, top / 2000), top * 2.5
    share = min((TIGHT_LINE * len(ladder) + 2 * LINE) / height, 0.8)
    log_exp = math.log(FLOP_PER_ELEMENT * roofs["exp_gops"])
    return min(bottom, math.exp((log_exp - share * math.log(top)) / (1 - share))), top


def halo() -> list:
    return [withStroke(linewidth=3, foreground="white")]


def draw_roofs(chart: Chart, roofs: dict) -> None:
    """Bandwidths as slanted lines up to the FMA roof, the two instruction rates as flat ones."""
    axes = chart.roofline
    left, right = axes.get_xlim()
    fma, exp = roofs["fma_gflops"], FLOP_PER_ELEMENT * roofs["exp_gops"]
    bandwidths = sorted([("copy", roofs["copy_gbs"]), ("read", roofs["read_gbs"])], key=lambda roof: roof[1])
    fastest = bandwidths[-1][1]
    edge = [left, min(fma / roofs["copy_gbs"], right), right]
    axes.fill_between(edge, axes.get_ylim()[0], [min(x * roofs["copy_gbs"], fma) for x in edge], color="#F4F7FB",
                      linewidth=0, zorder=0)
    for name, gbs in bandwidths:
        ridge = min(fma / gbs, right)
        axes.plot([left, ridge], [left * gbs, ridge * gbs], color=MEMORY, linewidth=1.8,
                  linestyle="-" if name == "copy" else (0, (5, 2)), zorder=2)
    flats = sorted([(fma, f"FP32 FMA peak: {results.three_digits(fma)} GFLOP/s", "-"),
                    (exp, f"softmax's exp roof: {FLOP_PER_ELEMENT} x {results.three_digits(roofs['exp_gops'])} Gexp/s",
                     (0, (1, 1.2)))])
    for (height, text, style), above in zip(flats, (False, True)):
        axes.plot([max(left, height / fastest), right], [height, height], color=COMPUTE, linewidth=1.8,
                  linestyle=style, zorder=2)
        chart.labels.append(axes.annotate(text, (right, height), (-2, 4 if above else -4), fontsize=9, color=COMPUTE,
                                          textcoords="offset points", ha="right", va="bottom" if above else "top",
                                          path_effects=halo(), zorder=6))


def label_bandwidths(chart: Chart, roofs: dict) -> None:
    """Names along the two slanted roofs, the faster above its line and the slower below, where most room is left."""
    axes = chart.roofline
    pixel = chart.figure.dpi / 72
    (slower, slow), (faster, fast) = sorted([("copy", roofs["copy_gbs"]), ("read", roofs["read_gbs"])],
                                            key=lambda roof: roof[1])
    texts = [(f"{slower} {results.three_digits(slow)} GB/s", slow, -4), (f"{faster} {results.three_digits(fast)} GB/s",
                                                                         fast, 4)]
    left, bottom = axes.get_xlim()[0], axes.get_ylim()[0]
    begin, end = axes.transData.transform([(max(left, bottom / slow), max(left, bottom / slow) * slow),
                                           (roofs["fma_gflops"] / fast, roofs["fma_gflops"])])
    length = math.hypot(end[0] - begin[0], end[1] - begin[1])
    angle = math.atan2(end[1] - begin[1], end[0] - begin[0])
    size = 5.6 * pixel * max(len(text) for text, _, _ in texts)
    taken = obstacles(chart, roofs)

    def room(start: float) -> float:
        along = [start + size * i / 8 for i in range(9)]
        spots = [(begin[0] + a * math.cos(angle), begin[1] + a * math.sin(angle)) for a in along]
        return min((math.dist(spot, other) for spot in spots for other in taken), default=0.0)

    first, last = 6 * pixel, max(length - size - 6 * pixel, 6 * pixel)
    start = max((first + (last - first) * i / 60 for i in range(61)), key=room)
    x = axes.transData.inverted().transform((begin[0] + start * math.cos(angle), begin[1]))[0]
    for text, gbs, off in texts:
        shift = (-off * math.sin(angle), off * math.cos(angle))
        chart.labels.append(axes.annotate(text, (x, x * gbs), shift, textcoords="offset points", ha="left", fontsize=9,
                                          rotation=math.degrees(angle), rotation_mode="anchor", color=MEMORY,
                                          va="top" if off < 0 else "bottom", path_effects=halo(), zorder=6))


def obstacles(chart: Chart, roofs: dict) -> list[tuple[float, float]]:
    """In pixels, dense enough to keep clear of: points and their lines, names, the key, the flat roofs."""
    axes = chart.roofline
    pixel = chart.figure.dpi / 72
    to_pixels = axes.transData.transform
    taken = []
    for point in chart.under_roofs:
        (x0, y), (x1, _) = to_pixels([(intensity(point), gflops(point)), (footprint_intensity(point), gflops(point))])
        taken += [(x0 + (x1 - x0) * i / 20, y) for i in range(21)]
    for label in chart.labels:
        if label.axes is axes:
            x, y = to_pixels(label.xy)
            side = -1 if label.get_ha() == "right" else 1
            taken += [(x + side * 5.6 * pixel * i, y) for i in range(len(label.get_text()) + 1)]
    box = axes.get_window_extent()
    key_height = KEY_LINE * (len(key_of(chart)) + 1 + 2 * is_crowded(chart.under_roofs))
    taken += [(box.x0 + dx * pixel, box.y1 - dy * pixel) for dx in range(0, 200, 15) for dy in range(0, key_height, 15)]
    for height in (roofs["fma_gflops"], FLOP_PER_ELEMENT * roofs["exp_gops"]):
        x, y = to_pixels((max(height / roofs["read_gbs"], axes.get_xlim()[0]), height))
        taken += [(x + dx * pixel, y) for dx in range(0, 60, 10)]
    return taken


def label_of(point: dict, ladder: list[dict]) -> str:
    """Its name; with a star where others are counted and it is not."""
    mixed = any(map(results.is_counted, ladder)) and not results.is_counted(point)
    return name_of(point, ladder) + ("*" if mixed else "")


def full_label(point: dict, chart: Chart) -> str:
    """With its lab and what that bought, where only one point of each lab has a name."""
    label = label_of(point, chart.ladder)
    if not is_crowded(chart.under_roofs) or point not in named(chart.under_roofs):
        return label
    return f"{point['lab'].removeprefix('lab').split('_')[0]} {label}{bought(point, named(chart.under_roofs))}"


def draw_labels(chart: Chart, roofs: dict) -> None:
    """Names below the line from dot to tick where it is long enough, else in a column on the right with leader lines."""
    axes = chart.roofline
    pixel = chart.figure.dpi / 72

    def has_long_line(point: dict) -> bool:
        ends = axes.transData.transform([(intensity(point), 1), (footprint_intensity(point), 1)])
        return ends[1][0] - ends[0][0] > max(85, 12 + 6 * len(full_label(point, chart))) * pixel

    shown = named(chart.under_roofs)
    own_line = sorted(filter(has_long_line, shown), key=gflops, reverse=True)
    column = [point for point in shown if not has_long_line(point)]
    lines = [axes.transData.transform((1, gflops(point)))[1] for point in own_line]
    for point, y in zip(own_line, below(lines, 8 * pixel, LINE * pixel)):
        draw_label(chart, point, intensity(point), axes.transData.inverted().transform((0, y))[1], 5)
    x = max(map(footprint_intensity, chart.under_roofs)) * 2
    draw_label_column(chart, column, x, ceilings=[FLOP_PER_ELEMENT * roofs["exp_gops"], x * roofs["copy_gbs"]])


def draw_label(chart: Chart, point: dict, x: float, y: float, offset: float) -> None:
    chart.labels.append(chart.roofline.annotate(
        full_label(point, chart), (x, y), (offset, 0), ha="left", va="center", textcoords="offset points",
        fontsize=9, color=colour_of(point), fontweight="normal" if is_solution(point) else "bold",
        path_effects=halo(), zorder=6))


def draw_label_column(chart: Chart, points: list[dict], x: float, ceilings: list[float]) -> None:
    """The names stay below the ceilings, where there is room for all of them."""
    axes = chart.roofline
    points = sorted(points, key=gflops)
    to_pixels, to_data = axes.transData, axes.transData.inverted()
    wanted = [to_pixels.transform((1, gflops(point)))[1] for point in points]
    low, high = (to_pixels.transform((1, y))[1] for y in axes.get_ylim())
    line = LINE * chart.figure.dpi / 72
    for ceiling in ceilings:
        height = to_pixels.transform((1, ceiling))[1]
        if height - low > 2 * line + TIGHT_LINE / LINE * line * (len(points) - 0.5):
            high = min(high, height - line)
    starts = [tuple(to_pixels.transform((footprint_intensity(point), gflops(point)))) for point in points]
    places = spread(wanted, line, low + line, high - line)
    for point, y_pixels in zip(points, uncrossed(starts, to_pixels.transform((x, 1))[0], places)):
        y = to_data.transform((0, y_pixels))[1]
        axes.plot([footprint_intensity(point), x], [gflops(point), y], color="#B5B5B5", linewidth=0.7, zorder=3)
        draw_label(chart, point, x, y, 3)


def key_of(chart: Chart) -> list[tuple[str, dict]]:
    """(text, an example) for each kind of point that is there."""
    solutions = [point for point in chart.ladder if is_solution(point)]
    shown = operators_of(chart.under_roofs)
    key = [(title_of(op) + ("" if op in shown else " (on the right)"), next(point for point in solutions if point["op"] == op))
           for op in operators_of(solutions)]
    return key + [("yours", point) for point in chart.ladder if not is_solution(point)][:1]


def draw_key(chart: Chart) -> None:
    """What the shapes of the points mean; above the roofs, where no point can be."""
    handles = [chart.roofline.scatter([], [], label=text, **marker_style(example if "(" in text else dict(example, lab="lab01"), 0.7))
               for text, example in key_of(chart)]
    chart.roofline.legend(handles=handles, loc="upper left", fontsize=9, frameon=False, handletextpad=0.3, alignment="left", title_fontsize=8,
                          title="names: each lab's fastest;\n1.2x: over the lab before" if is_crowded(chart.under_roofs) else None)


def flop_words(points: list[dict]) -> str:
    """ "5 FLOP per element", or "softmax 5, RMSNorm 4 FLOP per element"."""
    each = {op: f"{flop_per_element(next(point for point in points if point['op'] == op)):g}" for op in operators_of(points)}
    if len(set(each.values())) > 1:
        # Top-K's are softmax's.
        named = [f"{title_of(op)} {flop}" for op, flop in each.items() if op != "softmax_topk" or each.get("softmax") != flop]
        return ", ".join(named) + " FLOP per element"
    return f"{next(iter(each.values()))} FLOP per element"


def x_title(points: list[dict]) -> str:
    counted = sum(map(results.is_counted, points))
    work = flop_words(points)
    if not counted:
        topk = "; top-K: one read, 8 bytes x K written" if any(point["op"] == "softmax_topk" for point in points) else ""
        return f"nominal intensity, FLOP/byte; no bytes were counted\n({work} over one read and one write{topk})"
    title = (f"intensity, FLOP/byte: {work} over counted bytes\n"
             "dot: sector bytes, 32 per sector of each request; tick: footprint, each sector once")
    return title if counted == len(points) else title + "; *: nominal, not counted"


def draw_span(axes: object, point: dict) -> object:
    """The thin line from the dot at the L1 intensity to a tick at the footprint intensity."""
    span, = axes.plot([intensity(point), footprint_intensity(point)], [gflops(point)] * 2, color=colour_of(point),
                      linewidth=1.0, marker="|", markersize=6.5, markevery=[1], markeredgewidth=1.2, zorder=5)
    return span


def draw_band(chart: Chart, point: dict) -> None:
    """An error bar: what a prediction's band allows."""
    if ends := in_band(point, gflops):
        band, = chart.roofline.plot([intensity(point)] * 2, ends, color=colour_of(point), linewidth=1.0, alpha=0.6, marker="_", markersize=4, zorder=5)
        chart.bands.append(band)


def draw_roofline(chart: Chart, roofs: dict) -> None:
    axes = chart.roofline
    left, right = x_limits(chart.under_roofs, roofs)
    axes.set_xscale("log", base=10 if right > 2000 * left else 2)
    axes.set_yscale("log")
    axes.set_xlim(left, right)
    axes.set_ylim(*y_limits(chart.under_roofs, roofs, axes.get_window_extent().height * 72 / chart.figure.dpi))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
    axes.minorticks_off()
    axes.grid(True, color="#ECECEC", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.set_xlabel(x_title(chart.under_roofs))
    axes.set_ylabel(f"GFLOP/s ({flop_words(chart.under_roofs)})")
    axes.yaxis.set_label_coords(-0.088, 0.5)
    draw_roofs(chart, roofs)
    for before, point in arrow_pairs(chart.under_roofs):
        start, end = ((intensity(each), gflops(each)) for each in (before, point))
        chart.arrows.append((before, point, draw_arrow(axes, start, end, 14)))
    for point in chart.under_roofs:
        if results.is_counted(point):
            chart.spans.append(draw_span(axes, point))
        draw_band(chart, point)
        chart.markers.append(axes.scatter(intensity(point), gflops(point), **marker_style(point, 0.6)))
    for point in same_rungs(chart.beside, chart.under_roofs):
        draw_band(chart, point)
        axes.scatter(intensity(point), gflops(point), **marker_style(point, 0.3))
    draw_labels(chart, roofs)
    draw_key(chart)
    label_bandwidths(chart, roofs)


# ---- the whole ----------------------------------------------------------------------------------------------------


def draw(table: dict, cols: int = COLS, kind: str = "normal", source: str = "student", beside: dict | None = None) -> Chart:
    """The chart of one shape. `table` is a loaded results file with roofs; `beside` another of the same GPU, whose points of the same rungs
    are drawn smaller and without names: measured beside predicted, or the other way round."""
    matplotlib.rcParams.update(FONT)
    ladder = select(table["points"], cols, kind, source)
    height = max(INCHES[1], 2.0 + 0.27 * len(ladder))
    figure = Figure(figsize=(INCHES[0], height), dpi=100, facecolor="white")
    top, bottom = 1 - 0.95 / height, 0.85 / height
    chart = Chart(figure, ladder, on_roofline(ladder), figure.add_axes((0.066, bottom, 0.485, top - bottom)),
                  figure.add_axes((0.735, bottom, 0.20, top - bottom)))
    if beside:
        chart.beside = [point for point in same_rungs(beside["points"], ladder) if (point["cols"], point["input"]) == (cols, kind)]
    draw_titles(chart, table, cols, kind, height)
    draw_roofline(chart, table["roofs"])
    draw_steps(chart, table["roofs"])
    return chart


def subject_of(ladder: list[dict]) -> str:
    ops = operators_of(ladder)
    if set(ops) <= set(LADDER):
        return "Row-wise softmax"
    return title_of(ops[0]) if len(ops) == 1 else "Row-wise operators"


def draw_titles(chart: Chart, table: dict, cols: int, kind: str, height: float) -> None:
    kinds = {"normal": "random normal numbers", "bigrams": "bigram logits of the course's text"}
    shape = f"{cols} columns of {kinds.get(kind, kind)}"
    predicted = table["backend"] == results.PREDICTED
    heading = f"Predicted for an {table['machine']}, {table['date']}" if predicted else f"{table['machine']} ({table['backend']}), {table['date']}"
    counted = any(map(results.is_counted, chart.ladder))
    filled = "; filled: the solution, measured on that GPU" if chart.beside else ""
    sources = (f"hollow: predicted without that GPU, with its band{filled}" if predicted else
               "roofs and times measured on this machine (hollow: predicted), bytes counted by the executor" if chart.beside else
               "roofs and times measured on this machine, bytes counted by the executor" if counted else
               "every roof and every point measured on this machine")
    size = 13 if len(heading) < 80 else 13 * 80 / len(heading)
    for text, inches, options in ((heading, 0.32, dict(fontsize=size, fontweight="bold")),
                                  (f"{subject_of(chart.ladder)}, {shape}: {sources}",
                                   0.58, dict(fontsize=10, color="#555555"))):
        chart.labels.append(chart.figure.text(0.015, 1 - inches / height, text, ha="left", va="center", **options))


def save(chart: Chart, output: Path) -> list[Path]:
    """Writes output.svg and output.png, byte for byte the same for the same input."""
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise chart_files.cannot_write(output, error) from None
    return chart_files.save(chart.figure, output, dpi=200)


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Draw the roofline of one machine out of its results file.")
    parser.add_argument("results", type=Path, help="a file of plots/results")
    parser.add_argument("--output", type=Path, default=Path(__file__).resolve().parent / "roofline",
                        help="where to write, without .svg and .png (default plots/roofline)")
    parser.add_argument("--cols", type=int, default=COLS, help=f"the row width to draw (default {COLS})")
    parser.add_argument("--input", default="normal", help="the input to draw: normal (default) or bigrams")
    parser.add_argument("--source", default="student",
                        help="whose points to draw beside the solutions': student (default) or the file given to FILE=")
    parser.add_argument("--beside", type=Path, help="a results file of the same GPU: predictions beside measurements, or the other way round")
    options = parser.parse_args(argv)
    try:
        if matplotlib is None:
            raise UserError("matplotlib is missing; `apt-get install python3-matplotlib` and use /usr/bin/python3")
        table = results.load(options.results, need_roofs=True)
        beside = results.load(options.beside) if options.beside else None
        paths = save(draw(table, options.cols, options.input, options.source, beside), options.output)
    except UserError as error:
        print(f"roofline.py: {error}", file=sys.stderr)
        return 1
    print("drew " + " and ".join(map(str, paths)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
