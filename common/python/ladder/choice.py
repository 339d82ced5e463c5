"""Which variants there are, of the executor's build of a rung and of the GPU's, and which of them a call means."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

from . import executor
from .errors import LadderError
from .rungs import OPS, ROOT, Chosen, Variant, cuda_rung, exports, solutions


def table_of(source: str, on_gpu: bool) -> list[tuple[str, str, str]]:
    """(name, op, dtype) of each variant."""
    if on_gpu:
        return cuda_rung(source).table
    return executor.rung(source).table


def label(source: str) -> str:
    """ "solutions/lab03_online/softmax_online.cu" -> "lab03"; a file of one's own keeps its path."""
    match = re.match(r"solutions/(lab\d\d[b-z]?)_", source)
    return match[1] if match else source


def all_variants() -> list[Variant]:
    """By the executor's build, which every machine can make, or the GPU's where only that was brought along."""
    def table(source: str) -> list[tuple[str, str, str]]:
        try:
            return table_of(source, on_gpu=False)
        except LadderError:
            return table_of(source, on_gpu=True)

    found = []
    for source in solutions():
        if not any(exports(source, op) for op in OPS[:2]):
            continue
        try:
            found += [Variant(f"{label(source)}.{name}", op, dtype, source) for name, op, dtype in table(source) if op in OPS[:2]]
        except LadderError as problem:
            warnings.warn(f"{label(source)} is left out: {problem}", stacklevel=3)
    return found


def resolve(variant: str | None, op: str, dtype: str, on_gpu: bool) -> Chosen:
    """Which function a call means. Without a name: of the last lab that has one for this dtype the last in its table, since
    labs and tables go up the ladder."""
    if variant is None:
        for source in reversed(solutions(op)):
            table = table_of(source, on_gpu)
            found = [i for i, row in enumerate(table) if row[1:] == (op, dtype)]
            if found:
                return Chosen(source, found[-1], f"{label(source)}.{table[found[-1]][0]}")
        raise TypeError(f"no variant of {op} takes {dtype}")
    source, name = source_and_name(variant)
    table = table_of(source, on_gpu)
    for i, row in enumerate(table):
        if row == (name, op, dtype):
            return Chosen(source, i, variant)
    takes = [row[2] for row in table if row[:2] == (name, op)]
    if takes:
        raise TypeError(f"{variant} takes {' or '.join(takes)}, not {dtype}")
    names = sorted({row[0] for row in table if row[1] == op})
    raise ValueError(f"{variant}: {source} has no {op} of this name; it has {', '.join(names) if names else 'none'}")


def source_and_name(variant: str) -> tuple[str, str]:
    """ "lab03.online" or "path.cu:online"."""
    if ".cu:" in variant:
        path, _, name = variant.rpartition(":")
        if not Path(path).is_file():
            raise ValueError(f"{variant}: there is no file {path}")
        resolved = Path(path).resolve()
        return str(resolved.relative_to(ROOT) if resolved.is_relative_to(ROOT) else resolved), name
    lab, _, name = variant.partition(".")
    for source in solutions():
        if label(source) == lab and name:
            return source, name
    raise ValueError(f"variant {variant!r}: it must be like lab03.online or path.cu:name; the labs are "
                     f"{', '.join(label(source) for source in solutions())}")
