"""The right panel of the roofline chart: the variants in ladder order, by their bandwidth."""

from __future__ import annotations

from chart import INK, MEMORY, Chart, colour_of, draw_arrow, in_band, marker_style
from points import arrow_pairs, gbytes, is_solution, name_of, results

try:
    from matplotlib.patches import Rectangle
    from matplotlib.ticker import FuncFormatter
except ImportError:
    pass  # roofline.py says so

VALUE_COLUMN = 46  # points to the right of the ladder panel


def draw_steps(chart: Chart, roofs: dict) -> None:
    """One line a rung, from the bottom up; x is the nominal bandwidth, beside the bandwidths that the machine has."""
    axes, ladder = chart.steps, chart.ladder
    values = [gbytes(point) for point in ladder] + [roofs["copy_gbs"], roofs["read_gbs"]]
    axes.set_xscale("log")
    axes.set_xlim(min(values) / 2, max(values) * 1.8)
    axes.set_ylim(-0.6, max(len(ladder), 8) - 0.4)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axes.minorticks_off()
    axes.grid(True, axis="x", color="#ECECEC", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines["left"].set_visible(False)
    axes.set_yticks([])
    axes.set_xlabel("GB/s of nominal bytes")
    draw_bands(chart)
    for name, gbs, style in (("copy", roofs["copy_gbs"], "-"), ("read", roofs["read_gbs"], (0, (5, 2)))):
        axes.axvline(gbs, color=MEMORY, linewidth=1.5, linestyle=style, zorder=2)
    draw_bandwidth_names(chart, roofs)
    place_of = {id(point): row for row, point in enumerate(ladder)}
    for before, point in arrow_pairs(ladder):
        start, end = ((gbytes(each), place_of[id(each)]) for each in (before, point))
        chart.step_arrows.append((before, point, draw_arrow(axes, start, end, 0)))
    row_of = {results.rung_of(point): row for row, point in enumerate(ladder) if is_solution(point)}
    for point in chart.beside:
        axes.scatter(gbytes(point), row_of[results.rung_of(point)], **marker_style(point, 0.5))
        draw_band(axes, point, row_of[results.rung_of(point)])
    for row, point in enumerate(ladder):
        draw_band(axes, point, row)
        chart.step_markers.append(axes.scatter(gbytes(point), row, **marker_style(point)))
        weight = "normal" if is_solution(point) else "bold"
        common = dict(xycoords=axes.get_yaxis_transform(), textcoords="offset points", va="center", fontsize=9,
                      color=colour_of(point), fontweight=weight, annotation_clip=False)
        chart.labels.append(axes.annotate(name_of(point, ladder), (0, row), (-6, 0), ha="right", **common))
        chart.labels.append(axes.annotate(results.three_digits(gbytes(point)), (1, row), (VALUE_COLUMN, 0),
                                          ha="right", **common))


def draw_band(axes: object, point: dict, row: int) -> None:
    """What a prediction's band allows."""
    if ends := in_band(point, gbytes):
        axes.plot(ends, [row, row], color=colour_of(point), linewidth=1.0, alpha=0.6, zorder=5)


def draw_bandwidth_names(chart: Chart, roofs: dict) -> None:
    """Above the panel; the slower one to the left of its line and the faster one to the right, so that they part."""
    pair = sorted([("copy", roofs["copy_gbs"]), ("read", roofs["read_gbs"])], key=lambda roof: roof[1])
    for (name, gbs), side, off in zip(pair, ("right", "left"), (-1, 1)):
        chart.labels.append(chart.steps.annotate(name, (gbs, 1), (off, 3), textcoords="offset points", ha=side,
                                                 xycoords=chart.steps.get_xaxis_transform(), va="bottom", fontsize=9,
                                                 color=MEMORY, annotation_clip=False))
    chart.labels.append(chart.steps.annotate("GB/s", (1, 1), (VALUE_COLUMN, 3), xycoords="axes fraction", ha="right",
                                             va="bottom", textcoords="offset points", fontsize=9, color=INK))


def draw_bands(chart: Chart) -> None:
    """A band of background a lab, with its name at the far left."""
    labs = sorted({point["lab"] for point in chart.ladder})
    for number, lab in enumerate(labs):
        rows = [row for row, point in enumerate(chart.ladder) if point["lab"] == lab]
        low, high = rows[0] - 0.5, rows[-1] + 0.5
        transform = chart.steps.get_yaxis_transform()
        chart.steps.add_patch(Rectangle(
            (-0.80, low), 1.80 + 0.28, high - low, transform=transform, clip_on=False, linewidth=0,
            facecolor="#F5F6F8" if number % 2 == 0 else "white", zorder=-5))
        lab_points = [chart.ladder[row] for row in rows]
        chart.labels.append(chart.steps.annotate(
            lab_title(lab, lab_points), (-0.78, (low + high) / 2), xycoords=transform, ha="left", va="center",
            fontsize=9, fontweight="bold", color=colour_of(lab_points[0]), annotation_clip=False))


def lab_title(lab: str, points: list[dict]) -> str:
    """The number, the subject and the K of a lab, a line each, as far as its band has room for them."""
    number, _, subject = lab.partition("_")
    words = subject.split("_") if len(subject) > 11 and len(points) > 2 else [subject]  # or it reaches the variants' names
    ks = {point["k"] for point in points}
    k = [f"K = {ks.pop()}"] if points[0]["op"] == "softmax_topk" and len(ks) == 1 else []
    return "\n".join(([number, *words] + k)[:len(points)])
