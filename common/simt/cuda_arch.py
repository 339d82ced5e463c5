"""Which side of a condition on __CUDA_ARCH__ holds. nvcc compiles a file twice, for the device with the macro and for the host
without it. There is one compilation here, so each condition is decided by where it stands:

    in a kernel or __device__ function, at file scope   as for the device, compute capability 9.0
    in a function of the host                           as for the host
    #ifndef without #else, at file scope                as for the host: the code is there in one of the two compilations

If the device's side uses what the executor does not have and there is an #else, the #else is taken: it is how the program
serves older devices.
"""

from __future__ import annotations

import re

DEVICE = "SIMT_CUDA_ARCH"  # include/simt/qualifiers.h defines it
HOST = "SIMT_NO_CUDA_ARCH"  # and this not

DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b((?:\\\n|[^\n])*)", re.MULTILINE)
SCOPE = re.compile(r"\b(?:namespace|class|struct|union|enum)\b[^()]*$|\bextern\s*$")


def function_around(code: str, at: int) -> str | None:
    """What stands before the body of the outermost function that holds this position; None at file scope."""
    stack: list[str | None] = []
    last = 0
    for mark in re.finditer(r"[{};]", code[:at]):
        if mark[0] == "{":
            declaration = code[last:mark.start()]
            stack.append(None if SCOPE.search(declaration) else declaration)
        elif mark[0] == "}" and stack:
            stack.pop()
        last = mark.end()
    return next((declaration for declaration in stack if declaration is not None), None)


def branches(code: str, at: int) -> list[tuple[str, int, int]]:
    """The branches of the #if at `at`: the directive that begins each, and where its text lies."""
    depth, found, directive, begin = 0, [], "", 0
    for match in DIRECTIVE.finditer(code, at):
        opens = match[1].startswith("if")
        if depth == 1 and not opens:
            found.append((directive, begin, match.start()))
        if opens:
            depth += 1
        elif match[1] == "endif":
            depth -= 1
            if depth == 0:
                return found
        if depth == 1:
            directive, begin = match[1], match.end()
    return found


def same_for_both(directive: re.Match) -> bool:
    """Does the condition come out the same with __CUDA_ARCH__ = 900 and without it? Only one of plain numbers is known to."""
    if directive[1] not in ("if", "elif"):
        return False
    values = []
    for arch, is_defined in [("900", "1"), ("0", "0")]:
        text = re.sub(r"\bdefined\s*(?:\(\s*__CUDA_ARCH__\s*\)|\b__CUDA_ARCH__\b)", is_defined, directive[2])
        text = re.sub(r"\b__CUDA_ARCH__\b", arch, text).replace("\\\n", " ")
        text = text.replace("&&", " and ").replace("||", " or ")
        text = re.sub(r"!(?!=)", " not ", text).strip()
        if not re.fullmatch(r"(?:[\d\s()<>=!]|and|or|not)+", text):
            return False
        try:
            values.append(bool(eval(text)))  # digits, comparisons and brackets only
        except SyntaxError:
            return False
    return values[0] == values[1]


def decided(code: str, at: int, refused: list[int]) -> tuple[str, bool]:
    """The name to put for __CUDA_ARCH__ in the directive that begins at `at`, and whether this is a guess."""
    directive = DIRECTIVE.match(code, at)
    declaration = function_around(code, at)
    if declaration is not None and not re.search(r"\b__(?:device|global)__\b", declaration):
        return HOST, False
    if directive and directive[1].startswith("if"):
        parts = branches(code, at)
        has_else = len(parts) > 1
        negated = directive[1] == "ifndef" or re.fullmatch(r"\s*!\s*defined\s*\(?\s*__CUDA_ARCH__\s*\)?\s*", directive[2])
        if declaration is None and negated and not has_else:
            return HOST, False
        if has_else:
            of_device = parts[-1] if negated else parts[0]
            others = [part for part in parts if part != of_device]
            uses = [any(begin <= place < end for place in refused) for _, begin, end in [of_device, others[-1]]]
            if uses == [True, False]:
                return HOST, False
            return DEVICE, (declaration is None or "__host__" in declaration) and not same_for_both(directive)
    return DEVICE, declaration is not None and "__host__" in declaration


def edits(code: str, refused: list[int]) -> tuple[list[tuple[int, int, str]], list[int]]:
    """Replacements for every __CUDA_ARCH__ of a file, and where one was a guess. `refused`: where it uses what there is not."""
    found, guesses = [], []
    chosen: list[tuple[int, int, str]] = []  # an #elif goes with its #if
    for use in re.finditer(r"\b__CUDA_ARCH__\b", code):
        begin = code.rfind("\n", 0, use.start()) + 1
        while begin >= 2 and code[begin - 2] == "\\":
            begin = code.rfind("\n", 0, begin - 1) + 1
        earlier = [name for first, last, name in chosen if first <= begin < last]
        directive = DIRECTIVE.match(code, begin)
        if earlier and (not directive or directive[1] == "elif" or earlier[-1] == HOST):
            name = earlier[-1]
        else:
            name, guess = decided(code, begin, refused)
            if guess:
                guesses.append(begin)
        if directive and directive[1].startswith("if"):
            parts = branches(code, begin)
            chosen.append((begin, parts[-1][2] if parts else len(code), name))
        found.append((use.start(), use.end(), name))
    return found, guesses
