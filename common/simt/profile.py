#!/usr/bin/env python3
"""Prints the executor's counters (counters.h, to_json) as a student reads them: one table per kernel, its source lines worst
first with the code beside the numbers, and a sentence on what the worst ones mean."""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import signal
import sys
from pathlib import Path

GLOBAL = {"load": "ld", "store": "st", "atomic": "atom"}


class UserError(Exception):
    pass


def global_of(counts: dict, op: str) -> tuple[int, int, int]:
    """Requests, sectors, requested bytes (active lanes x their width)."""
    suffix = GLOBAL[op]
    return (counts[f"l1tex__t_requests_pipe_lsu_mem_global_op_{suffix}.sum"],
            counts[f"l1tex__t_sectors_pipe_lsu_mem_global_op_{suffix}.sum"], counts[f"global_bytes_op_{suffix}"])


def shared_of(counts: dict, op: str) -> tuple[int, int, int]:
    """Requests, wavefronts, conflicts."""
    suffix = GLOBAL[op]
    return (counts[f"shared_requests_op_{suffix}"],
            counts[f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{suffix}.sum"],
            counts[f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{suffix}.sum"])


def number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"


def rows_of(counts: dict) -> list[dict]:
    """One row for each kind of access that a line makes. `cost`: sectors or wavefronts, what the hardware moves."""
    rows = []
    for op in GLOBAL:
        requests, sectors, asked = global_of(counts, op)
        if requests:
            rows.append({"what": f"global {op}", "requests": requests, "cost": sectors, "each": sectors / requests,
                         "unit": "sectors", "asked": asked, "extra": max(0, sectors * 32 - asked)})
    for op in GLOBAL:
        requests, wavefronts, conflicts = shared_of(counts, op)
        if requests:
            rows.append({"what": f"shared {op}", "requests": requests, "cost": wavefronts, "each": wavefronts / requests,
                         "unit": "wavefronts", "conflicts": conflicts, "extra": conflicts * 128})
    return rows


def meaning(row: dict) -> str:
    """What a line's number says, in a sentence; empty if it is as good as it gets."""
    if row["unit"] == "wavefronts":
        if row["conflicts"] == 0:
            return ""
        return (f"{number(row['each'])} wavefronts per request: several lanes use one bank at a time; pad the array by one "
                "column, or let neighbouring lanes use neighbouring words.")
    asked = row["asked"] / row["requests"]
    used = row["asked"] / (row["cost"] * 32)
    if used >= 0.95 or row["what"] == "global atomic":
        return ""
    if used > 1:
        return ""
    lanes_apart = row["each"] >= 16 and asked <= 4 * 32
    if lanes_apart:
        return (f"{number(row['each'])} sectors per request: each lane reads or writes a sector of its own; neighbouring lanes "
                "should use neighbouring elements.")
    if row["each"] <= 1 and asked > 32:
        return ""
    each = f"{number(row['each'])} sector{'' if number(row['each']) == '1' else 's'} per request"
    if used < 0.5:
        return (f"{each} for {number(asked)} bytes: {used:.0%} of what is moved is used. Are "
                "few lanes active, or do they skip elements?")
    return (f"{each} for {number(asked)} bytes: a row that does not begin at a multiple of "
            "32 bytes costs one more sector.")


def source_text(file: str, line: int, cache: dict[str, list[str]]) -> str:
    if file not in cache:
        try:
            cache[file] = Path(file).read_text(errors="replace").splitlines()
        except OSError:
            cache[file] = []
    lines = cache[file]
    return " ".join(lines[line - 1].split()) if 0 < line <= len(lines) else ""


def table(heads: list[str], rows: list[list[str]], left: set[int]) -> list[str]:
    widths = [max(len(row[i]) for row in [heads, *rows]) for i in range(len(heads))]
    return ["  ".join(cell.ljust(widths[i]) if i in left else cell.rjust(widths[i]) for i, cell in enumerate(row)).rstrip()
            for row in [heads, *rows]]


def describe(launch: dict, colour: bool, width: int = 118) -> list[str]:
    bold, dim, plain = ("\033[1m", "\033[2m", "\033[0m") if colour else ("", "", "")
    grid, block = (" x ".join(str(n) for n in launch[key] if n != 1) or "1" for key in ("grid", "block"))
    times = f", {launch['times']} launches together" if launch.get("times", 1) > 1 else ""
    times = f", {launch['alike']} launches that count the same: each" if launch.get("alike", 1) > 1 else times
    lines = [f"{bold}{launch['kernel'].strip('()')}{plain}  {grid} {'block' if grid == '1' else 'blocks'} of {block} threads{times}"]
    total = launch["total"]
    heads = ["", "requests", "moved", "per request", "requested bytes"]
    rows = []
    for row in rows_of(total):
        rows.append([row["what"] + "s", number(row["requests"]), f"{number(row['cost'])} {row['unit']}", number(row["each"]),
                     number(row["asked"]) if "asked" in row else f"conflicts: {number(row['conflicts'])}"])
    lines += table(heads, rows, {0})
    if "dram" in launch:  # read from a GPU (common/cuda/ncu.py), where ncu empties the caches before each launch
        moved = f"DRAM: {number(launch['dram']['bytes_read'])} bytes read, {number(launch['dram']['bytes_written'])} written"
        if launch.get("busy"):
            lines.append("busy, % of peak: " + ", ".join(f"{unit} {percent:.0f}" for unit, percent in launch["busy"].items()))
    else:
        footprint = launch["footprint"]
        moved = (f"footprint: {number(footprint['sectors_read'] * 32)} bytes read, "
                 f"{number(footprint['sectors_written'] * 32)} written")
    lines.append(f"{moved}; barriers {number(total['barriers'])}, "
                 f"shuffles and votes {number(total['warp_operations'])} (per warp)")
    if "longest_thread" in launch:
        longest = launch["longest_thread"]
        share = longest["accesses"] / longest["block_accesses"] if longest["block_accesses"] else 0
        lines.append(f"the busiest thread makes {number(longest['accesses'])} of its block's "
                     f"{number(longest['block_accesses'])} accesses ({share:.1%})")
    if "predicted" in launch:
        lines += describe_prediction(launch["predicted"], launch.get("shape"))
    cache: dict[str, list[str]] = {}
    ranked = sorted(((row, line) for line in launch["lines"] for row in rows_of(line["counts"])),
                    key=lambda pair: (-pair[0]["extra"], -pair[0]["cost"], pair[1]["line"]))
    cells = []
    for row, line in ranked:
        place = f"{Path(line['file']).name}:{line['line']}" if line["line"] else "?"
        cells.append([place, row["what"], number(row["requests"]), number(row["cost"]), number(row["each"]),
                      source_text(line["file"], line["line"], cache)])
    if cells:
        lines.append("")
        printed = table(["line", "access", "requests", "moved", "each", "code"], cells, {0, 1, 5})
        lines.append(dim + printed[0] + plain)
        for text, (row, _) in zip(printed[1:], ranked):
            lines.append(text[:width])
            said = meaning(row)
            if said:
                lines.append("    " + said)
    return lines


WAITS = {"running": "its own instructions", "issue": "a scheduler", "mufu": "the special function unit", "shared": "shared memory", "shuffle": "shuffles",
         "l1": "L1", "l2": "L2", "dram": "DRAM", "atomic": "atomics", "barrier": "the barrier", "stores": "stores"}


def microseconds(seconds: float) -> str:
    return f"{seconds * 1e6:.3g} us" if seconds < 1e-3 else f"{seconds * 1e3:.3g} ms"


def shape_predicted(predicted: dict, shape: tuple[int, int] | None) -> str:
    """For what the prediction is. shape: of what was run, which may be a part of the rows; None: of a program that has no such thing."""
    if shape is None:
        return ""
    rows, cols = shape
    times = predicted.get("times", 1)
    return f" for {times * rows} rows like these {rows}" if times > 1 else f" for {rows} x {cols}"


def occupancy(predicted: dict) -> str:
    fit = f"{predicted['resident_blocks']:.0f} blocks"
    if predicted["bound_by"] == "grid":
        return f"{fit} would fit on an SM; the grid gives {predicted['given_blocks']:.0f} at most"
    bound = {"threads": "threads", "blocks": "the number of blocks", "registers": "registers", "shared": "shared memory"}
    return f"{fit} fit on an SM, bound by {bound[predicted['bound_by']]}"


def describe_prediction(predicted: dict, shape: tuple[int, int] | None) -> list[str]:
    """A prediction is never called a measurement."""
    if predicted["seconds"] is None:
        return [f"no prediction for {predicted['gpu']}: {predicted['why']}"]
    lines = [f"predicted on {predicted['gpu']}{shape_predicted(predicted, shape)}: {microseconds(predicted['seconds'])} ({microseconds(predicted['low'])} to {microseconds(predicted['high'])})",
             f"  limit: {predicted['words']}",
             f"  occupancy: {occupancy(predicted)}"]
    segments = predicted["segments"]
    if not segments:
        return lines
    lines.append(f"  one block's warps, between barriers ({len(segments)} segment{'' if len(segments) == 1 else 's'}; times are per warp):")
    shown = segments if len(segments) <= 12 else segments[:11]
    for number_, segment in enumerate(shown, 1):
        total = sum(segment.values())
        worst = sorted(((cycles, name) for name, cycles in segment.items() if cycles >= 0.1 * total), reverse=True)[:3]
        what = ", ".join(f"{WAITS[name]} {cycles / total:.0%}" for cycles, name in worst)
        lines.append(f"    {number_:3d}  {total:7.2f} us  {what}")
    if len(shown) < len(segments):
        rest = sum(sum(segment.values()) for segment in segments[len(shown):])
        lines.append(f"    ...  {rest:7.2f} us  in {len(segments) - len(shown)} more")
    return lines


def label(variant: dict) -> str:
    return f"{variant['variant']} {variant['dtype']}"


def only(report: dict, pattern: str) -> dict:
    """The report with those variants of a rung that are asked for: `tree`, or `online f16`."""
    if "variants" not in report or pattern == "*":
        return report
    chosen = [v for v in report["variants"] if fnmatch.fnmatchcase(label(v), pattern) or fnmatch.fnmatchcase(v["variant"], pattern)]
    if not chosen:
        raise UserError(f"no variant is called {pattern}; there are {', '.join(map(label, report['variants']))}")
    return {**report, "variants": chosen}


def launches_of(report: dict) -> list[tuple[str, dict]]:
    """(title, launch): of one program's report, or of the reports of a rung's variants (common/bench/profile.cpp)."""
    if "launches" in report:
        calls = report.get("library_calls")
        return [("", launch) for launch in alike(report["launches"])] + ([("", {"library_calls": calls})] if calls else [])
    found = []
    for variant in report["variants"]:
        shape = f"{variant['rows']} x {variant['cols']}" + (f", K {variant['k']}" if variant["k"] else "")
        title = f"{label(variant)}, {shape}"
        found += [(title, {**launch, "shape": (variant["rows"], variant["cols"])}) for launch in together(variant["report"]["launches"])]
        if calls := variant["report"].get("library_calls"):
            found.append((title, {"library_calls": calls}))
    return found


def alike(launches: list[dict]) -> list[dict]:
    """Launches that differ in nothing, as one with their number: a program often launches the same kernel again."""
    found: dict[str, dict] = {}
    for launch in launches:
        key = json.dumps({name: value for name, value in launch.items() if name != "predicted"})
        found.setdefault(key, {**launch, "alike": 0})["alike"] += 1
    return list(found.values())


def summary(launches: list[dict]) -> list[str]:
    """One row per kernel and shape, those that take longest first, where there are several."""
    groups: dict[tuple, list[dict]] = {}
    for launch in launches:
        groups.setdefault((launch["kernel"].strip("()"), *map(tuple, (launch["grid"], launch["block"]))), []).append(launch)
    if len(groups) < 2 or not any("predicted" in launch for launch in launches):
        return []
    rows = []
    for (kernel, grid, block), members in groups.items():
        seconds = [member.get("predicted", {}).get("seconds") for member in members]
        known = None not in seconds
        grid, block = (" x ".join(str(n) for n in sizes if n != 1) or "1" for sizes in (grid, block))
        low, high = (max(member["predicted"][end] for member in members) if known else 0 for end in ("low", "high"))
        rows.append((sum(seconds) if known else 0, [
            kernel[:40], grid, block, str(len(members)), microseconds(max(seconds)) if known else "-",
            f"{microseconds(low)} to {microseconds(high)}" if known else "-", microseconds(sum(seconds)) if known else "-",
            members[0]["predicted"]["limit"] if known else members[0]["predicted"]["why"][:40]]))
    gpu = next(launch["predicted"]["gpu"] for launch in launches if "predicted" in launch)
    heads = ["kernel", "blocks", "threads", "launches", "longest", "band", "together", "limit"]
    return [f"predicted on {gpu}, nothing measured:",
            *table(heads, [cells for _, cells in sorted(rows, key=lambda row: -row[0])], {0, 7})]


def added(a: dict, b: dict) -> dict:
    return {key: a.get(key, 0) + b.get(key, 0) for key in {**a, **b}}


def together(launches: list[dict]) -> list[dict]:
    """What a variant launches again and again, with the same grid, as one launch with the sums; the busiest thread is the
    first's."""
    merged: dict[str, dict] = {}
    for launch in launches:
        key = json.dumps([launch["kernel"], launch["grid"], launch["block"]])
        if key not in merged:
            merged[key] = {**launch, "times": 1}
            continue
        sums = merged[key]
        sums["times"] += 1
        for part in ("total", "footprint", "dram"):
            if part in sums:
                sums[part] = added(sums[part], launch[part])
        lines = {(line["file"], line["line"]): line for line in sums["lines"]}
        for line in launch["lines"]:
            place = (line["file"], line["line"])
            lines[place] = {**line, "counts": added(lines[place]["counts"], line["counts"])} if place in lines else line
        sums["lines"] = list(lines.values())
    return list(merged.values())


def describe_library(calls: list[dict]) -> list[str]:
    uncounted = [call for call in calls if not call.get("counted", True)]
    if uncounted:
        names = ", ".join(sorted({call["call"] for call in uncounted}))
        counted = [call for call in calls if call.get("counted", True)]
        return [f"not counted, as the executor has no kernels of its library: {names}, {len(uncounted)} calls; their time is not predicted",
                *(describe_library(counted) if counted else [])]
    read, written = (sum(call[key] for call in calls) for key in ("bytes_read", "bytes_written"))
    names = ", ".join(sorted({call["call"] for call in calls}))
    return [f"{names}, computed by the host: {len(calls)} calls; operands of {number(read)} bytes, results of {number(written)} bytes, "
            "each counted once"]


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Print the executor's counters.")
    parser.add_argument("report", type=Path, help="a JSON report of the executor")
    parser.add_argument("--variant", default="*", help="only variants of this name, `tree` or `online f16`; * and ? as in a shell")
    options = parser.parse_args(argv)
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    try:
        report = only(json.loads(options.report.read_text()), options.variant)
        if said := summary(report.get("launches", [])):
            print("\n".join(said) + "\n")
        for title, launch in launches_of(report):
            said = describe_library(launch["library_calls"]) if "library_calls" in launch else describe(launch, colour)
            print("\n".join(([title] if title else []) + said) + "\n")
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except (OSError, ValueError, KeyError) as error:
        print(f"profile.py: {options.report}: not a report of the executor ({error})", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `... | head` ends it without a traceback
    sys.exit(main(sys.argv[1:]))
