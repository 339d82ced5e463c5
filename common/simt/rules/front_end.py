"""Asks clang's CUDA front end about a file: what it says, as data. It compiles for the device and generates nothing; a host
function that calls a device function is an error there, too."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
HEADERS = FOLDER.parent / "include"

MESSAGE = re.compile(r"(?P<file>[^\n:]+):(?P<line>\d+):(?P<column>\d+): (?P<kind>fatal error|error|note): (?P<text>.*)")


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


def precompiled(clang: str, options: list[str], relaxed: bool, folder: Path) -> list[str]:
    """For many files: the options that stand for the course's headers, read once. They hold for these options only."""
    made = folder / f"declarations{'-relaxed' if relaxed else ''}.pch"
    subprocess.run([*command(clang, options, relaxed), "-Xclang", "-emit-pch", "-Xclang", "-o", "-Xclang", made, FOLDER / "declarations.h"], check=True)
    return ["-Xclang", "-include-pch", "-Xclang", str(made)]


def ask(clang: str, file: str, options: list[str], relaxed: bool = False, headers: list[str] | None = None) -> tuple[list[Message], str]:
    """What clang says of the file, and its words. headers: of precompiled()."""
    headers = headers or ["-include", str(FOLDER / "declarations.h")]
    ended = subprocess.run([*command(clang, options, relaxed), *headers, file], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                           errors="replace")
    if own := re.search(r"^clang\S*: error: (?!.*command failed)(.*)$", ended.stdout, re.MULTILINE):
        raise OSError(f"{clang} cannot be asked about {file}: {own[1]}")
    return parse(ended.stdout), ended.stdout
