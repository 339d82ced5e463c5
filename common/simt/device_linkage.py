"""Without -rdc=true nvcc compiles the device's side of each file by itself: two files may have device functions of one name, as files that
include a header with `__device__ float square(float x) { ... }` do. The host's linker would not take that, so such functions become
static where a program has several files. Variables do not: the linker keeps one copy of a template for all files, which would use one
file's variable for all."""

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


class Names(NamedTuple):
    """Of a file and the headers of its program."""
    declared: set[str]  # as friends or extern
    defined: set[str]  # device functions with a body

    def __or__(self, other: Names) -> Names:
        return Names(self.declared | other.declared, self.defined | other.defined)


def names(code: str) -> Names:
    declared = {name for match in DECLARED.finditer(code) for name in re.findall(r"\w+", match[1])}
    return Names(declared, {name for _, name, has_body in functions(code) if has_body})


def of_one_file(code: str, known: Names) -> list[int]:
    """Where OWN is to be put: before the qualifier of each such function and of its prototypes."""
    return [at for at, name, _ in functions(code) if name in known.defined - known.declared]


def functions(code: str) -> list[tuple[int, str, bool]]:
    """The functions of the device alone at file scope: where the qualifier stands, the name, and whether a body follows."""
    if "__device__" not in code:
        return []
    code = DIRECTIVE.sub(lambda directive: re.sub(r"[^\n]", " ", directive[0]), code)
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
