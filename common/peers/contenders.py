"""Who is measured on a case: this repository and its peers. What no kernel can go below is in floors.py.

A contender is a function of (x, out). It either writes to `out` and returns None, or leaves `out` alone and returns its
result. `out` is a tensor like x for softmax and the norms, a pair (prob, index) for top-K, the losses for
cross-entropy and a pair (losses, gradient) where the gradient is wanted.
"""

from __future__ import annotations

import functools
import importlib
import sys
from pathlib import Path
from typing import Callable, Iterator

import raft
import torch

from shapes import IGNORED, IGNORED_TARGET, LAYER_NORM_EPS, OURS, RMS_NORM_EPS, Case

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "common/python"), str(ROOT / "solutions/lab03_online")]
import ladder  # noqa: E402

Contender = Callable[[torch.Tensor, object], object]
missing: dict[str, str] = {}  # a peer that is not there: why


def optional(name: str, make: Callable[[], object]) -> object:
    """make(), or None where it cannot be had; said once."""
    if name in missing:
        return None
    try:
        return make()
    except (ImportError, OSError, AttributeError, RuntimeError) as error:
        missing[name] = " ".join(str(error).split())[:200] or type(error).__name__
        return None


def imported(name: str, module: str, what: str) -> Callable | None:
    """A peer's function, or None where its module cannot be had."""
    return optional(name, lambda: getattr(importlib.import_module(module), what))


def nothing(function: Contender) -> Contender:
    """The same, for a function whose result is `out`."""
    def call(x: torch.Tensor, out: object) -> None:
        function(x, out)

    return call


def compiled(function: Callable) -> Callable:
    """Compiled afresh for this shape. fullgraph and no fallback: an error, never plain PyTorch."""
    torch._dynamo.reset()
    torch._dynamo.config.suppress_errors = False
    return torch.compile(function, fullgraph=True, dynamic=False)


def in_torch(function: Callable[[torch.Tensor], object]) -> Iterator[tuple[str, Contender]]:
    """PyTorch's own, as it is and compiled."""
    yield "torch", lambda x, out: function(x)
    fused = compiled(lambda x: function(x))
    yield "torch.compile", lambda x, out: fused(x)


def faster(functions: list[Contender], x: torch.Tensor, out: object) -> Contender:
    """The one that takes less time over a few calls."""
    def seconds(function: Contender) -> float:
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        for i in range(8):
            if i == 3:
                begin.record()
            function(x, out)
        end.record()
        end.synchronize()
        return begin.elapsed_time(end)

    return min(functions, key=seconds)


_cudnn = None


def cudnn_contenders(case: Case, x: torch.Tensor, out: torch.Tensor) -> Iterator[tuple[str, Contender]]:
    global _cudnn
    import cudnn

    _cudnn = _cudnn or optional("cudnn", cudnn.Cudnn)
    if not _cudnn:
        return
    for name, algorithm in (("cudnn_acc", cudnn.ACCURATE), ("cudnn_fast", cudnn.FAST)):
        try:
            yield name, faster([_cudnn.softmax(algorithm, mode, x.dtype, case.rows, case.cols)
                                for mode in (cudnn.INSTANCE, cudnn.CHANNEL)], x, out)
        except OSError as error:
            yield name, refusing(error)


def refusing(error: Exception) -> Contender:
    """Of a contender that does not take the case: says so when it is called."""
    def call(x: torch.Tensor, out: object) -> None:
        raise error

    return call


def variants_of(names: tuple[str, ...], op: str, dtype: str) -> Iterator[tuple[str, str | None]]:
    """This repository: the default, and the variants that were asked for by name, as far as they take the dtype."""
    yield OURS, None
    known = {(each.name, each.dtype) for each in ladder.variants(op)} if names else set()
    for name in names:
        if (name, dtype) in known:
            yield name, name


def softmax(case: Case, x: torch.Tensor, out: torch.Tensor, names: tuple[str, ...] = ()) -> Iterator[tuple[str, Contender]]:
    for label, variant in variants_of(names, "softmax", case.dtype):
        yield label, nothing(lambda x, out, variant=variant: ladder.softmax(x, out=out, variant=variant))
    yield "torch", nothing(lambda x, out: torch.softmax(x, -1, out=out))
    fused = compiled(lambda x: torch.softmax(x, -1))
    yield "torch.compile", lambda x, out: fused(x)
    in_triton = imported("triton", "softmax_triton", "softmax")
    if in_triton:
        yield "triton", nothing(lambda x, out: in_triton(x, out))
    yield from cudnn_contenders(case, x, out)
    module = optional("flashinfer", lambda: importlib.import_module("flashinfer"))
    if module and case.dtype == "float32":  # it takes no other type
        theirs = optional("flashinfer.sampling.softmax", lambda: module.sampling.softmax)
        if theirs:
            yield "flashinfer", lambda x, out: theirs(x)


def softmax_then_topk(x: torch.Tensor, k: int):
    prob, index = torch.softmax(x, -1).topk(k, -1)
    return prob, index


def topk_then_logsumexp(x: torch.Tensor, k: int):
    logit, index = x.topk(k, -1)
    return (logit - torch.logsumexp(x, -1, keepdim=True)).exp(), index


def topk(case: Case, x: torch.Tensor, out: tuple, names: tuple[str, ...] = ()) -> Iterator[tuple[str, Contender]]:
    k = case.k
    for label, variant in variants_of(names, "softmax_topk", case.dtype):
        yield label, nothing(
            lambda x, out, variant=variant: ladder.softmax_topk(x, k, out=out, variant=variant))
    yield "softmax, topk", lambda x, out: softmax_then_topk(x, k)
    yield "topk, logsumexp", lambda x, out: topk_then_logsumexp(x, k)
    for name, function in (("compile: softmax, topk", softmax_then_topk), ("compile: topk, logsumexp", topk_then_logsumexp)):
        fused = compiled(lambda x, function=function: function(x, k))
        yield name, lambda x, out, fused=fused: fused(x)
    module = optional("flashinfer", lambda: importlib.import_module("flashinfer"))
    if module:
        select = optional("flashinfer.top_k", lambda: module.top_k)
        theirs = optional("flashinfer.sampling.softmax", lambda: module.sampling.softmax)
        if select and theirs and case.dtype == "float32":
            yield "flashinfer: softmax, topk", lambda x, out: tuple(select(theirs(x), k, sorted=True))
        if select:
            yield "flashinfer topk alone", lambda x, out: select(x, k, sorted=True)[0]
    library = optional("raft", raft.Raft)
    if library and case.dtype in ("float32", "float16"):
        yield "raft select_k alone", library.select_k(x, k)


@functools.lru_cache(maxsize=1)
def weight_of(cols: int, dtype: torch.dtype) -> torch.Tensor:
    """The weights of every norm of this width."""
    generator = torch.Generator("cuda").manual_seed(cols)
    return torch.randn(cols, dtype=torch.float32, device="cuda", generator=generator).to(dtype)


def bias_of(cols: int, dtype: torch.dtype) -> torch.Tensor:
    return weight_of(cols, dtype).flip(0).contiguous()


def ours(op: str, variant: str | None, dtype: str) -> Callable[..., None]:
    """A variant of an operator that the binding has no function for, with the operator's arguments but the stream, which is
    PyTorch's current one."""
    chosen = ladder.choice.resolve(variant, op, dtype, True)
    function = ladder.rungs.cuda_rung(chosen.source).functions[chosen.index]

    def call(*arguments: object) -> None:
        passed = [each.data_ptr() if isinstance(each, torch.Tensor) else each for each in arguments]
        error = function(*passed, torch.cuda.current_stream().cuda_stream)
        if error:
            raise RuntimeError(f"{chosen.name}: {ladder.rungs.error_name(error)}")

    return call


def our_norm(op: str, variant: str | None, dtype: str, eps: float, *parameters: torch.Tensor) -> Contender:
    call = ours(op, variant, dtype)
    return lambda x, out: call(x, *parameters, out, *x.shape, eps)


def norm(case: Case, x: torch.Tensor, out: torch.Tensor, names: tuple[str, ...] = ()) -> Iterator[tuple[str, Contender]]:
    """RMSNorm or LayerNorm, which has a bias, too."""
    parameters, eps = [weight_of(case.cols, x.dtype)], RMS_NORM_EPS
    if case.op == "layer_norm":
        parameters, eps = [*parameters, bias_of(case.cols, x.dtype)], LAYER_NORM_EPS
    for label, variant in variants_of(names, case.op, case.dtype):
        yield label, our_norm(case.op, variant, case.dtype, eps, *parameters)
    theirs = getattr(torch.nn.functional, case.op)
    yield from in_torch(lambda x: theirs(x, (case.cols,), *parameters, eps))
    in_triton = imported("triton", "norms_triton", case.op)
    if in_triton:
        yield "triton", nothing(lambda x, out: in_triton(x, *parameters, eps, out))


@functools.lru_cache(maxsize=1)
def target_of(rows: int, cols: int, values: str) -> torch.Tensor:
    """The targets of every cross-entropy of this shape; one row in five is ignored if the values say so."""
    generator = torch.Generator("cuda").manual_seed(cols)
    target = torch.randint(cols, (rows,), device="cuda", generator=generator)
    if values == IGNORED:
        target[torch.rand(rows, device="cuda", generator=generator) < 0.2] = IGNORED_TARGET
    return target


def cross_entropy(case: Case, x: torch.Tensor, out: torch.Tensor, names: tuple[str, ...] = ()) -> Iterator[tuple[str, Contender]]:
    target = target_of(case.rows, case.cols, case.values)
    for label, variant in variants_of(names, "cross_entropy", case.dtype):
        call = ours("cross_entropy", variant, case.dtype)
        yield label, lambda x, out, call=call: call(x, target, out, None, *x.shape, 1 / case.rows)
    yield from in_torch(lambda x: torch.nn.functional.cross_entropy(x, target, reduction="none"))


def cross_entropy_gradient(case: Case, x: torch.Tensor, out: tuple, names: tuple[str, ...] = ()) -> Iterator[tuple[str, Contender]]:
    """The losses, and the gradient of their sum over the number of rows."""
    target, scale = target_of(case.rows, case.cols, case.values), 1 / case.rows
    for label, variant in variants_of(names, "cross_entropy", case.dtype):
        call = ours("cross_entropy", variant, case.dtype)
        yield label, nothing(lambda x, out, call=call: call(x, target, *out, *x.shape, scale))

    upstream = torch.full((case.rows,), scale, device="cuda", dtype=x.dtype)

    def with_autograd(loss_of: Callable[[torch.Tensor], torch.Tensor]) -> Contender:
        def call(x: torch.Tensor, out: object) -> tuple[torch.Tensor, torch.Tensor]:
            with torch.enable_grad():
                leaf = x.detach().requires_grad_()
                loss = loss_of(leaf)
                return loss.detach(), torch.autograd.grad(loss, leaf, upstream)[0]

        return call

    def loss_of(x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.cross_entropy(x, target, reduction="none")

    yield "torch", with_autograd(loss_of)
    yield "torch.compile", with_autograd(compiled(lambda x: loss_of(x)))
    column = torch.arange(case.cols, device="cuda")
    has_ignored = case.values == IGNORED  # else the formula has no mask that it does not need

    def by_formula(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x, of_target = x.float(), target.unsqueeze(1)
        of_row = torch.logsumexp(x, -1, keepdim=True)
        gradient = (torch.exp(x - of_row) - (column == of_target).float()) * scale
        if not has_ignored:
            return of_row - x.gather(1, of_target), gradient.to(out[1].dtype)
        counts = of_target != IGNORED_TARGET
        loss = (of_row - x.gather(1, of_target.clamp(min=0))) * counts
        return loss, (gradient * counts).to(out[1].dtype)

    fused = compiled(by_formula)
    yield "compile: formula", lambda x, out: fused(x)


OPERATIONS = {"softmax": softmax, "topk": topk, "rms_norm": norm, "layer_norm": norm, "cross_entropy": cross_entropy,
              "cross_entropy_gradient": cross_entropy_gradient}


def contenders(case: Case, x: torch.Tensor, out: object, names: tuple[str, ...] = (), peers: str = "") -> Iterator[tuple[str, Contender]]:
    """names: variants of this repository beside the default. peers: "none" leaves all others out."""
    for name, function in OPERATIONS[case.op](case, x, out, names):
        if peers != "none" or name == OURS or name in names:
            yield name, function
