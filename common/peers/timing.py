"""Times contenders beside each other: one CUDA graph each, replayed in turns."""

from __future__ import annotations

import collections
import math
import statistics
from dataclasses import dataclass

import torch

from contenders import Contender
from shapes import MASKED, UNMASKED_EACH, Case

ROTATED_BYTES = 400e6  # of inputs and outputs together: well over any L2, so that a call finds nothing of its data there
GRAPH_BYTES = 2e9  # what a graph's calls move at least: half a millisecond of an H200's memory
LEAST_CALLS, MOST_CALLS = 10, 2000
ROUNDS, LEAST_ROUNDS = 9, 3
CASE_SECONDS = 1.5  # for the rounds of one case, if that is more than the least
LONG_SECONDS = 5e-3  # a graph that takes so long does not show the gap before it
WARM_UP_SECONDS = 0.02
BASE = 256  # bytes on which every buffer begins


def rotation(case: Case) -> tuple[int, int]:
    """(sets of buffers, calls a graph makes). Every call takes the next set; calls is a multiple of sets."""
    moved = case.input_bytes + case.output_bytes
    sets = max(2, min(MOST_CALLS, math.ceil(ROTATED_BYTES / moved)))
    calls = max(LEAST_CALLS, sets, min(MOST_CALLS, math.ceil(GRAPH_BYTES / moved)))
    return sets, math.ceil(calls / sets) * sets


def matrices(count: int, shape: tuple[int, int], dtype: torch.dtype) -> list[torch.Tensor]:
    """Uninitialised, each on a boundary of its own in one allocation."""
    size = torch.empty((), dtype=dtype).element_size()
    stride = math.ceil(shape[0] * shape[1] * size / BASE) * BASE // size
    memory = torch.empty(count * stride, dtype=dtype, device="cuda")
    return [memory[i * stride:i * stride + shape[0] * shape[1]].view(shape) for i in range(count)]


def fill(x: torch.Tensor, values: str) -> None:
    """Logits of the kind that shapes.LOGITS has: normal numbers times 3, or what a selection does not expect."""
    cols = x.shape[1]
    if values in ("descending", "ascending"):
        line = torch.linspace(12, -12, cols, device=x.device)
        x.copy_(line if values == "descending" else line.flip(0))  # in 16 bits neighbours are equal
    elif values == "ties":
        x.random_(0, 4)
    elif values == "constant":
        x.fill_(1)
    else:
        x.normal_(0, 3)
        if values == MASKED:
            x.masked_fill_(torch.arange(cols, device=x.device) % UNMASKED_EACH != 0, -math.inf)


class Buffers:
    """The sets that the calls of a case rotate over. Inputs are filled afresh."""

    def __init__(self, case: Case, seed: int):
        dtype = getattr(torch, case.dtype)
        sets, self.calls = rotation(case)
        torch.manual_seed(seed)
        self.inputs = matrices(sets, (case.rows, case.cols), dtype)
        for x in self.inputs:
            fill(x, case.values)
        if case.op == "cross_entropy":
            self.outputs = matrices(sets, (case.rows, 1), torch.float32)
        elif case.op == "cross_entropy_gradient":
            self.outputs = list(zip(matrices(sets, (case.rows, 1), torch.float32), matrices(sets, (case.rows, case.cols), dtype)))
        elif case.op != "topk":
            self.outputs = matrices(sets, (case.rows, case.cols), dtype)
        else:
            prob, index = (matrices(sets, (case.rows, case.k), t) for t in (torch.float32, torch.int32))
            self.outputs = list(zip(prob, index))

    def poison(self) -> None:
        for out in self.outputs:
            for tensor in out if isinstance(out, tuple) else (out,):
                tensor.fill_(float("nan") if tensor.is_floating_point() else -1)


@dataclass
class Timed:
    """One contender in its graph. kept: the results of its last calls, as many as there are sets, or its outputs."""

    graph: torch.cuda.CUDAGraph
    kept: list
    turns: int = 2  # replays for one time: 2 for a short graph, see replay

    def result(self, i: int):
        """Of the call that took input set i last."""
        return self.kept[i]


def capture(function: Contender, buffers: Buffers, calls: int = 0) -> Timed:
    """Calls the contender on every set in turn, in one graph; so many calls, or the buffers'. What it returns is kept for as
    many calls as there are sets, so that its results rotate over as much memory as everybody's."""
    sets = len(buffers.inputs)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for i in range(3):  # compiles, autotunes, makes handles: nothing of which may happen while it is captured
            function(buffers.inputs[i % sets], buffers.outputs[i % sets])
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    kept: collections.deque = collections.deque(maxlen=sets)
    with torch.cuda.graph(graph):
        for call in range(calls or buffers.calls):
            returned = function(buffers.inputs[call % sets], buffers.outputs[call % sets])
            kept.append(buffers.outputs[call % sets] if returned is None else returned)
    return Timed(graph, list(kept))


def warm_up(timed: list[Timed]) -> int:
    """Raises the clock and loads what is to be loaded. Returns how many rounds fit."""
    seconds = 0.0
    for each in timed:
        elapsed = 0.0
        while elapsed < WARM_UP_SECONDS:
            last = replay(each)
            elapsed += last
        each.turns = 1 if last > LONG_SECONDS else 2
        seconds += each.turns * last
    return max(LEAST_ROUNDS, min(ROUNDS, int(CASE_SECONDS / seconds)))


def replay(each: Timed) -> float:
    """Seconds of one replay. Of a short graph, the replay before it keeps the device busy until the timed one is queued too."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    if each.turns == 2:
        each.graph.replay()
    begin.record()
    each.graph.replay()
    end.record()
    end.synchronize()
    return 1e-3 * begin.elapsed_time(end)


def interleaved(timed: list[Timed], calls: int, rounds: int) -> list[list[float]]:
    """Seconds of one call, for each contender as many as there are rounds; every round takes each once, the order turning."""
    seconds: list[list[float]] = [[] for _ in timed]
    for turn in range(rounds):
        for step in range(len(timed)):
            i = (turn + step) % len(timed)
            seconds[i].append(replay(timed[i]) / calls)
    return seconds


def summary(seconds: list[float]) -> dict[str, float]:
    """Median, smallest and largest, in seconds with four digits."""
    return {name: float(f"{value:.4g}") for name, value in
            (("median", statistics.median(seconds)), ("min", min(seconds)), ("max", max(seconds)))}
