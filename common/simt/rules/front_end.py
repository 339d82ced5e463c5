"""Asks clang's CUDA front end about a file: what it says, as data, and how it understood the program, as a tree. It compiles for the
device and generates nothing; a host function that calls a device function is an error there, too.

As a program: front_end.py FILE.pch compiles the course's headers once, for questions with the usual options, and writes to FILE.pch.d
what they were made of, for make."""

from __future__ import annotations

import functools
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple


FOLDER = Path(__file__).resolve().parent
HEADERS = FOLDER.parent / "include"

MESSAGE = re.compile(r"(?P<file>[^\n:]+):(?P<line>\d+):(?P<column>\d+): (?P<kind>fatal error|error|note): (?P<text>.*)")

# An honest file takes a second. A macro or a template can ask for any amount of time and memory.
SECONDS = min(20, int(os.environ.get("SIMT_COMPILE_SECONDS", 20)))  # of the processor; under load it may take WALL_SECONDS
WALL_SECONDS = 300
MEMORY_BYTES = 3 << 30
TREE_BYTES = 512 << 20
TREE = ("-Xclang", "-fdump-record-layouts-simple", "-Xclang", "-ast-dump")


class Answer(NamedTuple):
    messages: list["Message"]
    said: str
    tree: str  # syntax_tree.py reads it, and shared_sizes.py the sizes of records before it


@dataclass
class Note:
    file: str
    line: int
    text: str


@dataclass
class Message:
    file: str
    line: int
    column: int
    text: str
    notes: list[Note] = field(default_factory=list)


def compiler() -> str | None:
    """The clang that asks. clang++ may be another version's, which does as well: it knows the same rules."""
    return shutil.which("clang++")


@functools.lru_cache(maxsize=None)
def resources(clang: str) -> str:
    """Where its own headers are. Looked for first, as each program that is compiled would ask."""
    beside = {path.resolve() for path in (Path(clang).resolve().parents[1] / "lib/clang").glob("*") if (path / "include").is_dir()}
    if len(beside) == 1:
        return str(beside.pop())
    return subprocess.run((clang, "-print-resource-dir"), check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def command(clang: str, options: list[str], relaxed: bool, headers: Path | str = HEADERS) -> list[str]:
    """relaxed: constexpr functions count as functions of both sides (nvcc's --expt-relaxed-constexpr).

    clang's own headers come last and by hand: by itself it would put its versions of <new> and <algorithm> first, which are for
    NVIDIA's CUDA headers. Warnings are the other compiler's affair. __CUDA_ARCH__ is an H100's; clang 14 knows none so new."""
    return [clang, "-x", "cuda", "-nocudainc", "-nocudalib", "-nobuiltininc", "-idirafter", f"{resources(clang)}/include",
            "--cuda-device-only", "--cuda-gpu-arch=sm_80", "-U__CUDA_ARCH__", "-D__CUDA_ARCH__=900", "-fsyntax-only", "-w",
            "-Wno-unknown-cuda-version", "-ferror-limit=0", "-fno-caret-diagnostics", "-fno-color-diagnostics",
            "-fdiagnostics-format=clang", "-fmacro-backtrace-limit=1",
            *(["-DSIMT_RELAXED_CONSTEXPR"] if relaxed else ["-Xclang", "-fno-cuda-host-device-constexpr"]),
            *options, "-I", str(headers)]


def parse(text: str) -> list[Message]:
    messages: list[Message] = []
    for line in text.splitlines():
        match = MESSAGE.match(line)
        if not match:
            continue
        if match["kind"] == "note":
            if messages:
                messages[-1].notes.append(Note(match["file"], int(match["line"]), match["text"]))
        else:
            messages.append(Message(match["file"], int(match["line"]), int(match["column"]), match["text"]))
    return messages


STANDARD = "-std=c++17"  # that of rungs, and of programs that do not say another


def precompile(clang: str, options: list[str], relaxed: bool, made: Path, *dependencies: str) -> None:
    """The course's headers, read once: they hold for these options only, and any -I."""
    subprocess.run([*command(clang, options, relaxed), *dependencies, *precompiling(made), FOLDER / "declarations.h"], check=True)


def precompiling(made: Path | str) -> list[str]:
    """The options that compile a header into this file."""
    return ["-Xclang", "-emit-pch", "-Xclang", "-o", "-Xclang", str(made)]


def read_before(headers: Path | str | None) -> list[str]:
    """The options that put the course's headers before a file; headers: those that were precompiled for these options."""
    return ["-Xclang", "-include-pch", "-Xclang", str(headers)] if headers else ["-include", str(FOLDER / "declarations.h")]


def holds_for(options: list[str], relaxed: bool) -> bool:
    """Whether headers that were precompiled with the usual options hold for these."""
    return not relaxed and all(option.startswith(("-I", "-idirafter")) or option == STANDARD for option in options)


def limited() -> None:
    """In the child."""
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (TREE_BYTES, TREE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(file: str, arguments: list[str]) -> tuple[int, str, str]:
    """Status, what it says, what it prints. Raises OSError where that takes too long."""
    with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as said:
        process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=printed, stderr=said, preexec_fn=limited)
        try:
            status = process.wait(WALL_SECONDS)
        except subprocess.TimeoutExpired:
            status = -signal.SIGXCPU
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        if status in (-signal.SIGXCPU, -signal.SIGKILL):
            raise OSError(f"{file} keeps clang busy for more than {SECONDS} s: whether nvcc would take it is not checked")
        texts = []
        for each in (said, printed):
            each.seek(0)
            texts.append(each.read().decode(errors="replace"))
    return (status, *texts)


def breaks(status: int, said: str) -> bool:
    return status < 0 or status > 2 or "unable to execute command" in said or "out of memory" in said


CANNOT_USE = re.compile(r"error: .*(PCH file|precompiled header|AST file)")


def ask(clang: str, file: str, options: list[str], relaxed: bool = False, headers: Path | None = None) -> Answer:
    """headers: of precompile(); they are read anew where clang cannot use them, another version's for example. Raises OSError where clang
    does not answer."""
    asked = [*command(clang, options, relaxed), *read_before(headers), file]
    status, said, tree = run(file, [*asked, *TREE])
    if headers and CANNOT_USE.search(said):
        return ask(clang, file, options, relaxed)
    if breaks(status, said):  # as of an array of a billion elements; there may be messages all the same
        (status, said, _), tree = run(file, asked), ""
    if breaks(status, said):
        raise OSError(f"clang needs more than {MEMORY_BYTES >> 30} GiB of memory for {file}, or breaks: whether nvcc would take it is not checked")
    if own := re.search(r"^clang\S*: error: (?!.*command failed)(.*)$", said, re.MULTILINE):
        raise OSError(f"{clang} cannot be asked about {file}: {own[1]}")
    return Answer(parse(said), said, tree)


if __name__ == "__main__":
    target = sys.argv[1]
    precompile(compiler() or sys.exit("clang++ is not installed"), [STANDARD], False, Path(target), "-MD", "-MP", "-MT", target, "-MF", f"{target}.d")
