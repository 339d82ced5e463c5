#!/usr/bin/env python3
"""What `make peers` measured (plots/results/peers-<machine>.json), as tables, as a chart of every shape, and as the table of
ratios in common/peers/README.md:
    peers.py --table FILE
    peers.py --draw FILE [--output plots/peers]
    peers.py --readme common/peers/README.md FILE [--check]      writes the table between the markers; --check only says if it is there"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "common" / folder) for folder in ("peers", "")]
from course import labs  # noqa: E402
from shapes import FLOOR, NO_PEER, OURS, UserError  # noqa: E402

SHORT = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}
BEGIN, END = "<!-- peers: written by plots/peers.py -->", "<!-- peers: end -->"
NOT_MEASURED = "Not measured yet: `make peers` on a GPU writes this table."
FIELDS = ("machine", "date", "versions", "cases", "missing")


def load(path: Path) -> dict:
    try:
        table = json.loads(path.read_text())
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; run `make peers` on a GPU") from None
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: cannot be read: {error}") from None
    missing = [field for field in FIELDS if not isinstance(table, dict) or field not in table]
    if missing:
        raise UserError(f"{path}: not written by `make peers`: it has no {', '.join(missing)}")
    return table


def median(case: dict, name: str) -> float | None:
    each = case["seconds"].get(name)
    return each["median"] if each else None


def is_peer(name: str) -> bool:
    return name != OURS and name not in NO_PEER and not name.startswith("lab")


def best_peer(case: dict) -> tuple[str, float] | None:
    peers = [(median(case, name), name) for name in case["seconds"] if is_peer(name)]
    return (min(peers)[1], min(peers)[0]) if peers else None


def ratio(a: float | None, b: float | None) -> str:
    return f"{a / b:.2f}" if a and b else "-"


def microseconds(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    value = 1e6 * seconds
    return f"{value:.1f}" if value < 100 else f"{value:.0f}"


def shape_of(case: dict) -> str:
    return f"{case['rows']} x {case['cols']}" + (f", K {case['k']}" if case["k"] else "")


def groups(table: dict) -> list[tuple[str, str, list[dict]]]:
    """(operation, dtype, cases) in the order of measuring."""
    found: dict[tuple[str, str], list[dict]] = {}
    for case in table["cases"]:
        found.setdefault((case["op"], case["dtype"]), []).append(case)
    return [(op, dtype, cases) for (op, dtype), cases in found.items()]


def columns(cases: list[dict]) -> list[str]:
    names: list[str] = []
    for case in cases:
        names += [name for name in case["seconds"] if name not in names]
    return names


def aligned(rows: list[list[str]]) -> str:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(widths[i]) if i == 0 else cell.rjust(widths[i]) for i, cell in enumerate(row)).rstrip()
                     for row in rows)


def titles(op: str) -> str:
    of = op.removesuffix("_gradient")
    title = labs.operators()[{"topk": "softmax_topk"}.get(of, of)]
    return title[0].upper() + title[1:] + (" and its gradient" if of != op else "")


def belongs_to(op: str) -> str:
    """Whose variant it is, in the list of ours."""
    return {"softmax": "", "topk": ", top-K"}.get(op, f", {labs.operators().get(op)}")


def text_tables(table: dict) -> str:
    parts = [f"{table['machine']}, {table['date']}: " + ", ".join(f"{k} {v}" for k, v in table["versions"].items())]
    for op, dtype, cases in groups(table):
        names, floor = columns(cases), FLOOR[op]
        rows = [["rows x cols", *names, "ladder/best peer", f"ladder/{floor}", "best peer", "spread"]]
        for case in cases:
            best, ours = best_peer(case), median(case, OURS)
            spread = case["seconds"].get(OURS, {})
            rows.append([shape_of(case), *[microseconds(median(case, name)) for name in names],
                         ratio(ours, best[1] if best else None), ratio(ours, median(case, floor)), best[0] if best else "-",
                         f"{100 * (spread['max'] - spread['min']) / spread['median']:.1f} %" if "max" in spread else "-"])
        parts.append(f"{titles(op)}, {SHORT[dtype]}, microseconds of one call\n" + aligned(rows))
    if table.get("note"):
        parts.append(table["note"])
    for name, why in table["missing"].items():
        parts.append(f"not here: {name} ({why})")
    throttled = [case for case in table["cases"] if "throttled" in case]
    if throttled:
        parts.append("the clock was lowered during: " + "; ".join(f"{case['op']} {SHORT[case['dtype']]} {shape_of(case)}"
                                                                 for case in throttled))
    return "\n\n".join(parts)


def markdown(table: dict, source: str, link: str | None = None) -> str:
    """The table of common/peers/README.md, one row per shape: for each dtype the time, and its ratio to the best peer and to the floor."""
    measured = {f"{op} {dtype}" for op, dtype, _ in groups(table)}
    ours = [f"`{variant}` ({SHORT[job.split()[1]]}{belongs_to(job.split()[0])})"
            for job, variant in table.get("ladder", {}).items() if job in measured]
    lines = [f"Measured on an {table['machine']}, {table['date']} "
             f"({', '.join(f'{k} {v}' for k, v in table['versions'].items())}), by `{table.get('command', 'make peers')}`. Ours: "
             f"{', '.join(ours) or 'none'}. All figures and the spread are in [{source}]({link or source}).", "",
             *([table["note"], ""] if table.get("note") else [])]
    for op in FLOOR:
        dtypes = [dtype for each, dtype, _ in groups(table) if each == op]
        if not dtypes:
            continue
        by_shape: dict[str, dict[str, dict]] = {}
        for case in table["cases"]:
            if case["op"] == op:
                by_shape.setdefault(shape_of(case), {})[case["dtype"]] = case
        heads = [f"{SHORT[dtype]}: us | / best peer | / {FLOOR[op]}" for dtype in dtypes]
        lines += [f"| {titles(op)} | " + " | ".join(heads) + " |", "|---" * (1 + 3 * len(dtypes)) + "|"]
        for shape, cases in by_shape.items():
            cells = []
            for dtype in dtypes:
                case = cases.get(dtype)
                best = best_peer(case) if case else None
                ours = median(case, OURS) if case else None
                cells += [microseconds(ours), f"{ratio(ours, best[1])} ({best[0]})" if best else "-",
                          ratio(ours, median(case, FLOOR[op])) if case else "-"]
            lines.append(f"| {shape} | " + " | ".join(cells) + " |")
        lines.append("")
    return "\n".join(lines).rstrip()


def with_table(readme: str, table: str) -> str:
    """The page's text with the table between its markers."""
    if readme.count(BEGIN) != 1 or readme.count(END) != 1 or readme.index(BEGIN) > readme.index(END):
        raise UserError(f"the page needs a line {BEGIN} and after it a line {END}, once each")
    before, after = readme.split(BEGIN)[0], readme.split(END)[1]
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


def update_readme(readme: Path, results: Path, check: bool) -> int:
    text = readme.read_text()
    table = markdown(load(results), str(results), os.path.relpath(results, readme.parent)) if results.exists() else NOT_MEASURED
    wanted = with_table(text, table)
    if check:
        if text != wanted:
            print(f"{readme} is not up to date with {results}; run: python3 plots/peers.py --readme {readme} {results}")
            return 1
        print(f"{readme} is up to date with {results}")
    elif text != wanted:
        readme.write_text(wanted)
        print(f"wrote the table into {readme}")
    return 0


def draw(table: dict, output: Path) -> list[Path]:
    """A panel for each operation and dtype, a line for each shape: everybody's time over the floor's."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise UserError("matplotlib is missing; `apt-get install python3-matplotlib` and use /usr/bin/python3") from None
    matplotlib.rcParams.update({"font.family": "DejaVu Sans", "font.size": 9, "svg.hashsalt": "ladder",
                                "axes.spines.top": False, "axes.spines.right": False})
    # Okabe and Ito's colours for the colour-blind.
    colours = ["#0072B2", "#00805E", "#C04A00", "#A8437F", "#9A6A00", "#4D4D4D", "#56B4E9", "#E69F00"]
    markers = ["s", "^", "D", "v", "P", "X", "<"]  # not as many as colours, so that pairs repeat late
    parts = groups(table)
    heights = [len(cases) + 2.2 for _, _, cases in parts]
    figure = Figure(figsize=(11, 0.27 * sum(heights) + 1.2), dpi=100, facecolor="white")
    grid = figure.add_gridspec(len(parts), 1, height_ratios=heights, hspace=0.45)
    figure.suptitle(f"{table['machine']}, {table['date']}: time over that of the floor (copy; read for top-K)", fontsize=12,
                    fontweight="bold", y=1 - 0.25 / figure.get_figheight())
    styles: dict[str, tuple[str, str]] = {}
    for i, (op, dtype, cases) in enumerate(parts):
        axes = figure.add_subplot(grid[i])
        axes.set_title(f"{titles(op)}, {SHORT[dtype]}", loc="left", fontsize=10)
        for line, case in enumerate(cases):
            floor = median(case, FLOOR[op])
            if not floor:
                continue
            axes.axhline(line, color="#ECECEC", linewidth=0.8, zorder=0)
            for name in case["seconds"]:
                if name == FLOOR[op]:
                    continue
                if name not in styles:
                    number = len([each for each in styles if each != OURS])
                    styles[name] = (("#D00000", "*") if name == OURS else
                                    (colours[number % len(colours)], markers[number % len(markers)]))
                colour, marker = styles[name]
                axes.scatter(median(case, name) / floor, line, color=colour, marker=marker, s=90 if name == OURS else 26,
                             zorder=5 if name == OURS else 3, linewidths=0)
        axes.axvline(1, color="#555555", linewidth=1)
        axes.set_xscale("log")
        axes.set_yticks(range(len(cases)), [shape_of(case) for case in cases])
        axes.set_ylim(len(cases) - 0.4, -0.6)
        axes.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
    handles = [figure.axes[0].scatter([], [], color=colour, marker=marker, s=30, label=name)
               for name, (colour, marker) in styles.items()]
    figure.legend(handles=handles, loc="upper center", ncol=6, frameon=False, fontsize=8,
                  bbox_to_anchor=(0.5, 1 - 0.45 / figure.get_figheight()))
    figure.subplots_adjust(left=0.15, right=0.98, top=1 - 1.3 / figure.get_figheight(), bottom=0.35 / figure.get_figheight())
    paths = [output.with_name(output.name + suffix) for suffix in (".svg", ".png")]
    figure.savefig(paths[0], metadata={"Date": None, "Creator": None})
    figure.savefig(paths[1], dpi=130, metadata={"Software": None})
    return paths


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description="What make peers measured.")
    parser.add_argument("results", type=Path)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--draw", action="store_true")
    parser.add_argument("--output", type=Path, default=Path("plots/peers"))
    parser.add_argument("--readme", type=Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args(argv)
    try:
        if options.readme:
            return update_readme(options.readme, options.results, options.check)
        table = load(options.results)
        if options.draw:
            print("drew " + " and ".join(map(str, draw(table, options.output))))
        else:
            print(text_tables(table))
    except UserError as error:
        print(f"peers.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `... | head` ends it without a traceback
    sys.exit(main(sys.argv[1:]))
