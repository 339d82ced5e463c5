"""Rungs: where they are, what variants they export, how one is called on a CUDA device."""

from __future__ import annotations

import ctypes
import functools
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from . import arrays
from .errors import LadderError

ROOT = Path(__file__).resolve().parents[3]
MAX_K = 1024  # common/ops/softmax_topk/arguments.h
# As common/ops/operators.h numbers them; the module has functions for the first two.
OPS = tuple(re.findall(r"each\((\w+)\)", (ROOT / "common/ops/operators.h").read_text(encoding="utf-8")))
DTYPES = ("float32", "float16", "bfloat16")
INVALID_VALUE = 1  # cudaErrorInvalidValue


class Variant(NamedTuple):
    """One row of a rung's table. name: "lab03.online"."""

    name: str
    op: str
    dtype: str
    source: str  # the .cu file, from the repository's root


class Chosen(NamedTuple):
    source: str
    index: int  # in the rung's table
    name: str


class TableRow(ctypes.Structure):
    """rung::Variant of rung.h."""

    _fields_ = [("name", ctypes.c_char_p), ("op", ctypes.c_int), ("dtype", ctypes.c_int), ("launch", ctypes.c_void_p)]


@functools.lru_cache(maxsize=None)
def solutions(op: str | None = None) -> tuple[str, ...]:
    """The course's rungs, from lab 01 up; those that export something of this operation if it is named. The text says which:
    a rung that is not called need not be built. Every call of softmax() asks, and reading the files takes milliseconds."""
    sources = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("solutions/lab*/*.cu") if "RUNG_EXPORT" in path.read_text(encoding="utf-8"))
    return tuple(source for source in sources if op is None or exports(source, op))


def exports(source: str, op: str) -> bool:
    text = (ROOT / source).read_text(encoding="utf-8", errors="replace")
    return re.search(rf"\brung::{op}\s*\(\s*\"", text) is not None


@functools.lru_cache(maxsize=None)
def built(*targets: str) -> None:
    """Brings targets of common/build/rules.mk up to date, once per process."""
    if os.environ.get("PREBUILT"):
        missing = [target for target in targets if not (ROOT / target).exists()]
        if missing:
            raise LadderError(f"PREBUILT is set, but {', '.join(missing)} is not there")
        return
    make = ["make", "-s", "-f", "common/build/rules.mk", *targets]
    if subprocess.run([*make, "-q"], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
        return
    print(f"ladder: building {', '.join(targets)} ...", file=sys.stderr, flush=True)
    done = subprocess.run(make, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise LadderError(f"{' '.join(targets)} could not be built:\n{done.stdout.strip()}")


def object_of(source: str, backend: str) -> str:
    """The shared object of a rung, as rules.mk names it."""
    path = Path(source)
    if path.is_absolute() and path.is_relative_to(ROOT):
        path = path.relative_to(ROOT)
    middle = "abs" + str(path) if path.is_absolute() else str(path)
    return f"build/{backend}/{middle.removesuffix('.cu')}.so"


class CudaRung:
    """A rung in this process. Its CUDA runtime is linked statically and shares the device's primary context with PyTorch's."""

    def __init__(self, source: str):
        path = object_of(source, "cuda")
        built(path)
        self.library = ctypes.CDLL(str(ROOT / path), mode=os.RTLD_NOW | os.RTLD_LOCAL)
        try:
            table_of = self.library.rung_variants
        except AttributeError:
            raise LadderError(f"{source} exports no variants: does it end with RUNG_EXPORT(...)?") from None
        table_of.restype = ctypes.POINTER(TableRow)
        count = ctypes.c_int()
        table = table_of(ctypes.byref(count))
        self.table = [(row.name.decode(), OPS[row.op], DTYPES[row.dtype]) for row in table[:count.value]]
        pointer, number = ctypes.c_void_p, ctypes.c_int
        signatures = {"softmax": (pointer, pointer, number, number, pointer),
                      "softmax_topk": (pointer, pointer, pointer, number, number, number, pointer),
                      "rms_norm": (pointer, pointer, pointer, number, number, ctypes.c_float, pointer),
                      "layer_norm": (pointer, pointer, pointer, pointer, number, number, ctypes.c_float, pointer),
                      "cross_entropy": (pointer, pointer, pointer, pointer, number, number, ctypes.c_float, pointer)}
        self.functions = [ctypes.CFUNCTYPE(number, *signatures[OPS[row.op]])(row.launch) if OPS[row.op] in signatures else None
                          for row in table[:count.value]]


@functools.lru_cache(maxsize=None)
def cuda_rung(source: str) -> CudaRung:
    return CudaRung(source)


def launch(chosen: Chosen, x: arrays.Matrix, outputs: list[arrays.Matrix], k: int, stream: int) -> None:
    function = cuda_rung(chosen.source).functions[chosen.index]
    pointers = [x.pointer] + [out.pointer for out in outputs]
    error = function(*pointers, x.rows, x.cols, *([k] if k else []), stream)
    if error == INVALID_VALUE:
        raise ValueError(refusal(chosen, x, k))
    if error:
        raise LadderError(f"{chosen.name}: {error_name(error)}")


def refusal(chosen: Chosen, x: arrays.Matrix, k: int) -> str:
    shape = f"{x.rows} x {x.cols}" + (f", k {k}" if k else "")
    return f"{chosen.name} does not take {shape} (cudaErrorInvalidValue); another variant may: ladder.variants() lists them"


def error_name(error: int) -> str:
    """The driver's name of it; most numbers are those of the runtime too."""
    try:
        driver, name = ctypes.CDLL("libcuda.so.1"), ctypes.c_char_p()
        if driver.cuGetErrorName(error, ctypes.byref(name)) == 0 and name.value:
            return f"CUDA error {error} ({name.value.decode()})"
    except OSError:
        pass
    return f"CUDA error {error}"
