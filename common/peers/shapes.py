"""What is measured: shapes, types and K. The same for everybody."""

from __future__ import annotations

from typing import NamedTuple


class Case(NamedTuple):
    op: str  # "softmax", "topk" or "rms_norm"
    dtype: str  # "float32", "float16", "bfloat16"
    rows: int
    cols: int
    k: int = 0

    @property
    def name(self) -> str:
        return f"{self.op} {self.dtype} {self.rows}x{self.cols}" + (f" k{self.k}" if self.k else "")

    @property
    def input_bytes(self) -> int:
        return self.rows * self.cols * (4 if self.dtype == "float32" else 2)

    @property
    def output_bytes(self) -> int:
        return 8 * self.rows * self.k if self.k else self.input_bytes


DTYPES = ("float32", "float16", "bfloat16")
SHORT = {"f32": "float32", "f16": "float16", "bf16": "bfloat16"}

SOFTMAX = ((1024, 600), (4096, 1024), (4096, 4096), (4096, 8192), (8192, 8192), (2048, 32000), (4096, 50257), (1, 50257),
           (8, 128256), (64, 151936))

TOPK = ((1, 50257, 5), (1, 50257, 50), (1, 50257, 256), (64, 50257, 50), (4096, 32000, 128), (4096, 50257, 5),
        (4096, 50257, 50), (4096, 50257, 256), (1, 1_000_000, 256), (64, 151936, 64), (1024, 600, 5))


RMS_NORM = ((16384, 1024), (8192, 4096), (4096, 8192), (8192, 8192), (64, 65536), (65536, 256))
RMS_NORM_EPS = 1e-5


class UserError(Exception):
    pass


def chosen(text: str, names: tuple[str, ...], what: str) -> tuple[str, ...]:
    """A list with commas, checked; all of `names` if it is empty."""
    wanted = tuple(part for part in text.replace(" ", ",").split(",") if part)
    for part in wanted:
        if part not in names:
            raise UserError(f"{what}={text}: {part} is none of {', '.join(names)}")
    return wanted or names


def cases(ops: str = "", dtypes: str = "", shapes: str = "") -> list[Case]:
    """All cases, or those of the given operations, dtypes ("f32,f16") and shapes ("4096x4096,1x50257"). Top-K is not
    measured in bfloat16, nor RMSNorm in float16, unless DTYPES asks for it."""
    wanted_ops = chosen(ops, ("softmax", "topk", "rms_norm"), "OPS")
    wanted_dtypes = [SHORT[name] for name in chosen(dtypes, tuple(SHORT), "DTYPES")]
    known = sorted({f"{shape[0]}x{shape[1]}" for shape in SOFTMAX + TOPK + RMS_NORM})
    wanted_shapes = chosen(shapes, tuple(known), "SHAPES")
    found = [Case("softmax", dtype, *shape) for dtype in wanted_dtypes for shape in SOFTMAX]
    found += [Case("topk", dtype, *shape) for dtype in wanted_dtypes for shape in TOPK if dtypes or dtype != "bfloat16"]
    found += [Case("rms_norm", dtype, *shape) for dtype in wanted_dtypes for shape in RMS_NORM if dtypes or dtype != "float16"]
    return [case for case in found if case.op in wanted_ops and f"{case.rows}x{case.cols}" in wanted_shapes]
