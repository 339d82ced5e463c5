"""Variants on the course's executor, for arrays on the host: through the client of rungs (client_c.cpp), each rung in a
worker process of its own."""

from __future__ import annotations

import ctypes
import functools

from . import arrays
from .errors import LadderError
from .rungs import DTYPES, INVALID_VALUE, OPS, ROOT, Chosen, built, object_of, refusal

LIBRARY = "build/cpu/libladder_client.so"
WORKER = "build/cpu/worker"
SECONDS_AN_ELEMENT = 1e-5  # a limit, for a kernel that never ends


@functools.lru_cache(maxsize=None)
def library() -> ctypes.CDLL:
    built(LIBRARY, WORKER)
    loaded = ctypes.CDLL(str(ROOT / LIBRARY))
    pointer, number, text, size = ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t
    loaded.ladder_open.restype, loaded.ladder_open.argtypes = pointer, [text, text]
    loaded.ladder_problem.restype, loaded.ladder_problem.argtypes = text, [pointer]
    loaded.ladder_variant_count.argtypes = [pointer]
    loaded.ladder_variant.restype = text
    loaded.ladder_variant.argtypes = [pointer, number, ctypes.POINTER(number), ctypes.POINTER(number)]
    loaded.ladder_run.argtypes = [pointer, number, number, number, number, pointer, size, pointer * 2, size * 2,
                                  ctypes.c_double, text, size]
    return loaded


class ExecutorRung:
    def __init__(self, source: str):
        path = object_of(source, "cpu")
        built(path)
        self.client = library().ladder_open(str(ROOT / WORKER).encode(), str(ROOT / path).encode())
        count = library().ladder_variant_count(self.client)
        if count == 0:
            raise LadderError(library().ladder_problem(self.client).decode())
        self.table = []
        for i in range(count):
            op, dtype = ctypes.c_int(), ctypes.c_int()
            name = library().ladder_variant(self.client, i, ctypes.byref(op), ctypes.byref(dtype))
            self.table.append((name.decode(), OPS[op.value], DTYPES[dtype.value]))


@functools.lru_cache(maxsize=None)
def rung(source: str) -> ExecutorRung:
    return ExecutorRung(source)


def run(chosen: Chosen, x: arrays.Matrix, outputs: list[arrays.Matrix], k: int) -> None:
    pointers = (ctypes.c_void_p * 2)(*[out.pointer for out in outputs])
    sizes = (ctypes.c_size_t * 2)(*[out.nbytes for out in outputs])
    message = ctypes.create_string_buffer(2048)
    limit = 30 + SECONDS_AN_ELEMENT * x.rows * x.cols
    error = library().ladder_run(rung(chosen.source).client, chosen.index, x.rows, x.cols, k, x.pointer, x.nbytes, pointers,
                                 sizes, limit, message, len(message))
    said = message.value.decode(errors="replace")
    if error == INVALID_VALUE:
        raise ValueError(refusal(chosen, x, k) + said.removeprefix("cudaErrorInvalidValue"))
    if error:
        raise LadderError(f"{chosen.name}: {said}")
