"""Softmax and softmax + top-K by the kernels of this course, for arrays of PyTorch, CuPy, NumPy and their like.

    import ladder
    y = ladder.softmax(x)                                  # over the last dimension
    prob, index = ladder.softmax_topk(x, 50)               # the 50 largest probabilities of each row, falling
    y = ladder.softmax(x, variant="lab04.f16x8")           # any variant of any lab; ladder.variants() lists them
    y = ladder.softmax(x, variant="mine.cu:tree")          # or of a file of one's own

An array on a CUDA device is handled there, on the current stream of its library, without a copy and without waiting: calls
can be captured in a CUDA graph. A NumPy array is handled by the course's executor on the CPU. The rung that is called is
built on first use, which stderr says (PREBUILT=1: it is there already); variants() builds all of them. Put common/python on PYTHONPATH; nothing needs to be installed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from . import arrays, choice, executor, rungs
from .errors import LadderError
from .rungs import MAX_K, Variant

__all__ = ["softmax", "softmax_topk", "variants", "TopK", "Variant", "LadderError"]


class TopK(NamedTuple):
    """prob: float32, falling. index: int32, of the last dimension; the lower one first where logits are equal."""

    prob: Any
    index: Any


def softmax(x: Any, *, variant: str | None = None, out: Any = None, stream: int | None = None) -> Any:
    """exp(x) over its sum along the last dimension, in the dtype of x: float32, float16 or bfloat16.

    x: contiguous in row-major order; its memory begins at a multiple of 256 bytes, as every allocation does.
    variant: "lab03.online"; default: the most advanced one that takes this dtype.
    out: an array like x to write to; default: a new one. It is returned.
    stream: a CUDA stream as a number; default: the current one of the library that x belongs to.
    Masked entries (-inf) get 0; a row of nothing else becomes zeros; +inf or NaN make the whole row NaN.
    """
    matrix = arrays.describe(x, "x")
    chosen = choice.resolve(variant, "softmax", matrix.dtype, matrix.on_gpu)
    result = matrix.new_like(matrix.shape, matrix.dtype) if out is None else out
    target = arrays.describe_output(result, "out", matrix, matrix.shape, matrix.dtype)
    if matrix.rows == 0:
        return result
    run(chosen, matrix, [target], 0, stream)
    return result


def softmax_topk(x: Any, k: int, *, variant: str | None = None, out: tuple[Any, Any] | None = None,
                 stream: int | None = None) -> TopK:
    """The k largest values of softmax(x) along the last dimension and where they are, in one pass over x.

    k: from 1 to the smaller of 1024 and the last dimension. out: (prob, index), float32 and int32, shaped as x but for k in
    place of the last dimension. All else as in softmax().
    """
    matrix = arrays.describe(x, "x")
    if isinstance(k, bool) or not hasattr(k, "__index__"):
        raise TypeError(f"k is a {type(k).__name__}; it must be a whole number")
    k = k.__index__()
    most = min(matrix.cols, MAX_K)
    if not 1 <= k <= most:
        raise ValueError(f"k is {k}; rows of {matrix.cols} allow 1 to {most}")
    chosen = choice.resolve(variant, "softmax_topk", matrix.dtype, matrix.on_gpu)
    shape = (*matrix.shape[:-1], k)
    if out is None:
        result = TopK(matrix.new_like(shape, "float32"), matrix.new_like(shape, "int32"))
    else:
        try:
            result = TopK(*out)
        except TypeError:
            raise TypeError("out must be a pair (prob, index)") from None
    prob = arrays.describe_output(result.prob, "out[0]", matrix, shape, "float32")
    index = arrays.describe_output(result.index, "out[1]", matrix, shape, "int32")
    if matrix.rows == 0:
        return result
    run(chosen, matrix, [index, prob], k, stream)
    return result


def variants(op: str | None = None, dtype: str | None = None) -> list[Variant]:
    """All variants of all solutions, from lab 01 up; of one operation ("softmax", "softmax_topk") or dtype if asked."""
    return [each for each in choice.all_variants() if op in (None, each.op) and dtype in (None, each.dtype)]


def run(chosen: rungs.Chosen, matrix: arrays.Matrix, outputs: list[arrays.Matrix], k: int, stream: int | None) -> None:
    if matrix.on_gpu:
        with matrix.device_guard():
            rungs.launch(chosen, matrix, outputs, k, matrix.current_stream() if stream is None else stream)
    else:
        executor.run(chosen, matrix, outputs, k)
