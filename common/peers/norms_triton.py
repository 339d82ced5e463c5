"""RMSNorm and LayerNorm in Triton, as its tutorials write a norm: one program per row, the whole row in registers where it fits.

    y = rms_norm(x, weight, eps)              # x: (rows, cols), contiguous, on a GPU; weight, bias: (cols), of the type of x
    y = layer_norm(x, weight, bias, eps)

Triton is told to try all numbers of warps and sizes of a block that softmax_triton.py tries, for each shape."""

from __future__ import annotations

import functools

import torch
import triton
import triton.language as tl
from softmax_triton import CONFIGS, worth_trying

tuned = triton.autotune([triton.Config(dict(config.kwargs), num_warps=config.num_warps) for config in CONFIGS], key=["rows", "cols"],
                        prune_configs_by={"early_config_prune": worth_trying},
                        do_bench=functools.partial(triton.testing.do_bench, warmup=5, rep=20))


@tuned
@triton.jit
def rms_norm_kernel(x, weight, y, rows, cols, eps, BLOCK: tl.constexpr, WHOLE_ROW: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x += row * cols
    y += row * cols
    column = tl.arange(0, BLOCK)
    if WHOLE_ROW:
        inside = column < cols
        value = tl.load(x + column, mask=inside, other=0).to(tl.float32)
        scale = tl.rsqrt(tl.sum(value * value, 0) / cols + eps)
        factor = tl.load(weight + column, mask=inside, other=0).to(tl.float32)
        tl.store(y + column, value * scale * factor, mask=inside)
    else:
        squares = tl.zeros([BLOCK], tl.float32)
        for start in range(0, cols, BLOCK):
            value = tl.load(x + start + column, mask=start + column < cols, other=0).to(tl.float32)
            squares += value * value
        scale = tl.rsqrt(tl.sum(squares, 0) / cols + eps)
        for start in range(0, cols, BLOCK):
            inside = start + column < cols
            value = tl.load(x + start + column, mask=inside, other=0).to(tl.float32)
            factor = tl.load(weight + start + column, mask=inside, other=0).to(tl.float32)
            tl.store(y + start + column, value * scale * factor, mask=inside)


def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float, out: torch.Tensor | None = None) -> torch.Tensor:
    """RMSNorm of each row of x. out: where to write; default: a new tensor."""
    rows, cols = x.shape
    assert x.is_contiguous() and weight.is_contiguous()
    out = torch.empty_like(x) if out is None else out
    if rows:
        rms_norm_kernel[(rows,)](x, weight, out, rows, cols, eps)
    return out


@tuned
@triton.jit
def layer_norm_kernel(x, weight, bias, y, rows, cols, eps, BLOCK: tl.constexpr, WHOLE_ROW: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x += row * cols
    y += row * cols
    column = tl.arange(0, BLOCK)
    if WHOLE_ROW:
        inside = column < cols
        value = tl.load(x + column, mask=inside, other=0).to(tl.float32)
        mean = tl.sum(value, 0) / cols
        centred = tl.where(inside, value - mean, 0)
        scale = tl.rsqrt(tl.sum(centred * centred, 0) / cols + eps)
        factor = tl.load(weight + column, mask=inside, other=0).to(tl.float32)
        term = tl.load(bias + column, mask=inside, other=0).to(tl.float32)
        tl.store(y + column, centred * scale * factor + term, mask=inside)
    else:
        sums = tl.zeros([BLOCK], tl.float32)
        for start in range(0, cols, BLOCK):
            sums += tl.load(x + start + column, mask=start + column < cols, other=0).to(tl.float32)
        mean = tl.sum(sums, 0) / cols
        squares = tl.zeros([BLOCK], tl.float32)
        for start in range(0, cols, BLOCK):
            inside = start + column < cols
            centred = tl.where(inside, tl.load(x + start + column, mask=inside, other=0).to(tl.float32) - mean, 0)
            squares += centred * centred
        scale = tl.rsqrt(tl.sum(squares, 0) / cols + eps)
        for start in range(0, cols, BLOCK):
            inside = start + column < cols
            value = tl.load(x + start + column, mask=inside, other=0).to(tl.float32)
            factor = tl.load(weight + start + column, mask=inside, other=0).to(tl.float32)
            term = tl.load(bias + start + column, mask=inside, other=0).to(tl.float32)
            tl.store(y + start + column, (value - mean) * scale * factor + term, mask=inside)


def layer_norm(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float, out: torch.Tensor | None = None) -> torch.Tensor:
    """LayerNorm of each row of x. out: where to write; default: a new tensor."""
    rows, cols = x.shape
    assert x.is_contiguous() and weight.is_contiguous() and bias.is_contiguous()
    out = torch.empty_like(x) if out is None else out
    if rows:
        layer_norm_kernel[(rows,)](x, weight, bias, out, rows, cols, eps)
    return out
