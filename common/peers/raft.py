"""RAFT's select_k through a C wrapper, which nvcc builds from RAFT's headers where they are installed: pip's libraft-cu13 (26.10 was tried), or folders that
RAFT_HOME names, separated by colons (RAFT's, RMM's and rapids_logger's, each with include and lib64)."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Callable

if TYPE_CHECKING:
    import torch

ROOT = Path(__file__).resolve().parents[2]
SOURCE, LIBRARY = Path(__file__).with_name("raft_select_k.cu"), ROOT / "build/cuda/raft_select_k.so"
PACKAGES = ("libraft", "librmm", "rapids_logger")


def homes() -> list[Path]:
    """The folders with RAFT and what it needs. Raises OSError where they are not installed."""
    if named := os.environ.get("RAFT_HOME"):
        return [Path(folder) for folder in named.split(":")]
    found = [spec.submodule_search_locations[0] for spec in map(find_spec, PACKAGES) if spec and spec.submodule_search_locations]
    if len(found) < len(PACKAGES):
        raise OSError("RAFT is not installed (pip install libraft-cu13, or RAFT_HOME)")
    return [Path(folder) for folder in found]


def command(folders: list[Path], nvcc: str, arch: str) -> list[str]:
    """What builds the wrapper; RAFT's copy of the C++ library for devices comes first."""
    includes = [f"-I{folder}/include{below}" for below in ("/rapids", "") for folder in folders if (folder / f"include{below}").is_dir()]
    libraries = [option for folder in folders if (folder / "lib64").is_dir() for option in (f"-L{folder}/lib64", "-Xlinker", f"-rpath={folder}/lib64")]
    return [nvcc, "-O3", "-std=c++20", f"-arch={arch}", "--extended-lambda", "--expt-relaxed-constexpr", "-Xcompiler", "-fPIC", "-shared", *includes, str(SOURCE),
            "-o", str(LIBRARY), *libraries, "-lrmm", "-lrapids_logger"]


def build() -> None:
    """Once; it takes minutes. Raises OSError with what nvcc said first."""
    if LIBRARY.is_file() and LIBRARY.stat().st_mtime >= SOURCE.stat().st_mtime:
        return
    folders = homes()
    nvcc = os.environ.get("NVCC") or shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    if not shutil.which(nvcc):
        raise OSError("RAFT is there, and nvcc, which builds its wrapper, is not")
    LIBRARY.parent.mkdir(parents=True, exist_ok=True)
    print("building the wrapper of RAFT's select_k, once; it takes minutes ...", flush=True)
    done = subprocess.run(command(folders, nvcc, os.environ.get("CUDA_ARCH", "native")), stderr=subprocess.PIPE, text=True, errors="replace")
    if done.returncode:
        raise OSError("RAFT's wrapper does not compile: " + next((line for line in done.stderr.splitlines() if "error" in line), "nvcc failed"))


class Raft:
    """Raises OSError with the reason where it cannot be used."""

    def __init__(self) -> None:
        build()
        self.library = ctypes.CDLL(str(LIBRARY))

    def select_k(self, x: torch.Tensor, k: int) -> Callable:
        """A function of (x, out) whose result is the values, the largest first; x: (rows, cols), float32 or float16."""
        import torch

        if x.dtype not in (torch.float32, torch.float16):
            raise OSError(f"no instance for {x.dtype}")
        rows, cols = x.shape
        why = ctypes.create_string_buffer(200)

        def select(x: torch.Tensor, out: object) -> torch.Tensor:
            values, index = x.new_empty(rows, k), torch.empty(rows, k, dtype=torch.int32, device=x.device)
            stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
            pointers = (ctypes.c_void_p(tensor.data_ptr()) for tensor in (x, values, index))
            sizes = (ctypes.c_int64(size) for size in (rows, cols, k))
            if self.library.raft_select_k(*pointers, *sizes, int(x.dtype == torch.float16), stream, why, ctypes.c_size_t(len(why))):
                raise OSError(f"RAFT: {why.value.decode(errors='replace')}")
            return values

        return select
