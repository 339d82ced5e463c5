#!/usr/bin/env python3
"""Would nvcc take this file? refused.py [-I FOLDER] [-D NAME] [-std=c++17] [--relaxed-constexpr] [--extended-lambda] [--headers FILE.pch]
FILE.cu

g++, which compiles kernels for the executor, does not know which function is for the host and which for the device. This asks
clang's CUDA front end, beside it, about the same file, and says in nvcc's words what nvcc would refuse and what to do. Status 0: it
takes it; 1: it does not; 2: it could not be asked. README.md has the table that this is judged by."""

from __future__ import annotations

import argparse
import gc
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import front_end  # noqa: E402: beside this file
import host_constants  # noqa: E402
import meaning  # noqa: E402
import program  # noqa: E402
import shared_sizes  # noqa: E402
import syntax_tree  # noqa: E402
import tree_rules  # noqa: E402


class Refusal(tuple):
    """(file, line, column, what nvcc would say, what to do)"""


def refusals(file: str, options: list[str], relaxed: bool = False, headers: Path | None = None, extended_lambda: bool = False) -> list[Refusal]:
    """headers: of front_end.precompile(). Raises OSError as answer() does."""
    return of_answer(answer(file, options, relaxed, headers), extended_lambda=extended_lambda)


def answer(file: str, options: list[str], relaxed: bool = False, headers: Path | None = None) -> front_end.Answer:
    """headers: of front_end.precompile(). Raises OSError where there is no clang, or clang does not answer."""
    clang = front_end.compiler()
    if not clang:
        raise OSError("clang++ is not installed: whether nvcc would take this file is not checked")
    return front_end.ask(clang, file, options, relaxed, headers)


def is_own(file: str) -> bool:
    """The program's: neither the course's nor a library's."""
    return bool(file) and not meaning.is_course(file) and not meaning.is_library(file)


def variables(answer: front_end.Answer) -> list[str]:
    """Of the file and static in functions: +name for one of the host that is not const, -name for one of the device. memcheck asks."""
    found = set()
    for node in program.Program(syntax_tree.read(answer.tree, is_own)).nodes:
        if node.kind != "VarDecl":
            continue
        around = program.function_around(node)
        if host_constants.has_own_side(node) or (around and program.on_device(around)):
            found.add(f"-{node.name}")
        elif host_constants.is_of_the_file(node) or (around and "static" in node.after_type):
            if not host_constants.is_const(node.type.split("[")[0].strip()):
                found.add(f"+{node.name}")
    return sorted(found)


def of_answer(answer: front_end.Answer, texts: dict[str, list[str]] | None = None, extended_lambda: bool = False,
              separate: bool = False) -> list[Refusal]:
    """texts: the lines of files that are not where the messages say. separate: compilation with -rdc=true, by which kernels may launch kernels."""
    # All of the tree stays until the end: to look for garbage in it meanwhile takes a quarter of the time.
    collects = gc.isenabled()
    gc.disable()
    try:
        return judged(answer, texts, extended_lambda, separate)
    finally:
        if collects:
            gc.enable()


def judged(answer: front_end.Answer, texts: dict[str, list[str]] | None, extended_lambda: bool, separate: bool) -> list[Refusal]:
    texts = dict(texts or {})

    def lines(file: str) -> list[str]:
        if file not in texts:
            path = Path(file)
            texts[file] = path.read_text(errors="replace").split("\n") if path.is_file() else []
        return texts[file]

    def line(place: tuple[str, int, int]) -> str:
        return (lines(place[0]) + [""] * place[1])[place[1] - 1]

    understood = program.Program(syntax_tree.read(answer.tree, is_own))
    found: dict[Refusal, None] = {}
    for message in answer.messages:
        if is_own(message.file) and (means := meaning.meaning_of(message, lines(message.file))):
            if separate:
                near = "\n".join(lines(message.file)[message.line - 1:message.line + 2])
                if meaning.of_device_runtime(means, near[message.column - 1:]):
                    continue
            if means.of_device and not understood.is_for_the_device(message.file, message.line, message.column):
                continue
            if not means.of_code or not (understood.is_declared_anew(message) or understood.is_computed(message) or
                                         not understood.is_compiled(message.file, message.line, message.column)):
                found[Refusal((message.file, message.line, message.column, means.text, means.advice))] = None
    # One refusal per line: a rule of the tree often says once more what clang has said.
    asked = tree_rules.Asked(understood, line, extended_lambda, shared_sizes.layouts(answer.tree))
    # What clang says of a call on such an operator's result only follows from it.
    operators = {place[:2] for place, _, _ in tree_rules.operators(asked)}
    found = {refusal: None for refusal in found if refusal[:2] not in operators}
    said = {refusal[:2] for refusal in found}
    for refusal in tree_rules.refusals(asked):
        if refusal[:2] not in said:
            found[Refusal(refusal)] = None
    return sorted(found)


def spelled(refusal: Refusal) -> str:
    file, line, column, text, advice = refusal
    who = "" if text.startswith(meaning.EXECUTOR) else "nvcc refuses this: "
    return f"{file}:{line}:{column}: error: {who}{text}\n{file}:{line}:{column}: note: {advice}"


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--relaxed-constexpr", action="store_true")
    parser.add_argument("--extended-lambda", action="store_true")
    parser.add_argument("--headers", type=Path, metavar="FILE.pch", help="the course's headers as front_end.py has compiled them")
    given, rest = parser.parse_known_args(argv)
    if not rest:
        parser.error("name the file")
    *options, file = rest
    try:
        found = refusals(file, options, given.relaxed_constexpr, given.headers, extended_lambda=given.extended_lambda)
    except OSError as error:
        print(f"refused.py: {error}", file=sys.stderr)
        return 2
    for refusal in found:
        print(spelled(refusal), file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
