"""What is measured: shapes, types, K and values, the same for everybody; and which of those who are measured are no peers."""

from __future__ import annotations

from typing import NamedTuple


class Case(NamedTuple):
    op: str  # of OPS
    dtype: str  # "float32", "float16", "bfloat16"
    rows: int
    cols: int
    k: int = 0
    values: str = "normal"  # of VALUES

    @property
    def name(self) -> str:
        return (f"{self.op} {self.dtype} {self.rows}x{self.cols}" + (f" k{self.k}" if self.k else "") +
                (f" {self.values}" if self.values != NORMAL else ""))

    @property
    def input_bytes(self) -> int:
        return self.rows * self.cols * (4 if self.dtype == "float32" else 2)

    @property
    def output_bytes(self) -> int:
        if self.op == "cross_entropy":  # a loss per row
            return 4 * self.rows
        return 8 * self.rows * self.k if self.k else self.input_bytes


DTYPES = ("float32", "float16", "bfloat16")
SHORT = {"f32": "float32", "f16": "float16", "bf16": "bfloat16"}

SOFTMAX = ((1024, 600), (4096, 1024), (4096, 4096), (4096, 8192), (8192, 8192), (2048, 32000), (4096, 50257), (1, 50257),
           (8, 128256), (64, 151936))

TOPK = ((1, 50257, 5), (1, 50257, 50), (1, 50257, 256), (64, 50257, 50), (4096, 32000, 128), (4096, 50257, 5),
        (4096, 50257, 50), (4096, 50257, 256), (1, 1_000_000, 256), (64, 151936, 64), (1024, 600, 5))


RMS_NORM = LAYER_NORM = ((16384, 1024), (8192, 4096), (4096, 8192), (8192, 8192), (1024, 40000), (1024, 50257), (64, 65536), (65536, 256),
                         (64, 4096), (1, 8192))
RMS_NORM_EPS = LAYER_NORM_EPS = 1e-5

# The losses alone, and with the gradient.
CROSS_ENTROPY = ((4096, 50257), (4096, 128256), (16384, 32000), (64, 128256), (16384, 1024))

OPS = {"softmax": SOFTMAX, "topk": TOPK, "rms_norm": RMS_NORM, "layer_norm": LAYER_NORM, "cross_entropy": CROSS_ENTROPY,
       "cross_entropy_gradient": CROSS_ENTROPY}
# Types that are not measured unless DTYPES asks for them.
LEFT_OUT = {"topk": ("bfloat16",), "rms_norm": ("float16",), "layer_norm": ("float16",), "cross_entropy": ("float16",),
            "cross_entropy_gradient": ("float16",)}

# What the logits are. A selection is as fast as its data lets it be; masked and tied logits are what constrained decoding and
# quantised models have. "ignored": normal, and of the targets of a cross-entropy one in five says that its row does not count.
NORMAL, MASKED, IGNORED = "normal", "masked", "ignored"
LOGITS = (NORMAL, "descending", "ascending", "ties", "constant", MASKED)
VALUES = (*LOGITS, IGNORED)
TAKEN = {"softmax": LOGITS, "topk": LOGITS, "cross_entropy": (NORMAL, IGNORED), "cross_entropy_gradient": (NORMAL, IGNORED)}
UNMASKED_EACH = 997  # columns from one that is not masked to the next
IGNORED_TARGET = -100  # common/ops/cross_entropy/arguments.h, and PyTorch's default

OURS = "ladder"
# By operation: what no kernel can go below.
FLOOR = {"softmax": "copy", "topk": "read", "rms_norm": "copy", "layer_norm": "copy", "cross_entropy": "read", "cross_entropy_gradient": "copy"}
# Not the same work as ours: floors, and a selection that computes no softmax.
SELECTION = ("flashinfer topk alone", "raft select_k alone")
NO_PEER = ("copy", "read", *SELECTION)


class UserError(Exception):
    pass


def chosen(text: str, names: tuple[str, ...], what: str) -> tuple[str, ...]:
    """A list with commas, checked; all of `names` if it is empty."""
    wanted = tuple(part for part in text.replace(" ", ",").split(",") if part)
    for part in wanted:
        if part not in names:
            raise UserError(f"{what}={text}: it can be {', '.join(names)}, several with commas; '{part}' is none of them")
    return wanted or names


def cases(ops: str = "", dtypes: str = "", shapes: str = "", values: str = "") -> list[Case]:
    """All cases of normal values, or those of the given operations, dtypes ("f32,f16"), shapes ("4096x4096,1x50257") and values
    ("normal,masked"). Of the values an operation has those that mean something for it; a norm has normal ones."""
    wanted_ops = chosen(ops, tuple(OPS), "OPS")
    wanted_dtypes = [SHORT[name] for name in chosen(dtypes, tuple(SHORT), "DTYPES")]
    known = sorted({f"{shape[0]}x{shape[1]}" for each in OPS.values() for shape in each})
    wanted_shapes = chosen(shapes, tuple(known), "SHAPES")
    wanted_values = chosen(values, VALUES, "VALUES") if values else (NORMAL,)
    return [Case(op, dtype, *shape, *(() if len(shape) > 2 else (0,)), each) for op in OPS if op in wanted_ops
            for dtype in wanted_dtypes if dtypes or dtype not in LEFT_OUT.get(op, ())
            for shape in OPS[op] if f"{shape[0]}x{shape[1]}" in wanted_shapes
            for each in VALUES if each in wanted_values and each in TAKEN.get(op, (NORMAL,))]
