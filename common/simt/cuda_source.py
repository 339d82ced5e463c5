"""CUDA C++ to C++: what no macro can express is rewritten, what the executor does not have is refused. Lines keep
their numbers.

    kernel<T><<<grid, block, bytes, stream>>>(a, b);  ->  SIMT_LAUNCH((kernel<T>), (grid, block, bytes, stream))(a, b);
    extern __shared__ float row[];                    ->  float* const row = ::simt::DynamicShared(); ...
"""

from __future__ import annotations

import os
import re
import zlib
from pathlib import Path

import cuda_arch
import device_linkage
import lockstep
import module_kernels
import ptx
from source_text import Text, UserError, closing, inside_function, of_text, read  # noqa: F401: also for those who import this file


HEADERS = Path(__file__).resolve().parent / "include"

# What of these is not in include/.
LIBRARIES = (r"cub/|thrust/|cute/|cutlass/|cuda/|cublasXt|cublas\.h|cudnn\w*|cufft\w*|curand(?!_kernel)\w*|cusolver(?!_common|Dn)\w*|"
             r"npp\w*|nvrtc\w*|nvtx3/nvtx3|nvml\w*|cuda_fp6|cuda_fp4|cuda_awbarrier\w*|"
             r"cuda_gl_interop|cudaGL|cudaEGL\w*")

# What include/cuda/ has, and the namespaces that such names stand in. Of cuda::std every name that its headers hold; g++ says the rest.
LIBCUXX_STD = "|".join(sorted({name for header in [HEADERS / "cuda/atomic", *(HEADERS / "cuda/std").iterdir()]
                               for name in re.findall(r"\b[A-Za-z]\w*", re.sub("//.*", "", header.read_text()))}))
LIBCUXX = (r"atomic|atomic_ref|atomic_thread_fence|barrier|pipeline|pipeline_\w+|make_pipeline|memcpy_async|aligned_size_t|"
           rf"thread_scope\w*|memory_order\w*|maximum|minimum|proclaim_return_type|ceil_div|round_up|round_down|std(?=\s*(?:;|=|\{{)|::(?:{LIBCUXX_STD})\b)")

GRAPHS = "|".join(sorted({name for header in ("graph.h", "graph_nodes.h", "graph_memory.h", "graph_conditions.h")
                          for name in re.findall(r"\bcudaGraph(\w+)", re.sub("//.*", "", (HEADERS / "simt" / header).read_text()))}))

# Status, types and settings are those that the header holds; its functions come from macros.
CUBLAS = "|".join([*sorted({name for header in ("cublas_v2.h", "cublasLt.h", "simt/cublas_types.h", "simt/cublaslt_product.h")
                            for name in re.findall(r"\bcublas([A-Z]\w+)", (HEADERS / header).read_text())}),
                   "[SD](?:axpy|scal|copy|swap|dot|nrm2|asum|gemv|ger|geam)", "I[sd]am(?:ax|in)", "[SD]trsm(?:Batched)?", "[SD](?:symv|syr|syrk|symm|trmv|trsv|trmm|dgmm|rot|getr[fis]Batched)", "[CZ]gemm", "[SDH]gemm(?:StridedBatched|Batched)?"])

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
DRIVER = "|".join(sorted({name + rest for name in re.findall(r"\bcu([A-Z]\w+)", "".join((HEADERS / "simt" / header).read_text() for header in ("driver_api.h", "driver_modules.h")))
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
     r"\bcudaStreamUpdateCapture\w+|\bcudaStreamGetCaptureInfo\w*", "of CUDA graphs, {0}"),
    (rf"\bcu(?!(?:{DRIVER})\b)(?:Init|Launch\w+|Module\w+|Ctx\w+|Device\w+|Mem[A-Z]\w+|Func\w+|Link\w+)\s*\(", "the driver API ({0})"),
    (r"\bwmma\s*::\s*experimental\b|\bbmma_sync\s*\(", "tensor cores on bits ({0})"),
    (rf"(?<!\w::)\bcuda::(?!(?:{LIBCUXX})\b)(?:std::)?\w+", "libcu++ ({0})"),
    (r"\bcub::(?!(?:Warp(?:Reduce|Scan)|Block(?:Reduce|Scan|Load|Store|Exchange|RadixSort)|Device(?:Reduce|Scan|RadixSort|Select|Histogram|Partition|RunLengthEncode|MergeSort|Segmented(?:Reduce|RadixSort|Sort))|CachingDeviceAllocator|(?:Transform|Counting|Constant)InputIterator|DoubleBuffer|KeyValuePair|NullType|Sum|Max|Min|LaneId|WarpId|BLOCK_\w+)\b)\w+", "of CUB, {0}"),
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

ALIGNED = r"__align__\s*\([^)]*\)|alignas\s*\([^)]*\)"

# A parameter may say where it points to; that places nothing.
# A kernel has one attribute of this kind (qualifiers.h): its cluster's shape, which decides what it computes, comes before
# its bounds.
BOUNDS_OF_CLUSTER = re.compile(r"\b__cluster_dims__\s*\((?:[^()]|\([^()]*\))*\)\s*(\b__launch_bounds__\s*\((?:[^()]|\([^()]*\))*\))")
# g++ wants the alignment first.
ALIGNED_SHARED = re.compile(r"(?P<shared>\b__shared__\s+)(?P<aligned>alignas\s*\((?:[^()]|\([^()]*\))*\))")
POINTER_TO_SHARED = re.compile(r"(?<=[(,])\s*(?:const\s+|volatile\s+)*\b(__shared__\s)(?=\s*[\w:<>\s]+[*&][^(),;]*[,)])")
# Qualifiers, type, name[], what follows before the semicolon.
QUALIFIER = rf"extern|__shared__|volatile|static|const|{ALIGNED}|__attribute__\s*\(\(.*?\)\)"
UNBOUNDED_ARRAY = re.compile(
    rf"((?:(?:{QUALIFIER})\s+|(?:{ALIGNED})\s*)+)"
    r"([^;{}()\[\]]+?)\s*(\w+)\s*\[\s*\]\s*((?:\[[^\]]*\]|,)?[^;]*);")

# Not `operator<< <T>`.
LAUNCH = re.compile(r"(?<!operator)(?<!operator )<<[ \t]*<")


# A kernel's address as one argument or as a node's `func`.
LAUNCH_FUNCTION = re.compile(r"(?:\bcudaLaunch(?:Cooperative)?Kernel\s*\(|(?:\.|->)\s*func\s*=|\bcudaKernelNodeParams\s+\w+\s*=?\s*\{)\s*((?:\(\s*(?:const\s+)?void\s*(?:const\s*)?\*\s*\)|"
                             r"(?:reinterpret|static)_cast\s*<\s*(?:const\s+)?void\s*\*\s*>)\s*&?)")


def is_own(code: str, name: str) -> bool:
    """A macro or a function of the program's own, whatever library's name it has."""
    return bool(re.fullmatch(r"\w+", name) and re.search(
        rf"^[ \t]*#[ \t]*define[ \t]+{name}\b|^[^\n;=(#]*[\w*&>][ \t*&]+{name}\s*\([^;{{}}()]*\)\s*\{{", code, re.MULTILINE))


def unsupported(source: Text, nested: bool = False) -> list[tuple[int, str]]:
    """Where the file uses what the executor does not have, and what that is. nested: kernels may launch kernels."""
    code, found = source.code, []
    for include in re.finditer(rf"^[ \t]*#[ \t]*include[ \t]*[<\"]((?:{LIBRARIES})[^>\"]*|nvcuda[^>\"]*)[>\"]", source.text,
                               re.MULTILINE):
        if code[include.start():].lstrip().startswith("#") and not (HEADERS / include[1]).is_file():
            found.append((include.start(1), f"the library of <{include[1]}> is"))
    for pattern, feature in UNSUPPORTED:
        found += [(match.start(), f"{feature.format(name)} is") for match in re.finditer(pattern, code)
                  if not is_own(code, name := match[0].rstrip("( <"))]
    found += inline_ptx(source)[1]
    return found + ([] if nested else dynamic_parallelism(source))


ASM = re.compile(r"\b(?:asm|__asm|__asm__)(?:[\s\\]+(?:volatile|__volatile__))*[\s\\]*\(")


def inline_ptx(source: Text) -> tuple[list[tuple[int, int, str]], list[tuple[int, str]]]:
    """Asm statements that are understood, each as its C++; and where the others are."""
    known, refused = [], []
    for match in ASM.finditer(source.code):
        begin, end = match.end(), closing(source.code, match.end() - 1)
        try:
            if end < 0:
                raise ptx.Unknown("asm")
            known.append((match.start(), end + 1, ptx.translate(source.code[begin:end], source.text[begin:end])))
        except ptx.Unknown as unknown:
            what = re.sub(r"\s+", " ", str(unknown)).replace('"', "'")
            refused.append((match.start(), f"inline PTX ({what}) is"))
    return known, refused


def dynamic_parallelism(source: Text) -> list[tuple[int, str]]:
    code, found = source.code, []
    for kernel in re.finditer(r"\b__global__\b|\b__device__\b", code):
        if "__host__" in code[max(0, kernel.start() - 30):kernel.end() + 30]:
            continue
        body = re.compile(r"[;{=]").search(code, kernel.end())
        if not body or code[body.start()] != "{":
            continue
        end = closing(code, body.start())
        launch = LAUNCH.search(code, body.start(), end if end > 0 else len(code))
        if launch:
            found.append((launch.start(), "without -rdc=true (nvcc needs it, too), dynamic parallelism (a launch inside a kernel) is"))
    return found


def refusal(source: Text, at: int, what: str, ranges: list[tuple[int, int]]) -> tuple[int, int, str]:
    """An edit that makes it an error, unless the preprocessor leaves it out. It stands before the line, and before any of these ranges, which are
    replaced as a whole."""
    line = source.line(at)
    while True:
        while line > 1 and source.text[:source.starts[line - 1]].endswith("\\\n"):
            line -= 1
        begin = source.starts[line - 1]
        around = next((first for first, last in ranges if first < begin < last), None)
        if around is None:
            break
        line = source.line(around)
    return begin, begin, f'#line {source.line(at)}\n#error {what} not supported by the CPU executor\n#line {line}\n'


def statement_end(source: Text, at: int) -> int:
    """Behind the asm statement that begins here, in a function or in a macro; 0: it is not known to be one, or stands in neither."""
    close = closing(source.code, source.code.find("(", at))
    line = source.line(at)
    while line > 1 and source.text[:source.starts[line - 1]].endswith("\\\n"):
        line -= 1
    in_macro = re.compile(r"[ \t]*#[ \t]*define\b").match(source.code, source.starts[line - 1])
    return close + 1 if close > 0 and (in_macro or inside_function(source.code, at)) else 0


def refused_if_compiled(source: Text, at: int, what: str) -> str:
    """A statement that is an error where the compiler makes code of it; simtcc words it as an #error."""
    name = f"simt_refused_{zlib.crc32(os.fsencode(source.path)):x}_{at}"
    text = re.sub(r"[\"\\]", "'", what)
    return f'do {{ void {name}() __attribute__((error("{text} not supported by the CPU executor"))); {name}(); }} while (0)'


def warnings(source: Text) -> list[str]:
    """What compiles here and may yet mean something else."""
    found = []
    for guess in cuda_arch.edits(source.code, [at for at, _ in unsupported(source)])[1]:
        found.append((guess, "host and device code are one on the CPU executor: both get the device's side of this condition on "
                             "__CUDA_ARCH__"))
    steps = lockstep.steps(source.code)
    if steps:
        found.append((steps[0].begin, f"volatile {steps[0].name} without __syncwarp() between the steps: they run in lockstep here, as a GPU's warps mostly do; "
                                      "since compute capability 7.0 CUDA does not promise it, and --check reports a race"))
    volatile = not steps and re.search(r"\bvolatile\s+(?:__shared__\s+)?\w+(?:\s*<[^<>]*>)?\s*\*\s*\w*s(?:h|_?data|mem)|\b__shared__\s+volatile\b|"
                         r"\bvolatile\s+__shared__\b", source.code)
    if volatile:
        found.append((volatile.start(), "volatile shared memory: lanes of a warp run in lockstep only at __syncwarp(), here as "
                                        "on GPUs since compute capability 7.0; --check finds what relies on more"))
    return list(dict.fromkeys(f"{source.path}:{source.line(at)}: warning: {what}" for at, what in found))


# --- rewriting ----------------------------------------------------------------------------------------------------------

def callee_start(code: str, end: int) -> int:
    """Where the expression begins that ends at `end` and is launched: a name with template arguments, a member, an element."""
    i = end
    while True:
        i = len(code[:i].rstrip(" \t\n\\"))  # also over the \ of a macro of several lines
        if i and code[i - 1] == ">" and code[i - 2:i] != "->":
            depth = 0
            parentheses = 0  # k<(n > 1)><<<...>>>
            while i > 0:
                i -= 1
                parentheses += {")": 1, "(": -1}.get(code[i], 0)
                depth += {">": 1, "<": -1}.get(code[i], 0) if parentheses == 0 else 0
                if depth == 0:
                    break
            continue
        if i and code[i - 1] in ")]":
            pair, depth = {")": "(", "]": "["}[code[i - 1]], 0
            close = code[i - 1]
            while i > 0:
                i -= 1
                depth += 1 if code[i] == close else -1 if code[i] == pair else 0
                if depth == 0:
                    break
            if close == ")":
                return i
            continue
        start = i
        while i and (code[i - 1].isalnum() or code[i - 1] == "_"):
            i -= 1
        if i == start:
            return -1
        before = code[:i].rstrip(" \t\n\\")
        if before.endswith("##"):  # name_##type##_kernel, in a macro
            i = len(before) - 2
        elif before.endswith("::"):
            i = len(before) - 2
            rest = code[:i].rstrip()
            if not rest or not (rest[-1].isalnum() or rest[-1] in "_>") or re.search(r"\b(?:return|else|do)$", rest):
                return i
        elif before.endswith("->"):
            i = len(before) - 2
        elif before.endswith(".") and not before.endswith("..."):
            i = len(before) - 1
        else:
            return i


def launch_end(code: str, begin: int) -> re.Match | None:
    """The >>> that closes the launch's configuration, which begins at `begin`."""
    depth = 0
    i = begin
    while i < len(code) and code[i] != ";":
        if code[i] in "([{":
            depth += 1
        elif code[i] in ")]}":
            depth -= 1
        elif depth == 0 and (match := re.compile(r">>\s*>").match(code, i)):
            # x<y<z>>>>: the last three count.
            while code[match.end():match.end() + 1] == ">":
                i += 1
                match = re.compile(r">>\s*>").match(code, i)
            return match
        i += 1
    return None


def dynamic_shared(code: str) -> list[re.Match]:
    """The arrays with extern and __shared__ among their qualifiers, or in the type. Only what is around these words is searched: a file may
    hold tables of a hundred thousand numbers."""
    found: dict[int, re.Match] = {}
    for word in re.finditer(r"\b__shared__\b", code):
        begin = 1 + max(code.rfind(mark, 0, word.start()) for mark in ";{}")
        end = re.compile(r"[;{}]|\Z").search(code, word.end()).start()
        if not re.compile(r"\bextern\b").search(code, begin, end):
            continue
        for first in re.compile(rf"(?<!\w)(?:{QUALIFIER})(?!\w)").finditer(code, begin, end):
            array = UNBOUNDED_ARRAY.match(code, first.start())
            if array and "extern" in array[1] and "__shared__" in array[1] + array[2]:
                found.setdefault(array.start(), array)
                break
    return list(found.values())


def rewrite(source: Text, decide_arch: bool = True, refuse: bool = True, nested: bool = False,
            names: device_linkage.Names | None = None, module: bool = False) -> str:
    """decide_arch: conditions on __CUDA_ARCH__ are decided (cuda_arch.py); else the preprocessor does, for which it is not defined.
    refuse: what the executor does not have is an error; else it stays, for the compiler to say what it thinks of it.
    nested: a kernel may launch kernels (-rdc=true).
    names: of the functions that other files may have, too (device_linkage.py); None: there are no other files.
    module: its kernels are found by name when it is loaded (module_kernels.py)."""
    edits: list[tuple[int, int, str]] = []
    code, text = source.code, source.text

    def keep_lines(begin: int, end: int, replacement: str) -> None:
        old = text[begin:end]
        missing = old.count("\n") - replacement.count("\n")
        edits.append((begin, end, replacement + ("\\\n" if "\\\n" in old else "\n") * missing))

    refused = unsupported(source, nested) if refuse or decide_arch else []
    if decide_arch:
        edits += cuda_arch.edits(code, [at for at, _ in refused])[0]

    known, unknown = inline_ptx(source)
    for begin, end, statement in known:
        keep_lines(begin, end, statement)
    # As nvcc, the compiler says nothing of PTX in a function of which it makes no code. A rung's is refused wherever it stands.
    for begin, what in unknown if refuse and decide_arch else []:
        end = statement_end(source, begin)
        if end > 0:
            refused.remove((begin, what))
            keep_lines(begin, end, refused_if_compiled(source, begin, what))

    for step in lockstep.steps(code) if decide_arch else []:
        keep_lines(step.begin, step.end, lockstep.rewritten(text, step))

    for launch in LAUNCH.finditer(code):
        end = launch_end(code, launch.end())
        begin = callee_start(code, launch.start())
        is_argument = begin < 0 and re.search(r"[,(][\s\\]*$", code[:launch.start()])
        if not end or (begin < 0 and not is_argument):
            raise source.error(launch.start(), "this launch is not understood: expected kernel<<<grid, block>>>(arguments)")
        arguments = re.compile(r"[\s\\]*\(").match(code, end.end())
        if not arguments:
            raise source.error(launch.start(), "after <<< >>> a kernel's arguments in parentheses must follow")
        config = text[launch.end():end.start()]
        if is_argument:  # of a macro that puts it behind a kernel's name: SWITCH(kernel, <<<grid, block>>>(a, b))
            keep_lines(launch.start(), end.end(), f"->* SIMT_LAUNCH_LATER(({config}))")
            continue
        callee = text[begin:launch.start()].rstrip(" \t\n\\")
        keep_lines(begin, end.end(), f"SIMT_LAUNCH(({callee}), ({config}))")

    # The cast to void* that its declaration asks for hides the kernel's type.
    for by_address in LAUNCH_FUNCTION.finditer(code):
        keep_lines(*by_address.span(1), "")

    for bounds in BOUNDS_OF_CLUSTER.finditer(code):
        keep_lines(*bounds.span(1), "")

    for shared in ALIGNED_SHARED.finditer(code):
        lines = shared[0].count("\n")
        edits.append((*shared.span(), " ".join(shared["aligned"].split()) + " __shared__" + "\n" * lines + " " * (not lines)))

    for parameter in POINTER_TO_SHARED.finditer(code):
        keep_lines(*parameter.span(1), "")

    for shared in dynamic_shared(code):
        qualifier, type_, name, rest = shared.groups()
        if not re.fullmatch(r"(?:\s*\[[^\[\]]*\])*\s*", rest):
            raise source.error(shared.start(), "only an array of its own can be dynamic shared memory: extern __shared__ T name[];")
        rows = rest.strip()  # extern __shared__ T name[][32]
        type_ = re.sub(rf"{ALIGNED}|\b__shared__\b|\bextern\b", " ", type_).strip()
        if re.search(r"\bvolatile\b", qualifier):
            type_ = "volatile " + type_
        if inside_function(code, shared.start()):
            variable = f"(*const {name}){rows}" if rows else f"* const {name}"
            line = f"{type_}{' ' if rows else ''}{variable} = ::simt::DynamicShared(); static_cast<void>({name});"
        else:
            line = f'extern __thread {type_} {name}[]{rows} __asm__("simt_dynamic_shared");'
        keep_lines(shared.start(), shared.end(), line)
    if module:
        edits += [(at, at, text) for at, text in module_kernels.announcements(code, zlib.crc32(str(source.path).encode())) + module_kernels.own_variables(code)]
    if names is not None:
        edits += [(at, at, device_linkage.OWN) for at in device_linkage.of_one_file(code, names)]
    if refuse:
        ranges = [edit[:2] for edit in edits]
        edits += {edit[2]: edit for edit in (refusal(source, at, what, ranges) for at, what in refused)}.values()
    out, at = [], 0
    for begin, end, replacement in sorted(edits):
        if begin < at:
            raise source.error(begin, "this launch is not understood")
        out += [text[at:begin], replacement]
        at = end
    return "".join([*out, text[at:]])


def as_cpp(source: Text, **options: object) -> str:
    """What the compiler gets; messages name the file and its lines. options: rewrite()'s."""
    # What stands for inline PTX is not for every file: it takes a while to compile.
    needs = '#include "simt/ptx.h"\n' if ASM.search(source.code) else ""
    needs += '#include "simt/module_kernel.h"\n' if options.get("module") else ""
    return f'{needs}#line 1 "{source.path}"\n{rewrite(source, **options)}'
