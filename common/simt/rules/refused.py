#!/usr/bin/env python3
"""Would nvcc take this file? refused.py [-I FOLDER] [-D NAME] [-std=c++17] [--relaxed-constexpr] FILE.cu

g++, which compiles kernels for the executor, does not know which function is for the host and which for the device. This asks
clang's CUDA front end, beside it, about the same file, and says in nvcc's words what nvcc would refuse and what to do. Status 0: it
takes it; 1: it does not; 2: it could not be asked. README.md has the table that this is judged by."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import front_end  # noqa: E402: beside this file
import meaning  # noqa: E402


class Refusal(tuple):
    """(file, line, column, what nvcc would say, what to do)"""


def refusals(file: str, options: list[str], relaxed: bool = False, headers: list[str] | None = None) -> list[Refusal]:
    """headers: of front_end.precompiled(). Raises OSError where there is no clang."""
    clang = front_end.compiler()
    if not clang:
        raise OSError("clang++ is not installed: whether nvcc would take this file is not checked")
    messages, _ = front_end.ask(clang, file, options, relaxed, headers)
    return of_messages(messages)


def of_messages(messages: list[front_end.Message], texts: dict[str, list[str]] | None = None) -> list[Refusal]:
    """texts: the lines of files that are not where the messages say."""
    texts = dict(texts or {})
    found: dict[Refusal, None] = {}
    for message in messages:
        if meaning.is_course(message.file) or meaning.is_library(message.file):
            continue
        if message.file not in texts:
            path = Path(message.file)
            texts[message.file] = path.read_text(errors="replace").split("\n") if path.is_file() else []
        if means := meaning.meaning_of(message, texts[message.file]):
            found[Refusal((message.file, message.line, message.column, *means))] = None
    return list(found)


def spelled(refusal: Refusal) -> str:
    file, line, column, text, advice = refusal
    return f"{file}:{line}:{column}: error: nvcc refuses this: {text}\n{file}:{line}:{column}: note: {advice}"


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--relaxed-constexpr", action="store_true")
    given, rest = parser.parse_known_args(argv)
    if not rest:
        parser.error("name the file")
    *options, file = rest
    try:
        found = refusals(file, options, given.relaxed_constexpr)
    except OSError as error:
        print(f"refused.py: {error}", file=sys.stderr)
        return 2
    for refusal in found:
        print(spelled(refusal), file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
