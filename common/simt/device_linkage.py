"""Without -rdc=true nvcc compiles the device's side of each file by itself: two files may have device functions of one name, as files that
include a header with `__device__ float square(float x) { ... }` do. The host's linker would not take that, so such functions become
static where a program has several files, and so do variables of the device. Variables that an inline function, a template or a class uses do not:
of these the linker keeps one copy for all files, which would use one file's variable for all."""

from __future__ import annotations

import re
from typing import NamedTuple

OWN = "static __attribute__((unused)) "
# Linkage of another kind, a kernel, a function of the host too (nvcc's host linker would not take two), a variable, or no declaration.
OTHER = re.compile(r"\b(?:static|extern|inline|__inline__|__forceinline__|constexpr|template|__global__|__host__|__constant__|__managed__|__shared__|"
                   r"friend|typedef|using|class|struct|union|enum|namespace)\b")
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\[^\n]|\\\n)*", re.MULTILINE)
SPECIFIER = re.compile(r"\b(?:__align__|alignas|__attribute__|__launch_bounds__|__maxnreg__)\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")
NAME = re.compile(r"(?P<of>::\s*)?(?P<name>operator\s*(?:\(\s*\)|[^\s\w(]+)|~?\b[A-Za-z_]\w*)\s*\((?!\s*[*&])")
# What a class or another file declares: `static` would contradict it.
DECLARED = re.compile(r"\b(?:friend|extern)\b([^;{}]*)[;{]")


# What the linker merges, or may.
MERGED = re.compile(r"\b(?:template|inline|__inline__|__forceinline__|constexpr|class|struct|union)\b")
VARIABLE = re.compile(r"\b(?:__device__|__constant__|__managed__)\b[^()]*?(?P<name>[A-Za-z_]\w*)\s*(?:\[[^=]*)?(?:=.*)?$", re.DOTALL)
QUALIFIER = re.compile(r"\b(?:__device__|__constant__|__managed__)\b")


class Names(NamedTuple):
    """Of a file and the headers of its program."""
    declared: set[str]  # as friends or extern
    defined: set[str]  # device functions with a body, and variables of the device
    merged: set[str]  # what bodies that the linker merges use

    def __or__(self, other: Names) -> Names:
        return Names(self.declared | other.declared, self.defined | other.defined, self.merged | other.merged)


def names(code: str) -> Names:
    declared = {name for match in DECLARED.finditer(code) for name in re.findall(r"\w+", match[1])}
    defined = {name for _, name, has_body in functions(code) if has_body} | {name for _, name in variables(code)}
    return Names(declared, defined, merged(code))


def of_one_file(code: str, known: Names) -> list[int]:
    """Where OWN is to be put: before the qualifier of each such function, of its prototypes, and of each such variable."""
    own = known.defined - known.declared
    return [at for at, name, _ in functions(code) if name in own] + [at for at, name in variables(code) if name in own - known.merged]


def blanked(code: str) -> str:
    """Without directives; every place stays."""
    return DIRECTIVE.sub(lambda directive: re.sub(r"[^\n]", " ", directive[0]), code)


def variables(code: str) -> list[tuple[int, str]]:
    """Those of the device at file scope: where the qualifier stands, and the first name."""
    found = []
    if not QUALIFIER.search(code):
        return found
    for begin, declaration, _ in declarations(blanked(code)):
        plain = SPECIFIER.sub(lambda specifier: " " * len(specifier[0]), declaration)
        name = VARIABLE.search(plain)
        if name and not OTHER.search(re.sub(r"\b(?:__constant__|__managed__|struct)\b", "", plain)):
            found.append((begin + QUALIFIER.search(declaration).start(), name["name"]))
    return found


def merged(code: str) -> set[str]:
    found: set[str] = set()
    if not QUALIFIER.search(code):
        return found
    code = blanked(code)
    for begin, declaration, end in declarations(code):
        if MERGED.search(declaration):
            found.update(re.findall(r"[A-Za-z_]\w*", code[begin + len(declaration):end]))
    return found


def declarations(code: str) -> list[tuple[int, str, int]]:
    """Those at file scope: where each begins, its text up to the brace or semicolon, and where its body ends."""
    found, depth, begin, spaces = [], 0, 0, 0  # spaces: open braces of namespaces
    open_at = None
    for mark in re.finditer(r"[{};]", code):
        if depth == 0 and mark[0] == "{":
            declaration = code[begin:mark.start()]
            if re.search(r"\bnamespace\b[^()]*$|\bextern\s*(?:\"\s*\")?\s*$", declaration):
                spaces, begin = spaces + 1, mark.end()
                continue
            open_at = (begin, declaration)
        if mark[0] == "{":
            depth += 1
        elif mark[0] == "}" and depth:
            depth -= 1
            if depth == 0:
                found.append((*open_at, mark.end()))
                begin = mark.end()
        elif depth == 0:
            if mark[0] == ";":
                found.append((begin, code[begin:mark.start()], mark.end()))
            begin = mark.end()
    return found


def functions(code: str) -> list[tuple[int, str, bool]]:
    """The functions of the device alone at file scope: where the qualifier stands, the name, and whether a body follows."""
    if "__device__" not in code:
        return []
    code = blanked(code)
    found, within, begin = [], [], 0  # within: for each open brace, whether it is a function's or a class's
    for mark in re.finditer(r"[{};]", code):
        declaration = code[begin:mark.start()]
        if mark[0] != "}" and not any(within):
            qualifier = re.search(r"\b__device__\b", declaration)
            if qualifier and not OTHER.search(declaration):
                plain = SPECIFIER.sub(" ", declaration)
                name = NAME.search(plain)
                if name and not name["of"] and "=" not in plain[:name.start()]:
                    found.append((begin + qualifier.start(), name["name"], mark[0] == "{"))
        if mark[0] == "{":
            within.append(not re.search(r"\bnamespace\b[^()]*$|\bextern\s*(?:\"\s*\")?\s*$", declaration))
        elif mark[0] == "}" and within:
            within.pop()
        begin = mark.end()
    return found
