"""cuDNN's softmax through ctypes: the library that PyTorch has loaded, or one that the loader finds."""

from __future__ import annotations

import ctypes
from typing import Callable

import torch

FAST, ACCURATE = 0, 1  # cudnnSoftmaxAlgorithm_t; FAST does not subtract the maximum
INSTANCE, CHANNEL = 0, 1  # cudnnSoftmaxMode_t; the same for (rows, cols, 1, 1), but not the same kernel
NCHW = 0
DTYPES = {torch.float32: 0, torch.float16: 2, torch.bfloat16: 9}  # cudnnDataType_t


class Cudnn:
    """Raises OSError with the reason where it cannot be used."""

    def __init__(self) -> None:
        torch.backends.cudnn.version()  # loads it
        self.library = None
        for name in ("libcudnn.so.9", "libcudnn_ops.so.9", "libcudnn.so"):
            try:
                candidate = ctypes.CDLL(name)
            except OSError:
                continue
            if hasattr(candidate, "cudnnSoftmaxForward"):
                self.library = candidate
                break
        if self.library is None:
            raise OSError("no libcudnn with cudnnSoftmaxForward")
        self.library.cudnnGetErrorString.restype = ctypes.c_char_p
        self.handle = ctypes.c_void_p()
        self.check(self.library.cudnnCreate(ctypes.byref(self.handle)))

    def check(self, status: int) -> None:
        if status:
            raise OSError(f"cuDNN: {self.library.cudnnGetErrorString(status).decode()}")

    def softmax(self, algorithm: int, mode: int, dtype: torch.dtype, rows: int, cols: int) -> Callable:
        """A function of (x, out)."""
        descriptor = ctypes.c_void_p()
        self.check(self.library.cudnnCreateTensorDescriptor(ctypes.byref(descriptor)))
        self.check(self.library.cudnnSetTensor4dDescriptor(descriptor, NCHW, DTYPES[dtype], rows, cols, 1, 1))
        one, zero = ctypes.c_float(1), ctypes.c_float(0)

        def forward(x: torch.Tensor, out: torch.Tensor) -> None:
            stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
            self.check(self.library.cudnnSetStream(self.handle, stream))
            self.check(self.library.cudnnSoftmaxForward(self.handle, algorithm, mode, ctypes.byref(one), descriptor,
                                                        ctypes.c_void_p(x.data_ptr()), ctypes.byref(zero), descriptor,
                                                        ctypes.c_void_p(out.data_ptr())))

        return forward
