"""The last steps of old tree reductions and scans: s[tid] += s[tid + 16]; s[tid] += s[tid + 8]; with s volatile and no __syncwarp().
They count on lanes that run in lockstep, which CUDA has not promised since compute capability 7.0 and GPUs do all the same where
nothing diverges.

Here lanes run one after the other, so each step is rewritten: all lanes that are there compute, then all store.

    s[tid] += s[tid + 16];  ->  { const auto simt_value = (s[tid]) + (s[tid + 16]); ::simt::lockstep(...); s[tid] = simt_value; ... }
"""

from __future__ import annotations

import re
from typing import NamedTuple

VOLATILE = re.compile(r"\bvolatile\s+(?:__shared__\s+)?(?:unsigned\s+|signed\s+|long\s+|const\s+)*\w+(?:\s*<[^<>]*>)?\s*\*?\s*(?:const\s+|__restrict__\s+)?(\w+)|"
                      r"\b__shared__\s+volatile\s+(?:unsigned\s+|long\s+)*\w+\s+(\w+)")
# The head of a loop, whose body the step is, with or without a brace.
LOOP = re.compile(r"\b(?:for|while)\s*\((?:[^(){}]|\((?:[^(){}]|\([^(){}]*\))*\))*\)\s*\{?[^{}]*$")


class Step(NamedTuple):
    begin: int
    end: int  # after its semicolon
    name: str
    place: tuple[int, int]  # the element that it stores to
    operation: str  # of +=, "+"; of =, nothing
    value: tuple[int, int]


def steps(code: str) -> list[Step]:
    """Those that follow each other, or themselves in a loop, and nothing synchronises the lanes in between."""
    found: dict[int, Step] = {}
    for name in sorted({match[1] or match[2] for match in VOLATILE.finditer(code)}):
        element = rf"\b{name}\s*\[[^\[\];]*\]"
        step = re.compile(rf"(?<![\w.>])(?P<place>{element})\s*(?P<operation>[-+*|&^]?)=(?!=)\s*(?P<value>[^;{{}}]*\b{name}\s*\[[^\]]*[+^-]\s*\w+\s*\][^;{{}}]*);")
        all_of_name = [Step(one.start(), one.end(), name, one.span("place"), one["operation"], one.span("value")) for one in step.finditer(code)]
        for one, following in zip(all_of_name, all_of_name[1:]):
            between = code[one.end:following.begin]
            if "sync" not in between and len(between) < 200 and not re.search(r"^\s*\}\s*(?:__global__|__device__|template)", between):
                found |= {one.begin: one, following.begin: following}
        for one in all_of_name:
            loop = LOOP.search(code, max(0, one.begin - 300), one.begin)
            rest = code[one.end:one.end + 200]
            if loop and "sync" not in loop[0] and "sync" not in (rest.split("}")[0] if "{" in loop[0] else ""):
                found[one.begin] = one
    return sorted(found.values())


def rewritten(text: str, step: Step) -> str:
    """One line for one, if the step has no line break."""
    place, value = text[slice(*step.place)], text[slice(*step.value)]
    both = f"({place}) {step.operation} ({value})" if step.operation else f"({value})"
    return f"{{ const auto simt_value = {both}; ::simt::lockstep(); {place} = simt_value; ::simt::lockstep(); }}"
