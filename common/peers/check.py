"""Is a contender's result right? Held against the same computation in float64, on the device."""

from __future__ import annotations

from typing import Callable

import torch
from shapes import IGNORED_TARGET, LAYER_NORM_EPS, RMS_NORM_EPS

# Relative error of a probability: two roundings of the type, or single-precision exponentials whose argument is rounded.
RELATIVE = {torch.float32: 2e-4, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}
ABSOLUTE = {torch.float32: 1e-12, torch.float16: 6e-8, torch.bfloat16: 1e-12}  # float16 has nothing below 6e-8
# log(sum) in a 16-bit type is off by up to 0.004 or 0.03, and a probability that is computed from it by as much. A peer may
# do that.
RELATIVE_BY_LOGSUMEXP = {torch.float32: 2e-4, torch.float16: 1.2e-2, torch.bfloat16: 8e-2}
# Logits whose probabilities round to the same number may change places.
LOGIT = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 2e-2}
ROWS_AT_ONCE = 1 << 24  # elements: float64 takes eight bytes each


def blocks(x: torch.Tensor):
    rows = max(1, ROWS_AT_ONCE // x.shape[1])
    for first in range(0, x.shape[0], rows):
        yield slice(first, first + rows)


def problem(x: torch.Tensor, y: torch.Tensor, computed: Callable[[torch.Tensor], torch.Tensor], of_terms: torch.Tensor | None = None) -> str:
    """ "" if y is what is computed of the rows of x, in float64. of_terms: what is added last, so that it may cancel; its error
    is that of both terms."""
    added = 0 if of_terms is None else of_terms.double().abs()
    if y.shape != x.shape or y.dtype != x.dtype:
        return f"the result is {tuple(y.shape)} {y.dtype}"
    for part in blocks(x):
        expected = computed(x[part].double())
        error = (y[part].double() - expected).abs() - RELATIVE[x.dtype] * (expected.abs() + 2 * added) - ABSOLUTE[x.dtype]
        worst = error.max().item()
        if not worst <= 0:  # NaN is not
            row, col = divmod(int(error.nan_to_num(nan=float("inf")).argmax()), x.shape[1])
            return f"row {part.start + row}, column {col}: {y[part][row, col].item():g}, expected {expected[row, col].item():g}"
    return ""


def softmax_problem(x: torch.Tensor, y: torch.Tensor) -> str:
    """ "" if y is the softmax of each row of x."""
    return problem(x, y, lambda part: torch.softmax(part, -1))


def rms_norm_problem(x: torch.Tensor, weight: torch.Tensor, y: torch.Tensor) -> str:
    """ "" if y is the RMSNorm of each row of x."""
    return problem(x, y, lambda part: part * weight.double() * torch.rsqrt(part.square().mean(-1, keepdim=True) + RMS_NORM_EPS))


def layer_norm_problem(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, y: torch.Tensor) -> str:
    """ "" if y is the LayerNorm of each row of x."""
    return problem(x, y, lambda part: torch.nn.functional.layer_norm(part, part.shape[1:], weight.double(), bias.double(), LAYER_NORM_EPS),
                   of_terms=bias)


def cross_entropy_problem(x: torch.Tensor, target: torch.Tensor, loss: torch.Tensor, gradient: torch.Tensor | None = None,
                          scale: float = 1.0, by_logsumexp: bool = False) -> str:
    """ "" if loss is the cross-entropy of each row of x, and gradient, where there is one, that of scale times their sum."""
    if loss.numel() != x.shape[0] or gradient is not None and (gradient.shape != x.shape or gradient.dtype != x.dtype):
        return f"the results are {tuple(loss.shape)} and {None if gradient is None else tuple(gradient.shape)}"
    relative = RELATIVE[torch.float32 if loss.dtype == torch.float32 else x.dtype]
    for part in blocks(x):
        of_log = torch.log_softmax(x[part].double(), -1)
        column = target[part].unsqueeze(1)
        counts = (column != IGNORED_TARGET).double()
        column = column.clamp(min=0)
        expected = -of_log.gather(1, column) * counts
        if not bool(((loss[part].double().reshape(-1, 1) - expected).abs() <= relative * (counts + expected.abs())).all()):
            return "a loss is wrong"
        if gradient is None:
            continue
        softmax = of_log.exp_().mul_(scale * counts)
        wanted = softmax.scatter_add(1, column, -scale * counts)
        of_probability = (RELATIVE_BY_LOGSUMEXP if by_logsumexp else RELATIVE)[x.dtype]
        allowed = of_probability * softmax + RELATIVE[x.dtype] * (wanted - softmax).abs() + ABSOLUTE[x.dtype] * counts
        if not bool(((gradient[part].double() - wanted).abs() <= allowed).all()):
            return "a gradient is wrong"
    return ""


def largest(x: torch.Tensor, k: int) -> torch.Tensor:
    """Columns of the k largest of each row, falling, of equal ones the lower first. float32 and smaller types."""
    bits = (x.float() + 0.0).view(torch.int32)  # + 0: -0 is equal to 0
    ordered = (bits ^ (bits >> 31 & 0x7FFFFFFF)).long()  # as integers in the order of the numbers
    column = torch.arange(x.shape[1], device=x.device)
    return (ordered * 2**32 + (2**32 - 1 - column)).topk(k, -1).values.bitwise_and_(2**32 - 1).neg_().add_(2**32 - 1)


def selection_problem(x: torch.Tensor, values: torch.Tensor, k: int) -> str:
    """values: (rows, k), the k largest of each row of x, the largest first."""
    return "" if torch.equal(values, x.topk(k, -1).values) else f"these are not the {k} largest, in falling order"


def topk_problem(x: torch.Tensor, prob: torch.Tensor, index: torch.Tensor, k: int, by_logsumexp: bool = False,
                 lower_first: bool = False) -> str:
    """ "" if prob, index are the k largest probabilities of each row of x, falling. lower_first: of equal logits the lower
    column first, as this repository promises; its peers may take any."""
    if tuple(prob.shape) != (x.shape[0], k) or tuple(index.shape) != (x.shape[0], k):
        return f"the results are {tuple(prob.shape)} and {tuple(index.shape)}"
    relative = (RELATIVE_BY_LOGSUMEXP if by_logsumexp else RELATIVE)[x.dtype]
    for part in blocks(x):
        logits, indices = x[part].double(), index[part].long()
        best = logits.topk(k, -1).values
        if bool((indices < 0).any()) or bool((indices >= x.shape[1]).any()):
            return "an index is out of range"
        if k > 1 and bool((indices.sort(-1).values.diff(dim=-1) == 0).any()):
            return "an index comes twice in a row"
        chosen = logits.gather(-1, indices)
        # -inf - -inf is NaN, and what is allowed of an infinite number is infinite: equal, or both finite and close.
        near = best.isfinite() & ((chosen - best).abs() <= LOGIT[x.dtype] * best.abs().clamp(min=1))
        if not bool(((chosen == best) | near).all()):
            return "the chosen logits are not the largest, or not in order"
        if lower_first and not torch.equal(indices, largest(x[part], k)):
            return "of equal logits not the lower index comes first"
        expected = (chosen - torch.logsumexp(logits, -1, keepdim=True)).exp()
        if not bool(((prob[part].double() - expected).abs() <= relative * expected + ABSOLUTE[x.dtype]).all()):
            return "a probability is wrong"
    return ""
