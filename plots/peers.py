#!/usr/bin/env python3
"""What `make peers` measured (plots/results/peers-<machine>.json), as tables, as a chart of every shape, and as the tables of
ratios in common/peers/README.md:
    peers.py --table FILE
    peers.py --draw FILE... [--output plots/peers]       what two files have is drawn from the first
    peers.py --readme common/peers/README.md FOLDER [--check]      writes the tables between the markers, each of which names a
                                                                   file of the folder; --check only says if they are there"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "common" / folder) for folder in ("peers", "")]
from course import labs  # noqa: E402
from shapes import FLOOR, NO_PEER, NORMAL, OURS, VALUES, UserError  # noqa: E402

SHORT = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}
# A table's place in a page: the results, the operations that are shown, and what was written there.
PLACE = re.compile(r"(<!-- peers: (\S+) of ([\w,]+), written by plots/peers.py -->\n)(.*?)(<!-- peers: end -->)", re.S)
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


def values_of(case: dict) -> str:
    """What the logits were; files from before they could be anything but normal do not say it."""
    return case.get("values", NORMAL)


def floor_of(case: dict) -> str:
    """Of files from before the floor was the fastest of several ways: it was one call of PyTorch's, which can be slow."""
    floor = FLOOR[case["op"]]
    return floor if "floor" in case else f"PyTorch's {floor}"


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
    """(operation, dtype, cases of normal values) in the order of measuring."""
    found: dict[tuple[str, str], list[dict]] = {}
    for case in table["cases"]:
        if values_of(case) != NORMAL:
            continue
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


def of_values(table: dict, op: str) -> list[list[str]]:
    """A table of times on other values over that on normal ones, its heads first; empty where nothing else was measured."""
    cases = [case for case in table["cases"] if case["op"] == op]
    found = {(case["dtype"], shape_of(case), values_of(case)): median(case, OURS) for case in cases}
    others = [values for values in VALUES if values != NORMAL and any(key[2] == values for key in found)]
    if not others:
        return []
    rows = [[titles(op), f"{NORMAL}: us", *others]]
    for dtype, shape in dict.fromkeys(key[:2] for key in found):
        usual = found.get((dtype, shape, NORMAL))
        rows.append([f"{SHORT[dtype]}, {shape}", microseconds(usual), *(ratio(found.get((dtype, shape, values)), usual) for values in others)])
    return rows


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
        rows = [["rows x cols", *names, "ladder/best peer", f"ladder/{floor_of(cases[0])}", "best peer", "spread"]]
        for case in cases:
            best, ours = best_peer(case), median(case, OURS)
            spread = case["seconds"].get(OURS, {})
            rows.append([shape_of(case), *[microseconds(median(case, name)) for name in names],
                         ratio(ours, best[1] if best else None), ratio(ours, median(case, floor)), best[0] if best else "-",
                         f"{100 * (spread['max'] - spread['min']) / spread['median']:.1f} %" if "max" in spread else "-"])
        parts.append(f"{titles(op)}, {SHORT[dtype]}, microseconds of one call\n" + aligned(rows))
    for op in FLOOR:
        rows = of_values(table, op)
        if rows:
            parts.append("Time on other values over that on normal ones\n" + aligned(rows))
    if table.get("note"):
        parts.append(table["note"])
    for name, why in table["missing"].items():
        parts.append(f"not here: {name} ({why})")
    throttled = [case for case in table["cases"] if "throttled" in case]
    if throttled:
        parts.append("the clock was lowered during: " + "; ".join(f"{case['op']} {SHORT[case['dtype']]} {shape_of(case)}"
                                                                 for case in throttled))
    return "\n\n".join(parts)


def as_markdown(rows: list[list[str]]) -> list[str]:
    return [f"| {' | '.join(rows[0])} |", "|---" * len(rows[0]) + "|", *(f"| {' | '.join(row)} |" for row in rows[1:]), ""]


def markdown(table: dict, source: str, link: str | None = None, ops: tuple[str, ...] = tuple(FLOOR)) -> str:
    """Tables of common/peers/README.md, one row per shape: for each dtype the time, and its ratio to the best peer, if any was
    measured, and to the floor; then the times on other values."""
    measured = {f"{op} {dtype}" for op, dtype, _ in groups(table) if op in ops}
    ours = [f"`{variant}` ({SHORT[job.split()[1]]}{belongs_to(job.split()[0])})"
            for job, variant in table.get("ladder", {}).items() if job in measured]
    lines = [f"Measured on an {table['machine']}, {table['date']} "
             f"({', '.join(f'{k} {v}' for k, v in table['versions'].items())}), by `{table.get('command', 'make peers')}`. Ours: "
             f"{', '.join(ours) or 'none'}. All figures and the spread are in [{source}]({link or source}).", "",
             *([table["note"], ""] if table.get("note") else [])]
    for op in ops:
        by_shape: dict[str, dict[str, dict]] = {}
        of_op = {dtype: cases for each, dtype, cases in groups(table) if each == op}
        for dtype, cases in of_op.items():
            for case in cases:
                by_shape.setdefault(shape_of(case), {})[dtype] = case
        peers = ["/ best peer"] if any(best_peer(case) for cases in of_op.values() for case in cases) else []
        rows = [[titles(op), *(head for dtype, cases in of_op.items()
                               for head in (f"{SHORT[dtype]}: us", *peers, f"/ {floor_of(cases[0])}"))]]
        for shape, cases in by_shape.items():
            rows.append([shape])
            for dtype in of_op:
                case = cases.get(dtype)
                best = best_peer(case) if case else None
                ours = median(case, OURS) if case else None
                of_best = f"{ratio(ours, best[1])} ({best[0]})" if best else "-"
                rows[-1] += [microseconds(ours), *(of_best for _ in peers), ratio(ours, median(case, FLOOR[op])) if case else "-"]
        values = of_values(table, op)
        if of_op and (peers or not values):  # else the values are what was measured
            lines += as_markdown(rows)
        if values:
            lines += as_markdown(values)
    return "\n".join(lines).rstrip()


def with_tables(readme: str, folder: Path, up: str) -> str:
    """The page's text with each table between its markers. up: from the page to the folder."""
    def filled(place: re.Match) -> str:
        name, ops = f"{place[2]}.json", tuple(place[3].split(","))
        unknown = [op for op in ops if op not in FLOOR]
        if unknown:
            raise UserError(f"the page has a table of {', '.join(unknown)}; there are {', '.join(FLOOR)}")
        source = folder / name
        table = markdown(load(source), f"plots/results/{name}", f"{up}/{name}", ops) if source.exists() else NOT_MEASURED
        return f"{place[1]}{table}\n{place[5]}"

    text, count = PLACE.subn(filled, readme)
    if count == 0 or count != readme.count("<!-- peers: end -->"):
        raise UserError("the page needs a line <!-- peers: NAME of OPERATIONS, written by plots/peers.py --> for each table, and after it "
                        "a line <!-- peers: end -->")
    return text


def update_readme(readme: Path, folder: Path, check: bool) -> int:
    text = readme.read_text()
    wanted = with_tables(text, folder, os.path.relpath(folder, readme.parent))
    if check:
        if text != wanted:
            print(f"{readme} is not up to date with {folder}; run: python3 plots/peers.py --readme {readme} {folder}")
            return 1
        print(f"{readme} is up to date with {folder}")
    elif text != wanted:
        readme.write_text(wanted)
        print(f"wrote the tables into {readme}")
    return 0


def draw(tables: list[dict], output: Path) -> list[Path]:
    """A panel for each operation and dtype, a line for each shape: everybody's time over the floor's. Of panels that several
    tables have the first table's is drawn."""
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
    found: dict[tuple[str, str], tuple[str, list[dict]]] = {}
    for table in tables:
        for op, dtype, cases in groups(table):
            found.setdefault((op, dtype), (table["date"], cases))
    heights = [len(cases) + 2.2 for _, cases in found.values()]
    figure = Figure(figsize=(11, 0.27 * sum(heights) + 1.2), dpi=100, facecolor="white")
    grid = figure.add_gridspec(len(found), 1, height_ratios=heights, hspace=0.45)
    figure.suptitle(f"{', '.join(dict.fromkeys(table['machine'] for table in tables))}: time over that of the floor", fontsize=12,
                    fontweight="bold", y=1 - 0.25 / figure.get_figheight())
    styles: dict[str, tuple[str, str]] = {}
    for i, ((op, dtype), (date, cases)) in enumerate(found.items()):
        axes = figure.add_subplot(grid[i])
        axes.set_title(f"{titles(op)}, {SHORT[dtype]}, {date}: {floor_of(cases[0])} = 1", loc="left", fontsize=10)
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
    parser.add_argument("results", type=Path, nargs="+")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--draw", action="store_true")
    parser.add_argument("--output", type=Path, default=Path("plots/peers"))
    parser.add_argument("--readme", type=Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args(argv)
    try:
        if options.readme:
            return update_readme(options.readme, options.results[0], options.check)
        tables = [load(path) for path in options.results]
        if options.draw:
            print("drew " + " and ".join(map(str, draw(tables, options.output))))
        else:
            print("\n\n".join(map(text_tables, tables)))
    except UserError as error:
        print(f"peers.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `... | head` ends it without a traceback
    sys.exit(main(sys.argv[1:]))
