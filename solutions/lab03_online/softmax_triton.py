"""Lab 03 in Triton: the same move, (max, sum) in one pass, in a language where a program handles a block of elements and the
compiler hands them out to threads.

    y = softmax(x)      # x: (rows, cols), contiguous, on a GPU; float32, float16 or bfloat16

One program works on one row. Where the row fits in registers it is read once. A wider row goes by in blocks, as in `online`:
every position of the block keeps its own (max, sum), they are merged at the end, and the row is read again.

No line here says how many threads there are, how wide a load is or where a barrier stands: what labs 02 to 04 taught is what
the compiler has to find. What it cannot know it is told to try: the size of the block and the number of warps, for each shape.
"""

from __future__ import annotations

import functools

import torch
import triton
import triton.language as tl

LOWEST = tl.constexpr(-3.4028234663852886e38)  # where a maximum starts: not -inf, or a masked row would be NaN
MOST_IN_REGISTERS = 65536  # elements; 64 for each of 1024 threads


def worth_trying(configs: list[triton.Config], arguments: dict, **_: object) -> list[triton.Config]:
    """Of all configurations those that suit this width: the whole row in registers, or blocks of 8 to 32 elements per thread."""
    width = triton.next_power_of_2(arguments["cols"])
    chosen = []
    for config in configs:
        block, threads = config.kwargs["BLOCK"], 32 * config.num_warps
        if config.kwargs["WHOLE_ROW"]:
            if block == width and threads <= block <= 64 * threads:
                chosen.append(config)
        elif block < width and 8 * threads <= block <= 32 * threads:
            chosen.append(config)
    return chosen or [triton.Config({"BLOCK": width, "WHOLE_ROW": True}, num_warps=1)]  # fewer columns than lanes


CONFIGS = [triton.Config({"BLOCK": block, "WHOLE_ROW": True}, num_warps=warps)
           for block in (2**n for n in range(5, MOST_IN_REGISTERS.bit_length())) for warps in (1, 2, 4, 8, 16, 32)]
CONFIGS += [triton.Config({"BLOCK": block, "WHOLE_ROW": False}, num_warps=warps)
            for block in (4096, 8192, 16384) for warps in (8, 16, 32)]


@triton.autotune(CONFIGS, key=["rows", "cols"], prune_configs_by={"early_config_prune": worth_trying},
                 do_bench=functools.partial(triton.testing.do_bench, warmup=5, rep=20))
@triton.jit
def softmax_kernel(x, y, rows, cols, BLOCK: tl.constexpr, WHOLE_ROW: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x += row * cols
    y += row * cols
    column = tl.arange(0, BLOCK)
    if WHOLE_ROW:
        value = tl.load(x + column, mask=column < cols, other=-float("inf")).to(tl.float32)
        row_max = tl.maximum(tl.max(value, 0), LOWEST)
        exponential = tl.exp(value - row_max)
        total = tl.sum(exponential, 0)
        scale = tl.where(total > 0, 1 / total, total)  # 0 for a masked row, NaN for NaN
        tl.store(y + column, exponential * scale, mask=column < cols)
    else:
        maximum = tl.full([BLOCK], LOWEST, tl.float32)
        sum = tl.zeros([BLOCK], tl.float32)
        for start in range(0, cols, BLOCK):
            value = tl.load(x + start + column, mask=start + column < cols, other=-float("inf")).to(tl.float32)
            larger = tl.maximum(maximum, value)
            sum = sum * tl.exp(maximum - larger) + tl.exp(value - larger)
            maximum = larger
        row_max = tl.max(maximum, 0)
        total = tl.sum(sum * tl.exp(maximum - row_max), 0)
        scale = tl.where(total > 0, 1 / total, total)
        for start in range(0, cols, BLOCK):
            value = tl.load(x + start + column, mask=start + column < cols, other=-float("inf")).to(tl.float32)
            tl.store(y + start + column, tl.exp(value - row_max) * scale, mask=start + column < cols)


def softmax(x: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """softmax of each row of x, (rows, cols), contiguous. out: where to write; default: a new tensor."""
    rows, cols = x.shape
    assert x.is_contiguous()
    out = torch.empty_like(x) if out is None else out
    if rows:
        softmax_kernel[(rows,)](x, out, rows, cols)
    return out
