"""Reads what Nsight Compute prints about a run of launch_once and turns it into the executor's report: the same names,
the same nesting (common/simt/counters/report.cpp, common/bench/profile.cpp), so that profile.py prints either.

Totals of a kernel are the hardware's counters (`--page raw`). The rows of its source lines come from the counts that ncu
takes by patching the machine code (`--page source --print-source cuda,sass`): an instruction belongs to the innermost line
of the kernel's own file. Two things of the executor's report are not there: the footprint (bytes to and from DRAM stand in
its place) and the busiest thread.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re

GLOBAL = "l1tex__t_{what}_pipe_lsu_mem_global_op_{op}.sum"
SHARED_WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum"
SHARED_CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{op}.sum"
INSTRUCTIONS = "smsp__sass_inst_executed_op_{space}_{op}.sum"
DRAM = ("dram__bytes_read.sum", "dram__bytes_write.sum")
# How busy a unit is, in per cent of what it can do.
BUSY = {"DRAM": "dram__throughput.avg.pct_of_peak_sustained_elapsed", "L2": "lts__throughput.avg.pct_of_peak_sustained_elapsed",
        "L1": "l1tex__throughput.avg.pct_of_peak_sustained_elapsed", "SM": "sm__throughput.avg.pct_of_peak_sustained_elapsed",
        "issue slots": "smsp__issue_active.avg.pct_of_peak_sustained_elapsed"}
MARK = "mark_variant()"
OPS = ("ld", "st", "atom")

# What ncu is asked for. `red` is an atomic without a result; the executor counts both as atom.
METRICS = tuple([GLOBAL.format(what=what, op=op) for what in ("requests", "sectors") for op in (*OPS, "red")]
                + [SHARED_WAVEFRONTS.format(op=op) for op in OPS] + [SHARED_CONFLICTS.format(op=op) for op in OPS]
                + [INSTRUCTIONS.format(space="shared", op=op) for op in OPS] + list(DRAM) + list(BUSY.values()))


class UserError(Exception):
    pass


def number(text: str) -> int:
    """ "1,216" and "115200.000000" are whole numbers; ncu writes both."""
    return round(float(text.replace(",", "")))


def table(text: str) -> list[list[str]]:
    return [row for row in csv.reader(io.StringIO(text)) if row and not row[0].startswith("==")]


def totals(row: dict[str, str]) -> dict[str, int]:
    """The counters of one kernel under the executor's names."""
    def read(name: str) -> int:
        if name not in row:
            raise UserError(f"ncu's output has no {name}")
        return number(row[name] or "0")

    counts: dict[str, int] = {}
    for op in OPS:
        both = (op, "red") if op == "atom" else (op,)
        for what in ("requests", "sectors"):
            counts[GLOBAL.format(what=what, op=op)] = sum(read(GLOBAL.format(what=what, op=o)) for o in both)
    for op in OPS:
        counts[f"shared_requests_op_{op}"] = read(INSTRUCTIONS.format(space="shared", op=op))
        counts[SHARED_WAVEFRONTS.format(op=op)] = read(SHARED_WAVEFRONTS.format(op=op))
        counts[SHARED_CONFLICTS.format(op=op)] = read(SHARED_CONFLICTS.format(op=op))
    return counts


def extent(text: str) -> list[int]:
    """ "(256, 1, 1)" """
    return [int(part) for part in text.strip("()").split(",")]


def read_raw(text: str) -> list[dict]:
    """`ncu --page raw --csv --print-units base`: one launch per kernel, marks included, in the order of launching."""
    rows = table(text)
    if len(rows) < 2 or "Kernel Name" not in rows[0]:
        raise UserError("ncu printed no table of kernels")
    head, units = rows[0], rows[1]
    for name, unit in zip(head, units):
        if name in DRAM and unit != "byte":
            raise UserError(f"{name} is in {unit}; ncu needs --print-units base")
    launches = []
    for cells in rows[2:]:
        row = dict(zip(head, cells))
        launches.append({"kernel": row["Kernel Name"], "grid": extent(row["Grid Size"]), "block": extent(row["Block Size"]),
                         "dram": {"bytes_read": number(row.get(DRAM[0]) or "0"), "bytes_written": number(row.get(DRAM[1]) or "0")},
                         "busy": {unit: float(row[name].replace(",", "")) for unit, name in BUSY.items() if row.get(name)},
                         "total": {} if row["Kernel Name"] == MARK else totals(row), "lines": []})
    return launches


def opcode(sass: str) -> str:
    """ "@!P0  LDG.E.128.CONSTANT R4, ..." -> "LDG.E.128.CONSTANT" """
    words = sass.split()
    return words[1] if words and words[0].startswith("@") and len(words) > 1 else (words[0] if words else "")


# Opcode up to its first dot -> memory and operation. LD, ST and ATOM address any memory; kernels of rungs use them for
# global memory where the compiler cannot tell. LDGSTS is cp.async: a load and a store in one.
ASYNC_COPY = "LDGSTS"
ACCESSES = {"LDG": [("global", "ld")], "STG": [("global", "st")], "ATOMG": [("global", "atom")], "RED": [("global", "atom")],
            "LD": [("global", "ld")], "ST": [("global", "st")], "ATOM": [("global", "atom")],
            "LDS": [("shared", "ld")], "STS": [("shared", "st")], "ATOMS": [("shared", "atom")],
            ASYNC_COPY: [("global", "ld"), ("shared", "st")]}
WIDTHS = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}


def width(name: str) -> int:
    """Bytes that a lane moves."""
    return next((WIDTHS[part] for part in name.split(".")[1:] if part in WIDTHS), 4)


def no_counts() -> dict[str, int]:
    counts = {}
    for op in OPS:
        for name in (GLOBAL.format(what="requests", op=op), GLOBAL.format(what="sectors", op=op), f"global_bytes_op_{op}",
                     f"shared_requests_op_{op}", SHARED_WAVEFRONTS.format(op=op), SHARED_CONFLICTS.format(op=op),
                     f"shared_bytes_op_{op}"):
            counts[name] = 0
    counts["barriers"] = counts["warp_operations"] = 0
    return counts


def add_instruction(counts: dict[str, int], row: dict[str, str]) -> None:
    """One machine instruction's counts, added to those of its line."""
    def cell(name: str) -> int:
        text = row.get(name, "")
        return number(text) if re.fullmatch(r"[0-9.,]+", text) else 0

    name = opcode(row["sass"])
    executed, lanes = cell("Instructions Executed"), cell("Predicated-On Thread Instructions Executed")
    kind = name.split(".")[0]
    if kind == "BAR":
        counts["barriers"] += executed
    elif kind in ("SHFL", "VOTE", "VOTEU", "MATCH", "REDUX") or name.startswith("WARPSYNC"):
        counts["warp_operations"] += executed
    if kind == ASYNC_COPY:
        counts["async_copies"] = counts.get("async_copies", 0) + executed
    # A warp whose lanes are all predicated off executes the instruction but makes no request; each request moves
    # something.
    for space, op in ACCESSES.get(kind, []):
        if space == "global":
            sectors = cell("L2 Theoretical Sectors Global")
            counts[GLOBAL.format(what="requests", op=op)] += min(executed, lanes, sectors)
            counts[GLOBAL.format(what="sectors", op=op)] += sectors
        else:
            wavefronts = cell("L1 Wavefronts Shared")
            counts[f"shared_requests_op_{op}"] += min(executed, lanes, wavefronts)
            counts[SHARED_WAVEFRONTS.format(op=op)] += wavefronts
            counts[SHARED_CONFLICTS.format(op=op)] += cell("L1 Wavefronts Shared Excessive")
        counts[f"{space}_bytes_op_{op}"] += lanes * width(name)


def is_header(path: str) -> bool:
    return "/include/" in path or path.startswith("/usr/")


def innermost(places: set[tuple[str, int]]) -> tuple[str, int]:
    """An inlined instruction stands below its own line and below those of all calls around it. Of the lines in the rung's
    own file the innermost is the first: a function stands above those that call it."""
    own = [place for place in places if not is_header(place[0])]
    return min(own or places, key=lambda place: place[1])


def read_source(text: str) -> list[tuple[str, dict[tuple[str, int], dict[str, int]]]]:
    """`ncu --page source --csv --print-source cuda,sass`: (function, counts of each line) a kernel. A kernel has a section
    for each file that its code comes from; the first file of the next kernel, or the same file again, begins the next."""
    kernels: list[tuple[str, dict]] = []  # function, address -> (places, row)
    head: list[str] = []
    file, line, files_seen = "", 0, set()
    for row in table(text):
        if row[0] == "File Path":
            file = row[1]
        elif row[0] == "Function Name":
            if not kernels or kernels[-1][0] != row[1] or file in files_seen:
                kernels.append((row[1], {}))
                files_seen = set()
            files_seen.add(file)
        elif row[0] == "Line No":
            head = row[:3] + ["sass"] + row[4:]
        elif len(row) == len(head):
            line = int(row[0]) if row[0] else line
            if row[2].startswith("0x"):
                cells = dict(zip(head, row))
                kernels[-1][1].setdefault(row[2], (set(), cells))[0].add((file, line))
    result = []
    for function, instructions in kernels:
        lines: dict[tuple[str, int], dict[str, int]] = {}
        for places, row in instructions.values():
            add_instruction(lines.setdefault(innermost(places), no_counts()), row)
        result.append((function, {place: counts for place, counts in lines.items() if any(counts.values())}))
    return result


def short_name(kernel: str) -> str:
    """ "void softmax_kernel<(int)8>(const __half *, __half *, int)" -> "softmax_kernel<8>", as the executor shortens it
    (common/simt/module_symbols.h)."""
    name = re.sub(r"\((int|bool|unsigned int|size_t|long|unsigned long)\)|(<unnamed>|\(anonymous namespace\))::", "",
                  kernel.removeprefix("void "))
    depth = 0
    for i, c in enumerate(name):
        depth += (c == "<") - (c == ">")
        if c == "(" and depth == 0:
            return name[:i]
    return name


def shortened(path: str, root: str) -> str:
    """Relative to root, also where the rung was built in another folder and brought here."""
    parts = path.strip("/").split("/")
    tails = ("/".join(parts[i:]) for i in range(len(parts)))
    return next((tail for tail in tails if os.path.isfile(os.path.join(root, tail))), path)


def join_lines(launches: list[dict], sources: list[tuple[str, dict]], root: str) -> None:
    """Puts the lines of read_source into the launches of read_raw. root: the folder that paths are relative to."""
    if [short_name(launch["kernel"]) for launch in launches] != [short_name(function) for function, _ in sources]:
        raise UserError("ncu's two pages name different kernels")
    for launch, (_, lines) in zip(launches, sources):
        for (file, line), counts in sorted(lines.items()):
            launch["lines"].append({"file": shortened(file, root), "line": line, "counts": counts})
        if launch["total"]:
            # Asked for: active lanes times their width, also where lanes share an address.
            asked = [f"{space}_bytes_op_{op}" for space in ("global", "shared") for op in OPS]
            for name in (*asked, "barriers", "warp_operations"):
                launch["total"][name] = sum(each["counts"][name] for each in launch["lines"])


def by_variant(launches: list[dict], manifest: str) -> list[dict]:
    """The launches of each variant, by the marks between them; manifest: what launch_once printed."""
    variants = [json.loads(line) for line in manifest.splitlines() if line.startswith("{")]
    groups: list[list[dict]] = []
    for launch in launches:
        if launch["kernel"] == MARK:
            groups.append([])
        elif groups:
            groups[-1].append({**launch, "kernel": short_name(launch["kernel"])})
    if len(groups) != len(variants):
        raise UserError(f"ncu saw {len(groups)} variants, launch_once launched {len(variants)}")
    return [{**variant, "report": {"launches": group}} for variant, group in zip(variants, groups)]
