"""What the executor does not have, by the names that stand for it in CUDA C++."""

from __future__ import annotations

import re
from pathlib import Path

HEADERS = Path(__file__).resolve().parent / "include"

# What of these is not in include/.
LIBRARIES = (r"cub/|thrust/|cute/|cutlass/|cuda/|cublasXt|cublas\.h|cudnn\w*|cufft\w*|curand(?!_kernel)\w*|cusolver(?!_common|Dn)\w*|"
             r"npp\w*|nvrtc\w*|nvtx3/nvtx3|nvml\w*|cuda_fp6|cuda_fp4|cuda_awbarrier\w*|"
             r"cuda_gl_interop|cudaGL|cudaEGL\w*")

# What include/cuda/ has, and the namespaces that such names stand in. Of cuda::std every name that its headers hold; g++ says the rest.
LIBCUXX_STD = "|".join(sorted({name for header in [HEADERS / "cuda/atomic", *(HEADERS / "cuda/std").iterdir()]
                               for name in re.findall(r"\b[A-Za-z]\w*", re.sub("//.*", "", header.read_text()))}))
# Of cuda::ptx, too.
LIBCUXX_PTX = "|".join(sorted(set(re.findall(r"\b[a-z]\w*", re.sub("//.*", "", (HEADERS / "cuda/ptx").read_text())))))
LIBCUXX = (r"atomic|atomic_ref|atomic_thread_fence|barrier|pipeline|pipeline_\w+|make_pipeline|memcpy_async|aligned_size_t|"
           r"device(?=::(?:barrier_native_handle|barrier_expect_tx|barrier_arrive_tx|memcpy_async_tx|experimental(?=\s*;)|"
           r"experimental::(?:cp_async_bulk_(?:global_to_shared|shared_to_global|commit_group|wait_group(?:_read)?)|fence_proxy_async_shared_cta))\b)|"
           rf"thread_scope\w*|memory_order\w*|maximum|minimum|proclaim_return_type|annotated_ptr|\w*access_property|discard_memory|stream_ref|ceil_div|round_up|round_down|restrict_mdspan|"
           rf"ptx(?=\s*(?:;|=|\{{)|::(?:(?:sem|space|scope)_\w+|get_sreg_\w+|{LIBCUXX_PTX})\b)|std(?=\s*[;={{),]|::(?:{LIBCUXX_STD})\b)")

GRAPHS = "|".join(sorted({name for header in ("graph.h", "graph_nodes.h", "graph_memory.h", "graph_conditions.h")
                          for name in re.findall(r"\bcudaGraph(\w+)", re.sub("//.*", "", (HEADERS / "simt" / header).read_text()))}))

# Status, types and settings are those that the headers hold; of functions for several types they hold the name without the type's letter.
CUBLAS_TEXT = "".join(header.read_text() for header in [HEADERS / "cublas_v2.h", HEADERS / "cublasLt.h", *sorted((HEADERS / "simt").glob("cublas*.h"))])
CUBLAS = "|".join([*sorted(set(re.findall(r"\bcublas([A-Z]\w+)", CUBLAS_TEXT))),
                   *(f"[{letters}]{name}(?:_v2)?" for kind, letters in (("REAL", "SD"), ("COMPLEX", "CZ"), ("ALL", "SDCZ"))
                     for name in re.findall(rf"^SIMT_BLAS_{kind}\((\w+)\)", CUBLAS_TEXT, re.MULTILINE)),
                   *(f"{name}(?:_v2)?" for name in re.findall(r"^SIMT_BLAS_NAMED\(cublas(\w+)", CUBLAS_TEXT, re.MULTILINE)),
                   "[SD](?:axpy|scal|copy|swap|dot|nrm2|asum|gemv|ger|geam)", "I[sd]am(?:ax|in)", "[SDH]gemm(?:StridedBatched|Batched)?"])

# A name that a library's functions might have, and that a program gives to its own wrappers.
WRAPPER = r"\w*(?:[Cc]heck|[Cc]hk|CHK|[Ee]rr|[Aa]ssert|[Ss]afe|[Cc]all|[Tt]hrow|[Tt]ry)|_"


def of_library(library: str, headers: list[str], more: str) -> str:
    """Matches a call of a function of a library that these headers do not name. more: those whose names come from macros."""
    known = sorted({name for header in headers for name in re.findall(rf"\b{library}([A-Z]\w+)", (HEADERS / header).read_text())})
    return rf"\b{library}(?!(?:{'|'.join([*known, more])})\b|{WRAPPER})[A-Z]\w*\s*\("


CUSPARSE = of_library("cusparse", ["cusparse.h", "simt/cusparse_generic.h", "simt/cusparse_typed.h"],
                      "(?:Create|CreateConst)(?:Csr|Csc)|Cs[rc]SetPointers|[GS]etMat(?:Type|FillMode|DiagType|IndexBase)|"
                      "[SD](?:nnz|gtsv2(?:_nopivot)?(?:_bufferSizeExt)?|gtsv2StridedBatch(?:_bufferSizeExt)?)")
CUSOLVER = of_library("cusolverDn", ["cusolverDn.h", "simt/cusolver_typed.h"],
                      "(?:Create|Destroy)(?:Syevj|Gesvdj)Info|X(?:syevj|gesvdj)(?:SetTolerance|SetMaxSweeps|SetSortEig)|"
                      "X(?:getrf|potrf|geqrf|syevd|gesvd)_bufferSize|"
                      "[SD](?:getr[fs]|potr[fsi]|geqrf|ormqr|orgqr|syevd|syevj|sygvd|gesvdj?)(?:_bufferSize)?|[SD]potr[fs]Batched")

# Each also without Async, which a macro adds.
DRIVER = "|".join(sorted({name + rest for name in re.findall(r"\bcu([A-Z]\w+)", "".join((HEADERS / "simt" / header).read_text() for header in ("driver_api.h", "driver_modules.h", "driver_names.h")))
                          for rest in ("", "Async")}))

# A name in the code, and the feature that it belongs to. `{0}`: the matched text.
UNSUPPORTED = [
    (r"\btexture\s*<|\btextureReference\b|\bcudaBindTexture\w*", "texture references (since CUDA 12 there are only texture objects)"),
    (r"\btex(?:1DL(?!ayered\b)|1DG|2DL(?!ayered\b)|2DG|2DS|3D(?=\w)|Cubemap(?!Layered\s*[<(]|\s*[<(]))\w*\s*[<(]|\bcudaGetTexture\w+", "of textures, {0}"),
    (r"\bsurface\s*<|\bsurfaceReference\b|\bcudaBindSurface\w*", "surface references (since CUDA 12 there are only surface objects)"),
    (r"\bcuda\w*MipmappedArray\b|\bcudaArrayGet(?!Info\b)\w+|\bsurfCubemap\w*|\bcudaMemcpyArrayToArray\b",
     "of CUDA arrays (texture memory), {0}"),
    (r"\bcudaLaunchCooperativeKernelMultiDevice\b|\bmulti_grid_group\b|\bthis_multi_grid\b",
     "cooperative launches on several devices"),
    (rf"\bcudaGraph(?!ics|s[A-Z]|(?:{GRAPHS})\b)\w+|\bcudaStreamBeginCaptureToGraph\b|"
     r"\bcudaStreamUpdateCapture\w+", "of CUDA graphs, {0}"),
    (rf"\bcu(?!(?:{DRIVER})\b)(?:Init|Launch\w+|Module\w+|Ctx\w+|Device\w+|Mem[A-Z]\w+|Func\w+|Link\w+)\s*\(", "the driver API ({0})"),
    (r"\bwmma\s*::\s*experimental\b|\bbmma_sync\s*\(", "tensor cores on bits ({0})"),
    (rf"(?<!\w::)\bcuda::(?!(?:{LIBCUXX})\b)(?:std::|ptx::)?\w+", "libcu++ ({0})"),
    (r"\bcub::(?!(?:Warp(?:Reduce|Scan|MergeSort|Exchange|Load|Store)|Block(?:Reduce|Scan|Load|Store|Exchange|RadixSort|MergeSort|Discontinuity|AdjacentDifference|Shuffle|Histogram)|Device(?:Reduce|Scan|RadixSort|Select|Histogram|Partition|RunLengthEncode|MergeSort|Segmented(?:Reduce|RadixSort|Sort)|For|AdjacentDifference|Transform|Copy|Memcpy)|CachingDeviceAllocator|(?:Transform|Counting|Constant|ArgIndex|CacheModified)InputIterator|Thread(?:Load|Store|Reduce|ScanInclusive|ScanExclusive)|(?:LowerBound|UpperBound)|Shuffle(?:Up|Down|Index)|LaneMask(?:L|G)[te]|RowMajorTid|BFE|(?:LOAD|STORE)_\w+|Cache(?:Load|Store)Modifier|DoubleBuffer|KeyValuePair|NullType|Sum|Max|Min|(?:Load|Store)Direct(?:Blocked|Striped)|Equality|Inequality|ArgMax|ArgMin|Debug|LaneId|WarpId|(?:BLOCK|WARP)_\w+)\b)\w+", "of CUB, {0}"),
    (r"\b__pipeline_(?!memcpy_async|commit|wait_prior)\w+", "asynchronous copies ({0})"),
    (r"\bcudaIpc\w+", "several processes ({0})"),
    (r"\bcudaExternal\w+|\bcudaGraphics\w+", "graphics interoperation ({0})"),
    (r"\b__nv_fp[46]\w*|\b__nv_fp8(?:x[24])?_e8m0\w*", "4-bit and 6-bit floating point and E8M0 ({0})"),
    (r"\b__(?:shfl|shfl_up|shfl_down|shfl_xor|ballot|any|all)\s*\(", "{0}: without _sync it does not exist since compute "
     "capability 7.0"),
    (of_library("cublas", [], CUBLAS), "{0} of cuBLAS"),
    (CUSPARSE, "{0} of cuSPARSE"),
    (CUSOLVER, "{0} of cuSOLVER"),
    (r"\bnccl(?:Comm(?:Shrink|Grow|Revoke|WindowRegister|WindowDeregister|InitRankScalable)|GroupSimulateEnd|AlltoAll|Gather|Scatter|DevComm\w*)\s*\(|"
     r"\bncclWindow_t\b", "{0} of NCCL"),
    (r"\b__(?:prof_trigger|brkpt)\b", "{0}"),
]
