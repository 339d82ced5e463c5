"""Which kernels of a file a module offers by name (include/simt/module_kernel.h): those at file scope that are no templates. Behind each stands
what announces it when the module is loaded."""

from __future__ import annotations

import re
from collections import Counter

import device_linkage

KERNEL = re.compile(r"\b__global__\b")
# Declarations that are one: what a namespace or extern "C" begins with is no part of it.
NO_KERNEL = re.compile(r"\b(?:template|friend|typedef|using)\b")


def announcements(code: str, count_from: int) -> list[tuple[int, str]]:
    """Where each is to be put, and its text. Of overloads there are none: their names say not which is meant."""
    found = []
    plain = device_linkage.blanked(code)
    for begin, declaration, end in device_linkage.declarations(plain):
        if KERNEL.search(declaration) and not NO_KERNEL.search(declaration) and plain[end - 1] == "}":
            name = device_linkage.NAME.search(device_linkage.SPECIFIER.sub(" ", declaration))
            if name and not name["of"]:
                found.append((end, name["name"]))
    times = Counter(name for _, name in found)
    return [(end, f" SIMT_MODULE_KERNEL({name}, {count_from + number});") for number, (end, name) in enumerate(found) if times[name] == 1]


# `static`: the compiler would see that nobody writes it, and make a constant of it.
OWN_VARIABLE = re.compile(r"\b(?=(?:static\s+(?:__constant__|__device__|__managed__)|(?:__constant__|__device__|__managed__)\s+static)\b[^();{}]*?[\[;=])")


def own_variables(code: str) -> list[tuple[int, str]]:
    """What makes the host able to fill a variable of the file alone."""
    return [(match.start(), "__attribute__((used)) ") for match in OWN_VARIABLE.finditer(code)]


def of_expressions(expressions: list[str]) -> str:
    """For names that the program asks for: `kernel<float>`, `&some::variable`. As NVRTC says, a variable's begins with &."""
    lines = []
    for number, expression in enumerate(expressions):
        escaped = expression.replace("\\", "\\\\").replace('"', '\\"')
        lines.append(f'SIMT_MODULE_NAME("{escaped}", {number}, {expression});\n')
    return "".join(lines)
