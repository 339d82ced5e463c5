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

TOKENS = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))
      | (?P<raw>\b(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?(?:\)(?P=mark)"|\Z))
      | (?P<string>"(?:[^"\\\n]|\\.)*"?)
      | (?P<number>\b\.?[0-9](?:'?[0-9A-Za-z_.]|[eEpP][+-])*)
      | (?P<char>'(?:[^'\\\n]|\\.)*'?)""",
    re.VERBOSE | re.DOTALL)


def bare(text: str) -> str:
    """The text without comments and without what is in strings; its lines keep their numbers, unless they were spliced."""

    def replace(found: re.Match) -> str:
        if found["number"]:
            return found[0]
        return (" " if found["comment"] else '""') + "\n" * found[0].count("\n")

    return TOKENS.sub(replace, re.sub(r"\\[ \t]*\r?\n", "", text).replace("\r", ""))


# In the file as it was handed in.
RAW = [
    (r"^[ \t]*(?:#|%:|\?\?=)[ \t]*(?:line\b|[0-9])", LOOK, "gives its lines other names (#line)"),
    (r"\bsimt\s*::|\bnamespace\s+simt\b|\bsimt_\w+", LOOK, "uses the executor's own functions, which CUDA does not have"),
    (r"\b(?:__SANITIZE_THREAD__|rung_is_instrumented|__tsan_\w+|__sanitizer_\w+)", LOOK, "asks whether it is being checked"),
    (r"\bLADDER_\w+", LOOK, "names a setting of the grader"),
]
# After the preprocessor, in the lines that are the file's own.
PREPROCESSED = [
    (r"\b(?:asm|__asm|__asm__)\b", LOOK, "has inline assembly that is compiled for the CPU"),
    (r"\b__builtin_(?:return_address|frame_address|extract_return_addr|apply\w*)\b", LOOK, "looks at the stack of its caller"),
    (r"\b(?:__tsan_\w+|__sanitizer_\w+|rung_is_instrumented)\b", LOOK, "asks whether it is being checked"),
    (r"\b__(?:atomic|sync)_\w+|\bstd\s*::\s*atomic\w*|\batomic(?:_\w+)?\s*<", LOOK,
     "uses the host's atomics, which the counters do not see: a kernel has atomicAdd and its like"),
    (r"\b__builtin_(?:ia32|arm|neon|aarch64)_\w+", LOOK, "uses instructions of the CPU, which the counters do not see"),
    (r"\b(?:atexit|at_quick_exit|on_exit)\b", LOOK, "leaves work for the end of the process (atexit)"),
    (r"^[ \t]*#[ \t]*pragma[ \t]+GCC[ \t]+(?:optimize|target|push_options|pop_options|reset_options|visibility)", LOOK,
     "changes the compiler's options (#pragma GCC)"),
    (r"^[ \t]*#[ \t]*pragma[ \t]+(?:weak|redefine_extname)\b", LOOK, "gives symbols other names (#pragma)"),
]
HARMLESS_ATTRIBUTES = {"aligned", "packed", "always_inline", "noinline", "unused", "used", "maybe_unused", "nodiscard", "fallthrough",
                       "noreturn", "may_alias", "pure", "const", "hot", "cold", "flatten", "warn_unused_result", "tls_model", "visibility",
                       "vector_size", "nothrow", "likely", "unlikely", "deprecated", "gnu", "format", "returns_nonnull", "restrict"}


def attributes(text: str) -> list[tuple[int, str]]:
    """(position, name) of every attribute in the text."""
    found = []
    for opening in re.finditer(r"\b__attribute(?:__)?\s*\(\s*\(|\[\s*\[", text):
        closing = re.compile(r"\)\s*\)|\]\s*\]").search(text, opening.end())
        inside = text[opening.end(): closing.start() if closing else opening.end() + 200]
        inside = re.sub(r"\([^()]*\)?", "", inside)
        if opening[0].startswith("[") and not re.fullmatch(r"[\w\s,:]*", inside):
            continue  # an index of an index: a[b[i]]
        if opening[0].startswith("[") and not re.search(r"\bgnu\b|\bclang\b", inside):
            continue  # standard ones change nothing
        found += [(opening.start(), name.strip("_")) for name in re.findall(r"\w+", inside) if not name.isdigit()]
    return found


def of_source(source: str, own_lines: str) -> list[Finding]:
    """source: the file. own_lines: its lines after the preprocessor."""
    findings = []
    for text, rules, numbered in ((bare(source), RAW, True), (bare(own_lines), PREPROCESSED, False)):
        for pattern, level, reason in rules:
            if found := re.search(pattern, text, re.MULTILINE):
                line = text.count("\n", 0, found.start()) + 1 if numbered and "\\\n" not in source else 0
                findings.append(Finding(level, reason, line))
    for _, name in attributes(bare(own_lines)):
        if name not in HARMLESS_ATTRIBUTES:
            findings.append(Finding(LOOK, f"uses the attribute '{name[:40]}'"))
    return list(dict.fromkeys(findings))


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
    r"_Z(n[wa]|d[la])\w+|_ZN?K?S[tabsiod]\w*|_ZT[VIS][NKS]\w*|_ZGVNSt\w*|_ZTVN10__cxxabiv1\w+|__(add|sub|mul|div|u?div|u?mod|float|fix|extend|trunc)\w+|"
    r"__(popcount|parity|clz|ctz|ffs|clrsb|bswap)[sdt]i2")  # __popc and its like
FILES = re.compile(r"\w*St1[34]basic_(filebuf|[io]?fstream)\w*|\w*St10filesystem\w*|\w*St13random_device\w*|\w*St13__future_base\w*")
HOST_COPIES = re.compile(r"_Z\d+cuda(Memcpy|MallocManaged|MallocHost|HostRegister|DeviceReset|PointerGetAttributes)\w*")
CUDA = re.compile(r"_Z\d+(cuda|cublas)[A-Z]\w*")
UNSEEN = re.compile(r"(__)?(mem(cpy|move|set|pcpy)|bcopy|bzero)(_chk)?")
COUNTED = re.compile(r"__wrap_mem(cpy|move|set)")
INSTRUMENTATION = re.compile(r"__tsan_\w+|__sanitizer_cov_trace_pc|simt_seen_\w+")


def header_words(course: Path) -> frozenset[str]:
    """All words in the headers that stand in for CUDA's: a function of the executor that they name may be called through them."""
    text = "".join(path.read_text() for path in sorted((course / "common/simt/include").rglob("*")) if path.is_file())
    return frozenset(re.findall(r"\w+", text))


def executor_function(symbol: str) -> str:
    """"launch" of _ZN4simt6launchE...; "" if it is not directly in namespace simt."""
    found = re.match(r"_ZN4simt(\d+)", symbol)
    if not found:
        return symbol if symbol.startswith("simt_") else ""
    start, length = found.end(), int(found[1][:4])
    name, rest = symbol[start: start + length], symbol[start + length:]
    return name if rest.startswith("E") or rest.startswith("IE") or rest.startswith("I") else ""


def of_symbols(undefined: list[str], instrumented: bool, libm: frozenset[str], words: frozenset[str]) -> list[Finding]:
    """undefined: the names that a build leaves to others, as nm writes them."""
    findings, unknown = [], []
    for symbol in undefined:
        name = symbol.split("@")[0]
        if FORBIDDEN.fullmatch(name):
            findings.append(Finding(FAIL, FORBIDDEN_WHY % name[:60]))
        elif FILES.fullmatch(name):
            findings.append(Finding(LOOK, f"uses files or threads of the C++ library ({name[:60]})"))
        elif HOST_COPIES.fullmatch(name):
            length, called = re.match(r"_Z(\d+)(\w+)", name).groups()
            findings.append(Finding(LOOK, f"moves data to the host itself ({called[: int(length)]}): kernels do the work"))
        elif UNSEEN.fullmatch(name):
            if instrumented:
                findings.append(Finding(LOOK, f"moves memory with {name}, which the counters do not see"))
        elif COUNTED.fullmatch(name):
            if not instrumented:
                findings.append(Finding(LOOK, f"calls {name}, which belongs to the checks"))
        elif INSTRUMENTATION.fullmatch(name):
            if not instrumented:
                findings.append(Finding(LOOK, f"calls {name[:60]}, which belongs to the checks"))
        elif not (name in libm or LIBC.fullmatch(name) or RUNTIME.fullmatch(name) or CUDA.fullmatch(name)
                  or executor_function(name) in words):
            unknown.append(name)
    if unknown:
        more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        findings.append(Finding(LOOK, f"calls {unknown[0][:60]}{more}: not on the list of functions that a kernel's host code may use"))
    return findings


# What an object that nvcc made leaves to the CUDA runtime, whose functions there have C's names.
GPU_RUNTIME = re.compile(r"atexit|__cuda\w+|__nv\w+|_GLOBAL_OFFSET_TABLE_|__fatbinwrap\w*")
GPU_CALLS = re.compile(
    r"cuda(Launch(Kernel|CooperativeKernel)\w*|Func\w+|GetLastError|PeekAtLastError|GetError(String|Name)|GetDevice(Properties\w*|Count)?|"
    r"Device(GetAttribute|Synchronize|SetLimit|GetLimit|GetDefaultMemPool|SetCacheConfig)|Occupancy\w+|Malloc(Async)?|Free(Async)?|"
    r"Memset(Async)?|Stream(Create\w*|Destroy|Synchronize|WaitEvent|SetAttribute|GetAttribute|Query)|Event\w+|CtxResetPersistingL2Cache|"
    r"MemPool(Set|Get)Attribute|GetSymbol(Address|Size))(_v\d+|_ptsz|_ptds)*")


def of_gpu_symbols(undefined: list[str], libm: frozenset[str], words: frozenset[str]) -> list[Finding]:
    """The same for an object for a GPU. A call that neither list knows waits for a person: it may move data to the host
    (cudaMemcpy) or leave work for later (cudaLaunchHostFunc)."""
    calls = [name for name in undefined if name.startswith("cuda") and not GPU_CALLS.fullmatch(name)]
    findings = [Finding(LOOK, f"calls {name[:60]}: kernels do the work, in the call that asks for it") for name in calls]
    others = [name for name in undefined if not name.startswith("cuda") and not GPU_RUNTIME.fullmatch(name) and not UNSEEN.fullmatch(name)]
    return findings + of_symbols(others, False, libm, words)


def of_gpu_host_code(own_lines: str) -> list[Finding]:
    """own_lines: the file's own lines of what nvcc gives to the host's compiler: preprocessed, and what only the device runs is between
    #if 0 and #endif."""
    text = re.sub(r"(?ms)^#if 0$.*?^#endif[^\n]*$", "", bare(own_lines))
    return [Finding(level, reason.replace("the counters do not see", "no kernel needs")) for pattern, level, reason in PREPROCESSED
            if re.search(pattern, text, re.MULTILINE)]
