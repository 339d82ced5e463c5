"""A histogram of percentages as inline SVG, drawn with the page's own colours (classes of report.css)."""

from __future__ import annotations

import statistics

from escape import for_html

BINS, BAR, GAP, HEIGHT, TOP, BOTTOM = 10, 28, 4, 90, 16, 20


def bins_of(percentages: list[float]) -> list[int]:
    """How many lie in 0-10, 10-20, ... 90-100; the upper bound belongs to the next bin, 100 to the last."""
    counts = [0] * BINS
    for value in percentages:
        counts[min(max(int(value * BINS / 100), 0), BINS - 1)] += 1
    return counts


def svg(percentages: list[float], name: str) -> str:
    """`name`: of what, for readers who cannot see it."""
    if not percentages:
        return "<p>Nothing was run.</p>"
    counts = bins_of(percentages)
    step = 100 // BINS
    width, height = BINS * (BAR + GAP), TOP + HEIGHT + BOTTOM
    words = ", ".join(f"{i * step} to {(i + 1) * step}: {count}" for i, count in enumerate(counts) if count)
    lines = [f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="Submissions by percent of the points of '
             f'{for_html(name)}. {words}">']
    for i, count in enumerate(counts):
        tall = HEIGHT * count / max(counts)
        x, y = i * (BAR + GAP) + GAP / 2, TOP + HEIGHT - tall
        if count:
            lines.append(f'<rect class="bar" x="{x:g}" y="{y:.1f}" width="{BAR}" height="{tall:.1f}"/>'
                         f'<text class="count" x="{x + BAR / 2:g}" y="{y - 4:.1f}">{count}</text>')
        lines.append(f'<text class="tick" x="{i * (BAR + GAP):g}" y="{height - 6}">{i * step}</text>')
    lines += [f'<line class="axis" x1="0" y1="{TOP + HEIGHT}" x2="{width}" y2="{TOP + HEIGHT}"/>', "</svg>",
              f"<p>Percent of the points. Median {statistics.median(percentages):.1f}, mean {statistics.fmean(percentages):.1f}, "
              f"of {len(percentages)}.</p>"]
    return "".join(lines)
