"""What is known of an array, whichever library it belongs to: where its memory is, its shape, dtype and device."""

from __future__ import annotations

import contextlib
import sys
from dataclasses import dataclass
from typing import Any, Callable

FLOATS = ("float32", "float16", "bfloat16")
BYTES = {"float32": 4, "float16": 2, "bfloat16": 2, "int32": 4}
TYPESTR = {"<f4": "float32", "<f2": "float16", "<i4": "int32"}
ALIGNMENT = 256  # what a rung may rely on (common/rung/rung.h)


@dataclass
class Matrix:
    """An array as rows of its last dimension."""

    owner: Any  # keeps the memory alive
    pointer: int
    shape: tuple[int, ...]
    dtype: str
    device: str | None  # "cuda:0"; None: the host
    new_like: Callable[[tuple[int, ...], str], Any]
    current_stream: Callable[[], int] = lambda: 0
    device_guard: Callable[[], Any] = contextlib.nullcontext

    @property
    def on_gpu(self) -> bool:
        return self.device is not None

    @property
    def cols(self) -> int:
        return self.shape[-1]

    @property
    def rows(self) -> int:
        count = 1
        for extent in self.shape[:-1]:
            count *= extent
        return count

    @property
    def nbytes(self) -> int:
        return self.rows * self.cols * BYTES[self.dtype]


def describe(x: Any, name: str) -> Matrix:
    """The array as an input. TypeError or ValueError with what to do if no rung can take it."""
    matrix = recognise(x, name)
    if matrix.dtype not in FLOATS:
        raise TypeError(f"{name} has dtype {matrix.dtype}; it must be one of {', '.join(FLOATS)}")
    check_memory(matrix, name)
    limit = 2**31 - 1
    if matrix.cols > limit or matrix.rows > limit:
        raise ValueError(f"{name} has shape {matrix.shape}; rows and columns are at most {limit} each")
    return matrix


def describe_output(out: Any, name: str, like: Matrix, shape: tuple[int, ...], dtype: str) -> Matrix:
    matrix = recognise(out, name)
    if matrix.device != like.device:
        where = [each or "the host" for each in (matrix.device, like.device)]
        raise ValueError(f"{name} is on {where[0]}, x on {where[1]}; they must be on the same device")
    if matrix.dtype != dtype:
        raise TypeError(f"{name} has dtype {matrix.dtype}; it must be {dtype}")
    if matrix.shape != tuple(shape):
        raise ValueError(f"{name} has shape {matrix.shape}; it must be {tuple(shape)}")
    if not is_writable(matrix):
        raise ValueError(f"{name} is read-only")
    check_memory(matrix, name)
    if matrix.nbytes and matrix.pointer < like.pointer + like.nbytes and like.pointer < matrix.pointer + matrix.nbytes:
        raise ValueError(f"{name} shares memory with x; a rung reads x while it writes its output")
    return matrix


def is_writable(matrix: Matrix) -> bool:
    flags = getattr(matrix.owner, "flags", None)
    return bool(getattr(flags, "writeable", True))


def check_memory(matrix: Matrix, name: str) -> None:
    if matrix.cols == 0:
        raise ValueError(f"{name} has shape {matrix.shape}; the last dimension must not be empty")
    if matrix.on_gpu and matrix.nbytes and matrix.pointer % ALIGNMENT:
        raise ValueError(f"the memory of {name} begins at no multiple of {ALIGNMENT} bytes, as a part of a larger array may; "
                         "pass a copy of it")


def recognise(x: Any, name: str) -> Matrix:
    """The library is known by the type's module, so that none is imported that the caller does not use."""
    module = type(x).__module__.split(".")[0]
    if module == "torch" or is_instance_of("torch", "Tensor", x):
        return from_torch(x, name)
    if module == "numpy" or is_instance_of("numpy", "ndarray", x):
        return from_numpy(x, name)
    if hasattr(x, "__cuda_array_interface__"):
        return from_cuda_array_interface(x, name)
    if hasattr(x, "__dlpack__"):
        return from_dlpack(x, name)
    raise TypeError(f"{name} is a {type(x).__module__}.{type(x).__name__}; it must be a PyTorch tensor, a NumPy array or an "
                    "object with __cuda_array_interface__ or __dlpack__")


def is_instance_of(module: str, cls: str, x: Any) -> bool:
    loaded = sys.modules.get(module)
    return loaded is not None and hasattr(loaded, cls) and isinstance(x, getattr(loaded, cls))


def need_rows(shape: tuple[int, ...], name: str) -> None:
    if not shape:
        raise ValueError(f"{name} is a single number; it must have at least one dimension")


def not_contiguous(name: str, remedy: str) -> ValueError:
    return ValueError(f"{name} is not contiguous in row-major order; pass {remedy}")


def from_torch(x: Any, name: str) -> Matrix:
    import torch

    if x.device.type != "cuda":
        raise ValueError(f"{name} is on {x.device}; pass {name}.cuda() for a GPU, or {name}.numpy() for the executor on the CPU")
    need_rows(tuple(x.shape), name)
    if not x.is_contiguous():
        raise not_contiguous(name, f"{name}.contiguous()")
    return Matrix(owner=x, pointer=x.data_ptr(), shape=tuple(x.shape), dtype=str(x.dtype).removeprefix("torch."),
                  device=str(x.device),
                  new_like=lambda shape, dtype: torch.empty(shape, dtype=getattr(torch, dtype), device=x.device),
                  current_stream=lambda: torch.cuda.current_stream(x.device).cuda_stream,
                  device_guard=lambda: torch.cuda.device(x.device))


def from_numpy(x: Any, name: str) -> Matrix:
    import numpy

    x = x if isinstance(x, numpy.ndarray) else numpy.asarray(x)
    need_rows(x.shape, name)
    if not x.flags.c_contiguous:
        raise not_contiguous(name, f"numpy.ascontiguousarray({name})")
    if x.dtype.byteorder == ">":
        raise TypeError(f"{name} is big-endian; pass {name}.astype({name}.dtype.newbyteorder('='))")
    bfloat16 = x.dtype if x.dtype.name == "bfloat16" else None  # of the package ml_dtypes
    return Matrix(owner=x, pointer=x.ctypes.data, shape=x.shape, dtype=x.dtype.name, device=None,
                  new_like=lambda shape, dtype: numpy.empty(shape, bfloat16 if dtype == "bfloat16" else dtype))


def from_cuda_array_interface(x: Any, name: str) -> Matrix:
    """CuPy, Numba and others. It knows no bfloat16; a new array is made by CuPy or PyTorch, whichever is loaded."""
    interface = x.__cuda_array_interface__
    shape = tuple(interface["shape"])
    need_rows(shape, name)
    dtype = TYPESTR.get(interface["typestr"], interface["typestr"])
    expected, strides = BYTES.get(dtype, 0), interface.get("strides")
    for extent, stride in zip(reversed(shape), reversed(strides or ())):
        if extent > 1 and stride != expected:
            raise not_contiguous(name, "a contiguous copy")
        expected *= extent
    cupy = sys.modules.get("cupy")
    device = x.device.id if cupy is not None and isinstance(x, cupy.ndarray) else 0

    def new_like(new_shape: tuple[int, ...], new_dtype: str) -> Any:
        if cupy is not None:
            return cupy.empty(new_shape, new_dtype)
        torch = sys.modules.get("torch")
        if torch is not None:
            return torch.empty(new_shape, dtype=getattr(torch, new_dtype), device="cuda")
        raise ValueError("out must be given: no library is loaded that could make a new array on the device")

    def current_stream() -> int:
        if cupy is not None and isinstance(x, cupy.ndarray):
            return cupy.cuda.get_current_stream().ptr
        return interface.get("stream") or 0

    return Matrix(owner=x, pointer=interface["data"][0], shape=shape, dtype=dtype, device=f"cuda:{device}",
                  new_like=new_like, current_stream=current_stream)


def from_dlpack(x: Any, name: str) -> Matrix:
    """JAX and others: as a tensor of PyTorch or CuPy over the same memory, whichever is installed."""
    try:
        import torch

        return from_torch(torch.from_dlpack(x), name)
    except ImportError:
        pass
    try:
        import cupy
    except ImportError:
        raise TypeError(f"{name} offers only __dlpack__; PyTorch or CuPy must be installed to read it") from None
    return from_cuda_array_interface(cupy.from_dlpack(x), name)
