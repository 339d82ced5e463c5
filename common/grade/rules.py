"""Rules about a kernel file: what it may ask of the machine (symbols) and what in its text needs a look (source).

A rule never reads what the author cannot have meant: comments and strings are taken out first, what the preprocessor drops
is not there. Two levels. FAIL: no honest kernel needs it; the file is not run. LOOK: an honest one might, seldom; it is graded,
and its points wait until a person has looked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

FAIL, LOOK = "fail", "needs a person"


@dataclass(frozen=True)
class Finding:
    level: str
    reason: str  # one line, for the student
    line: int = 0  # of the file; 0: of none


# ---- Source --------------------------------------------------------------------------------------

# Letters that follow a string are part of it (a user-defined literal), so that "a"R"(" begins no raw string.
TOKENS = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))
      | (?P<raw>\b(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?(?:\)(?P=mark)"(?:[A-Za-z_]\w*)?|\Z))
      | (?P<string>"(?:[^"\\\n]|\\.)*(?:"(?:[A-Za-z_]\w*)?)?)
      | (?P<number>\b\.?[0-9](?:'?[0-9A-Za-z_.]|[eEpP][+-])*)
      | (?P<char>'(?:[^'\\\n]|\\.)*(?:'(?:[A-Za-z_]\w*)?)?)""",
    re.VERBOSE | re.DOTALL)


def bare(text: str) -> str:
    """Preprocessed text without comments and without what is in strings; its lines keep their numbers."""

    def replace(found: re.Match) -> str:
        if found["number"]:
            return found[0]
        return (" " if found["comment"] else '""') + "\n" * found[0].count("\n")

    return TOKENS.sub(replace, text.replace("\r", ""))


# In the file's own text, after the preprocessor. What code does is decided on the object (of_report): here stands what an object does
# not show, names that the course owns and options that make other code of it than nvcc would.
PREPROCESSED = [
    (r"\b(?:__tsan_\w+|__sanitizer_\w+|rung_is_instrumented)\b", LOOK, "asks whether it is being checked"),
    (r"^\s*#\s*pragma\s+GCC\s+(?:optimize|target|push_options|pop_options|reset_options|visibility)", LOOK,
     "changes the compiler's options (#pragma GCC)"),
    (r"\b__builtin_(?:return_address|frame_address|extract_return_addr|frob_return_addr|eh_return|setjmp|longjmp|unwind_init|dwarf_cfa|apply\w*)\b", LOOK,
     "looks at the stack of its caller or jumps out of a function"),
    (r"^\s*#\s*pragma\s+(?:weak|redefine_extname)\b", LOOK, "gives symbols other names (#pragma)"),
]
# What the host of a GPU runs is not completed by the course's own tools, nor is anything on processors that these do not know.
UNSEEN_CODE = [
    (r"\b(?:asm|__asm|__asm__)\b", LOOK, "has inline assembly that is compiled for the CPU"),
    (r"\b__(?:atomic|sync)_\w+|\bstd\s*::\s*atomic\w*|\batomic(?:_\w+)?\s*<", LOOK,
     "uses the host's atomics, which the counters do not see: a kernel has atomicAdd and its like"),
    (r"\b__builtin_(?:ia32|arm|neon|aarch64)_\w+", LOOK, "uses instructions of the CPU, which the counters do not see"),
    (r"\b(?:atexit|at_quick_exit|on_exit)\b", LOOK, "leaves work for the end of the process (atexit)"),
]
HARMLESS_ATTRIBUTES = {"aligned", "packed", "always_inline", "noinline", "unused", "used", "maybe_unused", "nodiscard", "fallthrough",
                       "noreturn", "may_alias", "pure", "const", "hot", "cold", "flatten", "warn_unused_result", "tls_model", "visibility",
                       "vector_size", "nothrow", "likely", "unlikely", "deprecated", "gnu", "format", "returns_nonnull", "restrict", "leaf", "malloc", "alloc_size",
                       "nonnull", "artificial", "gnu_inline", "warn_unused", "transaction_safe", "transaction_pure", "transaction_safe_dynamic",
                       "abi_tag", "access", "assume_aligned", "alloc_align", "sentinel", "mode", "warning", "error", "no_sanitize",
                       "no_sanitize_thread", "no_instrument_function", "fallthrough", "noclone", "init_priority",
                       "patchable_function_entry"}  # __launch_bounds__ is made of it, and it adds no more than instructions that do nothing


def closed_at(text: str, begin: int) -> int:
    """Where the bracket that stands at `begin` is closed; the end if it is not."""
    depth = 0
    for at in range(begin, len(text)):
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if not depth:
            return at
    return len(text)


def attributes(text: str) -> list[tuple[int, str]]:
    """(position, name) of every attribute in the text that is not one of the standard's, which change nothing."""
    found = []
    for opening in re.finditer(r"\b__attribute(?:__)?\s*(?=\()|\[\s*(?=\[)", text):
        inside, before = text[opening.end(): closed_at(text, opening.end())], None
        while inside != before:  # the arguments, from the innermost on
            before, inside = inside, re.sub(r"(?<=\w)\s*\([^()]*\)", "", inside)
        if opening[0].startswith("[") and not re.search(r"\b(?:__)?(?:gnu|clang)(?:__)?\s*:", inside):
            continue  # a standard one, or an index of an index: a[b[i]]
        names = [name.strip("_") for name in re.findall(r"[A-Za-z_]\w*", inside)]
        found += [(opening.start(), name) for name in names if name not in ("gnu", "clang", "using")]
    return found


def of_source(own: str, completed: bool = True) -> list[Finding]:
    """own: the file's own text after the preprocessor. completed: the instrumented build is completed (common/simt/announce)."""
    text = bare(own)
    findings = [Finding(level, reason) for pattern, level, reason in (PREPROCESSED if completed else PREPROCESSED + UNSEEN_CODE)
                if re.search(pattern, text, re.MULTILINE)]
    for _, name in attributes(text):
        if name not in HARMLESS_ATTRIBUTES:
            findings.append(Finding(LOOK, f"uses the attribute '{name[:40]}'"))
    return list(dict.fromkeys(findings))


MARKER = re.compile(r'# \d+ "')


def header_lines(preprocessed: str) -> frozenset[str]:
    """All lines that the headers come to, from the preprocessor's output for nothing but their includes."""
    return frozenset(line for line in preprocessed.split("\n") if not MARKER.match(line))


def own_text(preprocessed: str, headers: frozenset[str]) -> str:
    """What the file adds to the headers: a line that no header has. So nothing depends on which file a line says that it is from,
    which a file can say of its own."""
    lines = preprocessed.split("\n")
    own = [line for line in lines if line not in headers and not MARKER.match(line)]
    if any('R"' in line for line in own):  # a string of several lines may hold anything
        lines = bare(preprocessed).split("\n")
        own = [line for line in lines if line not in headers and not MARKER.match(line)]
    return "\n".join(own)


def own_lines(preprocessed: str, label: str) -> str:
    """The lines of preprocessed text that come from the file `label`, from the line markers: # 12 "labs/x.cu" 2."""
    mine, lines = False, []
    for line in preprocessed.split("\n"):
        if marker := re.match(r'# \d+ "([^"]*)"', line):
            mine = marker[1] == label
        elif mine:
            lines.append(line)
    return "\n".join(lines)


# ---- Symbols -------------------------------------------------------------------------------------

FORBIDDEN = re.compile(
    r"v?fork|clone\d?|exec[vl]\w*|fexecve|system|popen|posix_spawn\w*|dlm?open|dlv?sym|dladdr\d?|dl_iterate_phdr|ptrace|"
    r"process_vm_\w+|mmap\d*|munmap|mprotect|pkey_mprotect|mremap|memfd_create|shm_open|shmget|shmat|syscall|socket(pair)?|connect|bind|"
    r"listen|accept4?|send(to|msg|mmsg)?|recv(from|msg|mmsg)?|kill|killpg|tgkill|pidfd_\w+|(__)?sigaction|signal|sigprocmask|"
    r"pthread_(create|kill|sigmask)|thrd_create|_ZNSt6thread\w*|setns|unshare|mount|umount2?|pivot_root|chroot|set[re]?[ug]id|prctl|"
    r"personality|setrlimit\d*|prlimit\d*|timer_create|setitimer|ucontext|makecontext|swapcontext|setcontext|daemon|open_by_handle_at")
FORBIDDEN_WHY = "calls %s: a kernel starts no processes or threads, maps no memory and opens no connection"

# libc, as far as a kernel's host code may want it.
LIBC = re.compile(
    r"(__)?(f|s|sn|v|vf|vs|vsn|as|vas)?printf(_chk)?|puts|putchar|putc|fputs|fputc|fwrite|fflush|perror|stdout|stderr|"
    r"mem(chr|cmp)|str(n?len|n?cmp|n?cpy|n?cat|r?chr|str|tok(_r)?|dup|error)|malloc|calloc|realloc|free|aligned_alloc|posix_memalign|"
    r"abs|labs|llabs|div|ldiv|qsort|bsearch|rand|srand|rand_r|drand48|ato[ifl]l?|strto(d|f|ld|l|ll|ul|ull)|__isoc\d+_strto\w+|"
    r"exit|abort|__assert_fail|__stack_chk_fail|__errno_location|__(mem|str|sprintf|snprintf)\w*_chk|is(alpha|digit|alnum|space|upper|lower|print)|"
    r"to(upper|lower)|__ctype_\w+_loc|time|clock|clock_gettime|gettimeofday|difftime|"
    r"pthread_(mutex|cond|rwlock|once|self|equal|key|getspecific|setspecific)\w*|__pthread_key_create")
RUNTIME = re.compile(
    r"__cxa_\w+|__gxx_personality_v0|_Unwind_\w+|__gmon_start__|_ITM_\w+|__tls_get_addr|__dso_handle|__once_proxy|__dynamic_cast|"
    r"_Z(n[wa]|d[la])\w+|_ZN?K?S[tabsiod]\w*|_ZT[VIS](P?K?[a-z]|[NKS]\w*)|_ZGVNSt\w*|_ZTVN10__cxxabiv1\w+|__(add|sub|mul|div|u?div|u?mod|float|fix|extend|trunc)\w+|"
    r"__(popcount|parity|clz|ctz|ffs|clrsb|bswap)[sdt]i2")  # __popc and its like
FILES = re.compile(r"\w*St1[34]basic_(filebuf|[io]?fstream)\w*|\w*St10filesystem\w*|\w*St13random_device\w*|\w*St13__future_base\w*")
RESETS = re.compile(r"_Z\d+cudaDeviceReset\w*")
CUDA = re.compile(r"_Z\d+cuda[A-Z]\w*")
PRODUCTS = re.compile(r"_Z\d+cublas[A-Z]\w*")
UNSEEN = re.compile(r"(__)?(mem(cpy|move|set|pcpy)|bcopy|bzero)(_chk)?")
COUNTED = re.compile(r"__wrap_mem(cpy|move|set)")
# Of the compiler: where tables and destructors of the module are.
COMPILERS = re.compile(r"_GLOBAL_OFFSET_TABLE_|__dso_handle|DW\.ref\.\w+|__(start|stop)_simt_constant|rung_(predictions|is_instrumented|variants)")
INSTRUMENTATION = re.compile(r"__tsan_\w+|__sanitizer_cov_trace_pc|simt_seen_\w+")


# Of the headers that stand in for CUDA's, those of libraries that would do a lab's work: a kernel of a lab has none of them.
LIBRARIES = ("cub", "thrust", "nccl.h")


def kernel_headers(course: Path) -> list[Path]:
    """The headers that stand in for CUDA's and that a lab's kernel may include, and what these include."""
    folder = course / "common/simt/include"
    return [path for path in sorted(folder.rglob("*")) if path.is_file() and path.relative_to(folder).parts[0] not in LIBRARIES]


def header_words(course: Path) -> frozenset[str]:
    """All words in these headers: a function of the executor that they name may be called through them."""
    return frozenset(word for path in kernel_headers(course) for word in re.findall(r"\w+", path.read_text()))


def executor_function(symbol: str) -> str:
    """"launch" of _ZN4simt6launchE...; "" if it is not directly in namespace simt."""
    found = re.match(r"_ZN4simt(\d+)", symbol)
    if not found:
        return symbol if symbol.startswith("simt_") else ""
    start, length = found.end(), int(found[1][:4])
    name, rest = symbol[start: start + length], symbol[start + length:]
    return name if rest.startswith("E") or rest.startswith("IE") or rest.startswith("I") else ""


def of_symbols(undefined: list[str], instrumented: bool, libm: frozenset[str], words: frozenset[str], products: bool = False) -> list[Finding]:
    """undefined: the names that a build leaves to others, as nm writes them. products: the lab's solution calls cuBLAS."""
    findings, unknown = [], []
    for symbol in undefined:
        name = symbol.split("@")[0]
        if COMPILERS.fullmatch(name):
            continue
        if FORBIDDEN.fullmatch(name):
            findings.append(Finding(FAIL, FORBIDDEN_WHY % name[:60]))
        elif FILES.fullmatch(name):
            findings.append(Finding(LOOK, f"uses files or threads of the C++ library ({name[:60]})"))
        elif RESETS.fullmatch(name):
            findings.append(Finding(LOOK, "resets the device, which is not its own (cudaDeviceReset)"))
        elif PRODUCTS.fullmatch(name) and not products:
            length, called = re.match(r"_Z(\d+)(\w+)", name).groups()
            findings.append(Finding(LOOK, f"calls cuBLAS ({called[: int(length)]}), which this lab does without"))
        elif UNSEEN.fullmatch(name):
            if instrumented:
                findings.append(Finding(LOOK, f"moves memory with {name}, which the counters do not see"))
        elif COUNTED.fullmatch(name):
            if not instrumented:
                findings.append(Finding(LOOK, f"calls {name}, which belongs to the checks"))
        elif INSTRUMENTATION.fullmatch(name):
            if not instrumented:
                findings.append(Finding(LOOK, f"calls {name[:60]}, which belongs to the checks"))
        elif not (name in libm or LIBC.fullmatch(name) or RUNTIME.fullmatch(name) or CUDA.fullmatch(name) or PRODUCTS.fullmatch(name)
                  or executor_function(name) in words):
            unknown.append(name)
    if unknown:
        more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        findings.append(Finding(LOOK, f"calls {unknown[0][:60]}{more}: not on the list of functions that a kernel's host code may use"))
    return findings


# A main is for debugging, and leads nowhere in a shared object.
EXPORTED = {"rung_variants", "rung_predictions", "rung_is_instrumented", "main"}


def of_report(report: str, label: str, taken: frozenset[str], libm: frozenset[str]) -> list[Finding]:
    """What announce says of the instrumented build's assembly (common/simt/announce/main.cpp). taken: names that the worker gives to a
    rung, which no file may define in its place, for others or for itself."""
    findings = []
    for line in report.split("\n"):
        kind, *rest = line.split("\t")
        if kind == "odd" and len(rest) == 3:
            number = int(rest[1]) if rest[0] == label and rest[1].isdigit() else 0
            findings.append(Finding(LOOK, f"compiles to what no kernel needs: {rest[2][:80]}", number))
        elif kind == "defines" and len(rest) == 1 and rest[0] not in EXPORTED and stands_in(rest[0], taken, libm):
            findings.append(Finding(LOOK, f"defines {rest[0][:60]}, which is not its own"))
    return findings[:20]


def stands_in(name: str, taken: frozenset[str], libm: frozenset[str]) -> bool:
    """Is it a name of the executor's, the C library's or the compiler's? C++'s library is made of templates, which every file defines."""
    if name in taken or name in libm or INSTRUMENTATION.fullmatch(name) or name.startswith(("__tsan_", "__sanitizer_", "__wrap_", "simt_seen_")):
        return True
    if not name.startswith("_Z"):
        return bool(LIBC.fullmatch(name) or RUNTIME.fullmatch(name) or UNSEEN.fullmatch(name) or FORBIDDEN.fullmatch(name))
    return bool(re.fullmatch(r"_Z(n[wa]|d[la])\w+", name) or CUDA.fullmatch(name) or PRODUCTS.fullmatch(name))


# What an object that nvcc made leaves to the CUDA runtime, whose functions there have C's names.
GPU_RUNTIME = re.compile(r"atexit|__cuda\w+|__nv\w+|_GLOBAL_OFFSET_TABLE_|__fatbinwrap\w*")
GPU_CALLS = re.compile(
    r"cuda(Launch(Kernel|CooperativeKernel)\w*|Func\w+|GetLastError|PeekAtLastError|GetError(String|Name)|GetDevice(Properties\w*|Count)?|"
    r"Device(GetAttribute|Synchronize|SetLimit|GetLimit|GetDefaultMemPool|SetCacheConfig)|Occupancy\w+|Malloc(Async)?|Free(Async)?|"
    r"Memset(Async)?|Stream(Create\w*|Destroy|Synchronize|WaitEvent|SetAttribute|GetAttribute|Query)|Event\w+|CtxResetPersistingL2Cache|"
    r"MemPool(Set|Get)Attribute|MemcpyToSymbol(Async)?|GetSymbol(Address|Size)|"
    # Here the host can help, and is too slow for it: what it takes counts.
    r"MallocHost|HostAlloc|FreeHost|Memcpy(2D)?(Async)?|Stream(Begin|End)Capture|StreamIsCapturing|Graph(Instantiate|Launch|Destroy|ExecDestroy))"
    r"(WithFlags|_v\d+|_ptsz|_ptds)*")


def of_gpu_symbols(undefined: list[str], libm: frozenset[str], words: frozenset[str]) -> list[Finding]:
    """The same for an object for a GPU. A call that neither list knows waits for a person: it may leave work for later
    (cudaLaunchHostFunc)."""
    calls = [name for name in undefined if name.startswith("cuda") and not GPU_CALLS.fullmatch(name)]
    findings = [Finding(LOOK, f"calls {name[:60]}: kernels do the work, in the call that asks for it") for name in calls]
    if "__cudaRegisterManagedVar" in undefined:
        findings.append(Finding(LOOK, "has a __managed__ variable, which the host shares: kernels do the work"))
    others = [name for name in undefined if not name.startswith("cuda") and not GPU_RUNTIME.fullmatch(name) and not UNSEEN.fullmatch(name)]
    return findings + of_symbols(others, False, libm, words)


def of_gpu_host_code(own_lines: str) -> list[Finding]:
    """own_lines: the file's own lines of what nvcc gives to the host's compiler: preprocessed, and what only the device runs is between
    #if 0 and #endif."""
    text = re.sub(r"(?ms)^#if 0$.*?^#endif[^\n]*$", "", bare(own_lines))
    return [Finding(level, reason.replace("the counters do not see", "no kernel needs")) for pattern, level, reason in PREPROCESSED + UNSEEN_CODE
            if re.search(pattern, text, re.MULTILINE)]
