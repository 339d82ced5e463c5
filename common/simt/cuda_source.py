"""CUDA C++ to C++: what no macro can express is rewritten, what the executor does not have is refused. Lines keep
their numbers.

    kernel<T><<<grid, block, bytes, stream>>>(a, b);  ->  SIMT_LAUNCH((kernel<T>), (grid, block, bytes, stream))(a, b);
    extern __shared__ float row[];                    ->  float* const row = ::simt::DynamicShared(); ...
"""

from __future__ import annotations

import os
import re
import zlib

import cuda_arch
import device_linkage
import lockstep
import module_kernels
import ptx
from source_text import Text, UserError, closing, inside_function, of_text, read  # noqa: F401: also for those who import this file
from lacking_names import OF_NAME
from unsupported_names import HEADERS, LIBRARIES, UNSUPPORTED

IN_BRACKETS = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"  # as of alignas(alignof(decltype(x)))
ALIGNED = rf"__align__\s*{IN_BRACKETS}|alignas\s*{IN_BRACKETS}"

# A parameter may say where it points to; that places nothing.
# A kernel has one attribute of this kind (qualifiers.h): its cluster's shape, which decides what it computes, comes before
# its bounds.
BOUNDS_OF_CLUSTER = re.compile(r"\b__cluster_dims__\s*\((?:[^()]|\([^()]*\))*\)\s*(\b__launch_bounds__\s*\((?:[^()]|\([^()]*\))*\))")
# g++ wants the alignment first.
ALIGNED_SHARED = re.compile(r"(?P<shared>\b__shared__\s+)(?P<aligned>alignas\s*" + IN_BRACKETS + ")")
POINTER_TO_SHARED = re.compile(r"(?<=[(,])\s*(?:const\s+|volatile\s+)*\b(__shared__\s)(?=\s*[\w:<>\s]+[*&][^(),;]*[,)])")
# Qualifiers, type, name[], what follows before the semicolon.
QUALIFIER = rf"extern|__shared__|volatile|static|const|{ALIGNED}|__attribute__\s*\(\(.*?\)\)"
UNBOUNDED_ARRAY = re.compile(
    rf"((?:(?:{QUALIFIER})\s+|(?:{ALIGNED})\s*)+)"
    r"([^;{}()\[\]]+?)\s*(\w+)\s*\[\s*\]\s*((?:\[[^\]]*\]|,)?[^;]*);")

# Not `operator<< <T>`.
LAUNCH = re.compile(r"(?<!operator)(?<!operator )<<[ \t]*<")


# A kernel's address as one argument or as a node's `func`.
LAUNCH_FUNCTION = re.compile(r"(?:\bcudaLaunch(?:Cooperative)?Kernel\s*\(|\bcudaLaunchKernelExC\s*\(\s*&?\s*\w+\s*,|(?:\.|->)\s*func\s*=|\bcudaKernelNodeParams\s+\w+\s*=?\s*\{)\s*((?:\(\s*(?:const\s+)?void\s*(?:const\s*)?\*\s*\)|"
                             r"(?:reinterpret|static)_cast\s*<\s*(?:const\s+)?void\s*\*\s*>)\s*&?)")

# Elsewhere the cast stays one, and the executor remembers the kernel's parameters.
KERNEL = re.compile(r"\b__global__\b(?:[^;{}()]|\b__\w+__\s*\([^()]*\))*?\b(?!__)([A-Za-z_]\w*)\s*\(")
CAST_TO_VOID = re.compile(r"(?:\(\s*(?:const\s+)?void\s*(?:const\s*)?\*\s*\)|(?:reinterpret|static)_cast\s*<\s*(?:const\s+)?void\s*\*\s*>(?=\s*\())"
                          r"(?=\s*\(?\s*&?\s*(?:[A-Za-z_]\w*\s*::\s*)*([A-Za-z_]\w*)\s*[<,;)}\]])")


def is_own(code: str, name: str) -> bool:
    """A macro or a function of the program's own, whatever library's name it has."""
    return bool(re.fullmatch(r"\w+", name) and re.search(
        rf"^[ \t]*#[ \t]*define[ \t]+{name}\b|^[^\n;=(#]*[\w*&>][ \t*&]+{name}\s*\([^;{{}}()]*\)\s*\{{", code, re.MULTILINE))


# Of a function that is no member and stands in no namespace.
CALL = re.compile(r"(?<![\w.>:])(?:::)?(cu\w+|__\w+|nvrtc\w+)\s*\(")


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
    found += [(match.start(), f"{name} of {OF_NAME[name]} is") for match in CALL.finditer(code) if (name := match[1]) in OF_NAME and not is_own(code, name)]
    found += inline_ptx(source)[1]
    return found + ([] if nested else dynamic_parallelism(source))


OF_FP8 = re.compile(r"\be[45]m[23]x2\b")  # in the text of inline PTX
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
        if launch and end < 0:
            found.append((kernel.start(), "a function without a } at its end (is one missing?) is"))
        elif launch:
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


def taken_as_array(code: str, at: int, name: str) -> bool:
    """Does what follows in this block need the array itself, where a pointer to its first element is another thing? `&name`, reinterpret_cast<T&>(name)."""
    depth, end = 0, len(code)
    for brace in re.compile(r"[{}]").finditer(code, at):
        depth += 1 if brace[0] == "{" else -1
        if depth < 0:
            end = brace.start()
            break
    own = rf"{name}\b(?!\s*(?:\[|->|\.))"
    return bool(re.compile(rf"(?<!&)&\s*{own}|&\s*>?\s*\)?\s*\(\s*{own}\s*\)|&\s*\)\s*{own}|\bdecltype\s*\(\s*{own}\s*\)").search(code, at, end))


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
        # Of a macro that puts it behind a kernel's name: SWITCH(kernel, <<<grid, block>>>(a, b)); kernel CONFIG(grid, block)(a, b).
        is_argument = begin < 0 and re.search(r"[,(][\s\\]*$", code[:launch.start()])
        is_macro = re.search(r"(?m)^[ \t]*#[ \t]*define[ \t]+\w+(?:\([^()\n]*\))?(?:[ \t]|\\\n)*\Z", code[:launch.start()])
        if not end or (begin < 0 and not is_argument and not is_macro):
            raise source.error(launch.start(), "this launch is not understood: expected kernel<<<grid, block>>>(arguments)")
        arguments = re.compile(r"[\s\\]*\(").match(code, end.end())
        if not arguments and not is_macro:
            raise source.error(launch.start(), "after <<< >>> a kernel's arguments in parentheses must follow")
        config = text[launch.end():end.start()]
        if is_argument or is_macro:
            keep_lines(launch.start(), end.end(), f"->* SIMT_LAUNCH_LATER(({config}))")
            continue
        callee = text[begin:launch.start()].rstrip(" \t\n\\")
        keep_lines(begin, end.end(), f"SIMT_LAUNCH(({callee}), ({config}))")

    # The cast to void* that its declaration asks for hides the kernel's type.
    for by_address in LAUNCH_FUNCTION.finditer(code):
        keep_lines(*by_address.span(1), "")
    launched = {by_address.start(1) for by_address in LAUNCH_FUNCTION.finditer(code)}
    kernels = set(KERNEL.findall(code))
    for cast in CAST_TO_VOID.finditer(code):
        if cast[1] in kernels and cast.start() not in launched:
            keep_lines(*cast.span(), "::simt::address_of_kernel ->* ")

    for bounds in BOUNDS_OF_CLUSTER.finditer(code):
        keep_lines(*bounds.span(1), "")

    dynamic = dynamic_shared(code)
    for shared in ALIGNED_SHARED.finditer(code):
        if any(array.start() <= shared.start() < array.end() for array in dynamic):
            continue
        lines = shared[0].count("\n")
        edits.append((*shared.span(), " ".join(shared["aligned"].split()) + " __shared__" + "\n" * lines + " " * (not lines)))

    for parameter in POINTER_TO_SHARED.finditer(code):
        keep_lines(*parameter.span(1), "")

    for shared in dynamic:
        qualifier, type_, name, rest = shared.groups()
        if not re.fullmatch(r"(?:\s*\[[^\[\]]*\])*\s*", rest):
            raise source.error(shared.start(), "only an array of its own can be dynamic shared memory: extern __shared__ T name[];")
        rows = rest.strip()  # extern __shared__ T name[][32]
        type_ = re.sub(rf"{ALIGNED}|\b__shared__\b|\bextern\b", " ", type_).strip()
        if re.search(r"\bvolatile\b", qualifier):
            type_ = "volatile " + type_
        if inside_function(code, shared.start()) and taken_as_array(code, shared.end(), name):
            line = f"{type_} (&{name})[]{rows} = ::simt::DynamicSharedArray();"
        elif inside_function(code, shared.start()):
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
    needs += '#include "cuda_fp8.h"\n' if needs and OF_FP8.search(source.text) else ""
    needs += '#include "simt/module_kernel.h"\n' if options.get("module") else ""
    return f'{needs}#line 1 "{source.path}"\n{rewrite(source, **options)}'
