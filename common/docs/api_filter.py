#!/usr/bin/env python3
"""Doxygen's input filter for headers: the course's plain // comments become documentation, so that no file needs a second
style of comment. The first comment of a file is about the file; one behind code belongs to what stands before it."""

import re
import sys


def escaped(words: str) -> str:
    """What Doxygen would take for a command or a tag."""
    return re.sub(r"([\\@<>])", r"\\\1", words)


def convert(text: str, name: str) -> str:
    out, first = [], True
    for line in text.splitlines():
        own = re.match(r"(\s*)//(?!/)( ?-{3,})?(.*)", line)
        behind = re.match(r"(.*[;,{(\w)])(\s+)//(?!/)(.*)", line)
        if own and not own[2]:
            words = escaped(own[3])
            if first:
                out.append(f"/// \\file {name}")
                first = False
            out.append(f"{own[1]}///{words}")
        elif behind and '"' not in behind[1]:
            out.append(f"{behind[1]}{behind[2]}///<{escaped(behind[3])}")
        else:
            first = False if line.strip() else first
            out.append(line)
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    with open(sys.argv[1]) as source:
        sys.stdout.write(convert(source.read(), sys.argv[1].rsplit("/", 1)[-1]))
