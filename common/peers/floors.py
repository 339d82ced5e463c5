"""What no kernel can go below: the fastest of several ways to copy the same bytes, or only to read them, on this device and for
this case. One way alone is no floor: PyTorch's sum of one row takes longer than a softmax with top-K.

The ways in Triton take the matrix as one long array, in blocks: a program per block, or a few programs per multiprocessor that
each go through many blocks.
"""

from __future__ import annotations

import importlib
import math
import statistics
import sys
from typing import Callable

import torch
from contenders import Contender, nothing, optional
from shapes import FLOOR, Case
from timing import LEAST_CALLS, Buffers, capture, interleaved

ROUNDS = 5
chosen: dict[tuple, tuple[str, dict]] = {}  # by what is moved: the choice is made once


def copied_to(out: object) -> torch.Tensor:
    return out[1] if isinstance(out, tuple) else out


def in_triton(make: Callable[[object], dict[str, Contender]]) -> dict[str, Contender]:
    module = optional("triton", lambda: importlib.import_module("floors_triton"))
    return make(module) if module else {}


def copies() -> dict[str, Contender]:
    """By name. copy_ is cudaMemcpyAsync, mul a kernel of PyTorch's."""
    return {"torch copy_": nothing(lambda x, out: copied_to(out).copy_(x)),
            "torch mul": nothing(lambda x, out: torch.mul(x, 1, out=copied_to(out))),
            **in_triton(lambda module: {f"triton {name}": nothing(lambda x, out, copy=copy: copy(x, copied_to(out)))
                                        for name, copy in module.copies().items()})}


def reads() -> dict[str, Contender]:
    return {"torch sum": lambda x, out: torch.sum(x),
            "torch amax": lambda x, out: torch.amax(x),
            **in_triton(lambda module: {f"triton {name}": lambda x, out, read=read: read(x)
                                        for name, read in module.reads().items()})}


def problem(floor: str, x: torch.Tensor, result: object) -> str:
    """ "" if a copy is one; of a reader in Triton, whose partial sums wrap around, if it has read every word of x."""
    if floor == "copy":
        return "" if torch.equal(copied_to(result), x) else "the copy differs"
    if result.dtype == torch.int32:
        import floors_triton

        expected = int(floors_triton.words(x).sum(dtype=torch.int64))
        return "" if (int(result.sum(dtype=torch.int64)) - expected) % 2**32 == 0 else "not every word was read"
    return ""


def fastest(case: Case, buffers: Buffers) -> tuple[Contender, dict]:
    """The way that takes least time, in graphs like the contenders' own; and what is recorded of the choice: its name, and the
    seconds of all ways."""
    floor, sets = FLOOR[case.op], len(buffers.inputs)
    ways = (copies if floor == "copy" else reads)()
    moved = (floor, case.dtype, case.rows, case.cols)
    if moved not in chosen:
        calls, timed = math.ceil(max(LEAST_CALLS, sets) / sets) * sets, {}
        for name, way in ways.items():
            try:
                each = capture(way, buffers, calls)
                buffers.poison()
                each.graph.replay()
                wrong = [text for i in {0, sets - 1} for text in [problem(floor, buffers.inputs[i], each.result(i))] if text]
            except Exception as error:  # a way that this device or this Triton does not have
                torch.cuda.synchronize()
                wrong = [" ".join(str(error).split())[:200]]
            if wrong:
                print(f"    {name} is no {floor}: {wrong[0]}", file=sys.stderr, flush=True)
            else:
                timed[name] = each
        seconds = {name: float(f"{statistics.median(times):.4g}") for name, times in
                   zip(timed, interleaved(list(timed.values()), calls, ROUNDS))}
        best = min(seconds, key=seconds.get)
        chosen[moved] = best, {"way": best, "seconds": seconds}
    best, record = chosen[moved]
    return ways[best], record
