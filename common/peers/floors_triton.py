"""Copies and reads of one long array in Triton, for floors.py. Blocks within the array are moved without a mask, so that every
thread moves 16 bytes at a time."""

from __future__ import annotations

import functools
from typing import Callable, NamedTuple

import torch
import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait


class Way(NamedTuple):
    size: int  # bytes of a block
    warps: int
    per_processor: int = 0  # programs per multiprocessor, which go through all blocks; 0: a program per block
    early: bool = False  # starts while the kernel before it ends, as this repository's do (programmatic dependent launch)
    streamed: bool = False  # stores that leave the cache first

    @property
    def name(self) -> str:
        return (f"{self.size} bytes, {self.warps} warps" + (f", {self.per_processor} per multiprocessor" if self.per_processor else "") +
                (", early" if self.early else "") + (", streamed" if self.streamed else ""))


COPIES = (Way(2048, 4), Way(2048, 4, early=True), Way(4096, 8, early=True), Way(8192, 8), Way(8192, 8, streamed=True),
          Way(8192, 8, early=True, streamed=True), Way(16384, 8, streamed=True), Way(16384, 8, early=True, streamed=True),
          Way(32768, 16, streamed=True), Way(16384, 8, 8, streamed=True), Way(16384, 8, 8, early=True), Way(32768, 16, 4, early=True, streamed=True))
READS = (Way(2048, 4), Way(2048, 4, early=True), Way(4096, 4, early=True), Way(8192, 8), Way(8192, 8, early=True), Way(16384, 8, early=True),
         Way(32768, 16, early=True), Way(16384, 8, 8), Way(16384, 8, 8, early=True), Way(32768, 16, 4, early=True), Way(8192, 4, 16, early=True))


@triton.jit
def copy_kernel(x, y, n, BLOCK: tl.constexpr, EARLY: tl.constexpr, STREAMED: tl.constexpr):
    if EARLY:
        gdc_wait()
        gdc_launch_dependents()
    element = tl.arange(0, BLOCK)
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        start = tl.multiple_of(start, BLOCK)
        if start + BLOCK <= n:
            value = tl.load(x + start + element)
            if STREAMED:
                tl.store(y + start + element, value, cache_modifier=".cs")
            else:
                tl.store(y + start + element, value)
        else:
            inside = start + element < n
            tl.store(y + start + element, tl.load(x + start + element, mask=inside), mask=inside)


@triton.jit
def read_kernel(x, sums, n, BLOCK: tl.constexpr, EARLY: tl.constexpr):
    if EARLY:
        gdc_wait()
        gdc_launch_dependents()
    element = tl.arange(0, BLOCK)
    sum = tl.zeros([BLOCK], tl.int32)
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        start = tl.multiple_of(start, BLOCK)
        if start + BLOCK <= n:
            sum += tl.load(x + start + element).to(tl.int32)
        else:
            sum += tl.load(x + start + element, mask=start + element < n, other=0).to(tl.int32)
    tl.store(sums + tl.program_id(0), tl.sum(sum, 0))


def words(x: torch.Tensor) -> torch.Tensor:
    """The array as integers, the widest that divide it: an addition for each is all that a reader computes."""
    flat = x.reshape(-1)
    return flat.view(torch.int32 if flat.numel() * flat.element_size() % 4 == 0 else torch.int16)


@functools.lru_cache(maxsize=1)
def multiprocessors() -> int:
    return torch.cuda.get_device_properties(0).multi_processor_count


def launch(way: Way, source: torch.Tensor) -> tuple[int, int, dict]:
    """(programs, elements of a block, options)"""
    block = way.size // source.element_size()
    blocks = triton.cdiv(source.numel(), block)
    programs = min(blocks, way.per_processor * multiprocessors()) if way.per_processor else blocks
    return programs, block, {"EARLY": way.early, "num_warps": way.warps, **({"launch_pdl": True} if way.early else {})}


def copy(way: Way, x: torch.Tensor, out: torch.Tensor) -> None:
    source, target = words(x), words(out)
    programs, block, options = launch(way, source)
    copy_kernel[(programs,)](source, target, source.numel(), BLOCK=block, STREAMED=way.streamed, **options)


def read(way: Way, x: torch.Tensor) -> torch.Tensor:
    """A sum of words per program, which wraps around."""
    source = words(x)
    programs, block, options = launch(way, source)
    sums = torch.empty(programs, dtype=torch.int32, device=x.device)
    read_kernel[(programs,)](source, sums, source.numel(), BLOCK=block, **options)
    return sums


def copies() -> dict[str, Callable[[torch.Tensor, torch.Tensor], None]]:
    return {way.name: functools.partial(copy, way) for way in COPIES}


def reads() -> dict[str, Callable[[torch.Tensor], torch.Tensor]]:
    return {way.name: functools.partial(read, way) for way in READS}
