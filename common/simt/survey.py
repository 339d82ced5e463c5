"""simtcc --survey FOLDER: which .cu files of a checkout compile here, plain and with --check, and what the others are missing.

Each file is compiled by itself and not linked, so it needs no main and none of its repository's build system. Where a header
of the checkout is, is guessed: the file nearest to the one that includes it. So are nvcc's options. A compilation that takes too long or too much
memory is ended and named; every file gets a line, whatever happens.
"""

from __future__ import annotations

import json
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

SIMT = Path(__file__).resolve().parent
MODES = {"plain": [], "check": ["--check"]}
WAITS = 5  # times as long as a compilation may compute, on a machine that does other things, too
MEMORY = 6 << 20  # KiB of address space for one compilation
HEADER = re.compile(r"\.(h|hh|hpp|hxx|cuh|inl|inc|cu|ipp|tpp)$")
SKIPPED_FOLDERS = {".git", ".hg", ".svn", "node_modules"}
INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)
ERROR = re.compile(r"^(?P<file>[^\s:][^:\n]*):(?P<line>\d+)(?::\d+)?: (?:fatal )?error: (?P<what>.*)$")
OWN_ERROR = re.compile(r"^simtcc: (?P<file>[^:\n]+):(?P<line>\d+): (?!warning: )(?P<what>.*)$")
REFUSAL = re.compile(r"error: #error (.*?)(?: is| are)? not supported by the CPU executor")
PLACE = re.compile(r"(?:^|from )(?P<file>[^\s:][^:\n]*):(?P<line>\d+)")

# Options that a repository's build files may have, by the messages that say so. A newer standard is tried where nothing does.
ASKED_FOR = [(r"--extended-lambda", "--extended-lambda"), (r"calling a (?:constexpr )?__host__ function", "--expt-relaxed-constexpr")]
NEWER = "-std=c++20"
NOT_THE_STANDARD = re.compile(r"No such file or directory|takes more than \d+ s or \d+ GiB to compile")

# What a message of the compiler says is missing.
MISSING = [
    (r"#error (?P<it>.*?)(?: is| are)? not supported by the CPU executor", "{it}"),
    (r"(?P<it>\S+): No such file or directory", "header {it}"),
    (r"'(?P<it>[^']+)' (?:was not declared|has not been declared|does not name a type|is not captured)", "{it}"),
    (r"'(?P<it>[^']+)' is not a member of '(?P<of>[^']+)'", "{of}::{it}"),
    (r"'(?P<it>[^']+)' in namespace '(?P<of>[^']+)' does not name", "{of}::{it}"),
    (r"'(?:struct |class )?(?P<of>[^']+)' has no member named '(?P<it>[^']+)'", "{of}::{it}"),
    (r"no matching function for call to '(?P<it>[^(<']+)", "a form of {it}"),
    (r"no match for (?P<it>'operator[^']+')", "a form of {it}"),
    (r"there are no arguments to '(?P<it>[^']+)'", "{it}"),
    (r"#error (?P<it>.*)", "#error {it}"),
]


@dataclass
class Verdict:
    """One file. `where` and `what` are None where it compiles."""
    path: str
    kernels: int
    status: dict[str, str] = field(default_factory=dict)  # a mode: "compiles", or what is missing
    where: str | None = None
    all_missing: list[str] = field(default_factory=list)
    options: list[str] = field(default_factory=list)  # that it takes


# A header that is neither the checkout's, the system's nor CUDA's belongs to another library: its name, by the folder.
PYTORCH = ("torch", "ATen", "c10", "caffe2")
CUDAS = re.compile(r"header (?:cu|nv|npp|thrust/|cub/|cooperative_groups|device_|sm_|math_|vector_|driver_|channel_|library_|surface_|texture_|"
                   r"crt/|mma\.h)")


def is_inside(file: str) -> bool:
    """Compilations run in the checkout's folder: its own files have relative names."""
    return not file.startswith("/") and not file.startswith("<")


def named(message: str) -> str:
    for pattern, words in MISSING:
        if match := re.search(pattern, message):
            return words.format(**match.groupdict()).strip()
    return re.sub(r"\s+", " ", message)[:120]


def errors(output: str) -> list[tuple[str, str]]:
    """Every error: where in the checkout it comes from, and what is missing."""
    found, lines = [], output.splitlines()
    for number, line in enumerate(lines):
        match = ERROR.match(line) or OWN_ERROR.match(line)
        if not match:
            continue
        where = f"{match['file']}:{match['line']}"
        if not is_inside(match["file"]):
            # In a header that is not the checkout's. Who brought it: the lines before that name places, then those after.
            around = []
            for step in (-1, 1):
                at = number + step
                while 0 <= at < len(lines) and abs(at - number) < 40 and not ERROR.match(lines[at]):
                    around.append(lines[at])
                    at += step
            places = (place for text in around for place in PLACE.finditer(text) if is_inside(place["file"]))
            where = next((f"{place['file']}:{place['line']}" for place in places), where)
        found.append((where, named(match["what"])))
    # What g++ says first of a line often follows from a name that it does not know: `void f(CUtexref x)` is "declared void".
    of_place: dict[str, list[tuple[str, str]]] = {}
    for error, line in zip(found, (text for text in lines if ERROR.match(text) or OWN_ERROR.match(text))):
        same = of_place.setdefault(error[0], [])
        same.insert(0 if says_a_name(line) and not any(says_a_name(one) for _, one in same) else len(same), (error[1], line))
    return [(where, what) for where, same in of_place.items() for what, _ in same]


def says_a_name(message: str) -> bool:
    return any(re.search(pattern, message) for pattern, _ in MISSING)


def other_library(what: str) -> str | None:
    """The library whose header is missing."""
    if not what.startswith("header ") or CUDAS.match(what):
        return None
    first = what.removeprefix("header ").split("/")[0]
    return "PyTorch" if first in PYTORCH else first


class Folders:
    """Guesses the folders of -I: from what files include, and where the checkout has a file of that name."""

    def __init__(self, root: Path):
        self.root = root
        self.headers: dict[str, list[Path]] = {}
        self.sources: list[Path] = []
        for folder, folders, files in os.walk(root):
            folders[:] = sorted(one for one in folders if one not in SKIPPED_FOLDERS)
            for name in sorted(files):
                path = Path(folder, name).relative_to(root)
                if name.endswith(".cu") and not (root / path).is_fifo():
                    self.sources.append(path)
                if HEADER.search(name) and (root / path).is_file():
                    self.headers.setdefault(name, []).append(path)
        search = subprocess.run(["g++", "-x", "c++", "-E", "-v", os.devnull], env={**os.environ, "LC_ALL": "C"},
                                capture_output=True, text=True, errors="replace").stderr
        listed = re.search(r"search starts here:\n(.*?)End of search", search, re.DOTALL)
        self.known = [SIMT / "include", *(Path(one.strip()) for one in (listed[1] if listed else "").splitlines()
                                          if one.startswith(" "))]

    def needed_by(self, source: Path) -> list[Path]:
        folders: list[Path] = []
        waiting, seen = [source], {source}
        while waiting:
            file = waiting.pop()
            try:
                text = (self.root / file).read_bytes()
            except OSError:
                continue
            for match in INCLUDE.finditer(text):
                name = os.fsdecode(match[1].strip())
                found = self.find(name, file, folders)
                if found and found not in seen:
                    seen.add(found)
                    waiting.append(found)
        return folders

    def find(self, name: str, includer: Path, folders: list[Path]) -> Path | None:
        """The file of the checkout that is meant; its folder is added where it takes a -I."""
        beside = Path(os.path.normpath(includer.parent / name))
        if (self.root / beside).is_file() and not beside.is_absolute() and ".." not in beside.parts:
            return beside
        for folder in folders:
            if (self.root / folder / name).is_file():
                return Path(os.path.normpath(folder / name))
        try:
            if any((folder / name).is_file() for folder in self.known):
                return None
        except (OSError, ValueError):
            return None
        wanted = [part for part in Path(name).parts if part != ".."]
        candidates = [path for path in self.headers.get(Path(name).name, []) if list(path.parts[-len(wanted):]) == wanted]
        if not candidates:
            return None

        def distance(path: Path) -> tuple[int, int]:
            common = os.path.commonprefix([path.parent.parts, includer.parent.parts])
            return -len(common), len(path.parts)
        best = min(candidates, key=distance)
        folder = Path(*best.parts[:len(best.parts) - len(wanted)])
        for _ in range(Path(name).parts.count("..")):  # "../x.h" is found from any folder one deeper
            deeper = sorted(one for one in (self.root / folder).iterdir() if one.is_dir())
            folder = deeper[0].relative_to(self.root) if deeper else folder
        folders.append(folder)
        return best


class Survey:
    def __init__(self, root: Path, options: list[str], seconds: float):
        self.root, self.options, self.seconds = root, options, seconds
        self.folders = Folders(root)
        self.running: set[subprocess.Popen] = set()
        self.lock = threading.Lock()
        self.stopped = False

    def attempt(self, source: Path, mode: str, options: list[str], out: str) -> tuple[int | None, str, list[str]]:
        """With the options that messages ask for: the status, what the compiler said, and the options."""
        status, output = self.compile(source, mode, options, out)
        if status in (0, None) or NOT_THE_STANDARD.search(output):
            return status, output, options
        known = [*self.options, *options]
        if asked := [option for words, option in ASKED_FOR if option not in known and re.search(words, output)]:
            return self.attempt(source, mode, [*options, *asked], out)
        if not any(option.lstrip("-").startswith("std") for option in known) and len(errors(output)) > len(set(REFUSAL.findall(output))):
            newer = self.attempt(source, mode, [*options, NEWER], out)
            if newer[0] == 0:
                return newer
        return status, output, options

    def compile(self, source: Path, mode: str, options: list[str], out: str) -> tuple[int | None, str]:
        """The status (None: it took too long) and what the compiler said. It is a session of its own, to end all of it."""
        include = [word for folder in self.folders.needed_by(source) for word in ("-I", str(folder))]
        limited = ["sh", "-c", f'ulimit -v {MEMORY} -c 0 2>/dev/null || ulimit -v {MEMORY}; exec "$@"', "sh"]
        # "./": a name may begin with a dash.
        command = [*limited, sys.executable, str(SIMT / "simtcc"), *MODES[mode], "-c", *self.options, *options, *include, "-o", out,
                   "--", f"./{source}"]
        log = Path(out + ".log")
        with log.open("wb") as stream:
            with self.lock:
                if self.stopped:
                    return None, ""
                process = subprocess.Popen(command, cwd=self.root, stdin=subprocess.DEVNULL, stdout=stream,
                                           stderr=subprocess.STDOUT, start_new_session=True,
                                           env={**os.environ, "LC_ALL": "C.UTF-8", "LANGUAGE": "C", "SIMT_ALL_ERRORS": "1",
                                                "SIMT_COMPILE_SECONDS": str(math.ceil(self.seconds))})
                self.running.add(process)
            try:
                status = process.wait(WAITS * self.seconds)
            except subprocess.TimeoutExpired:
                status = None
            finally:
                end(process)
                with self.lock:
                    self.running.discard(process)
        with log.open("rb") as stream:
            text = stream.read(4 << 20).decode(errors="replace")
        return status, text.replace("\u2018", "'").replace("\u2019", "'").replace("\n./", "\n").replace(" ./", " ")

    def file(self, source: Path) -> Verdict:
        try:
            text = (self.root / source).read_bytes()
        except OSError as error:
            return Verdict(str(source), 0, dict.fromkeys(MODES, "cannot be read"), f"{source}:1", [f"cannot be read: {error.strerror}"])
        verdict = Verdict(str(source), len(re.findall(rb"\b__global__\b", text)))
        for mode in MODES:
            with tempfile.TemporaryDirectory(prefix="survey-") as folder:
                status, output, options = self.attempt(source, mode, verdict.options, f"{folder}/out.o")
            if status == 0:
                verdict.options = options
                verdict.status[mode] = "compiles"
                continue
            found = errors(output)
            if status is None or re.search(r"takes more than \d+ s or \d+ GiB to compile", output):
                found = [(f"{source}:1", f"compiling takes more than {self.seconds:g} s or {MEMORY >> 20} GiB")]
            elif not found:
                memory = re.search(r"out of memory|MemoryError|cannot allocate|bad_alloc", output)
                said = output.strip().splitlines()
                found = [(f"{source}:1", f"compiling takes more than {MEMORY >> 20} GiB" if memory else
                          "the compiler failed: " + (said[-1][:120] if said else f"status {status}"))]
            verdict.where, what = found[0]
            verdict.status[mode] = what
            # Of the errors after the first only the executor's own refusals are sure not to follow from another.
            verdict.all_missing = list(dict.fromkeys([what, *REFUSAL.findall(output)]))
            # What is missing in the plain build is missing in the other.
            for other in MODES:
                verdict.status.setdefault(other, what)
            break
        return verdict

    def run(self, jobs: int, each) -> list[Verdict]:
        with ThreadPoolExecutor(jobs) as pool:
            try:
                verdicts = []
                for verdict in pool.map(self.file, self.folders.sources):
                    each(verdict)
                    verdicts.append(verdict)
                return verdicts
            except BaseException:
                with self.lock:
                    self.stopped = True
                    for process in self.running:
                        end(process)
                pool.shutdown(cancel_futures=True)
                raise


def end(process: subprocess.Popen) -> None:
    """The compilation and all that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def show(text: str) -> None:
    print(os.fsencode(text).decode(errors="replace"), flush=True)


def line_of(verdict: Verdict) -> str:
    if verdict.where is None:
        options = f" with {' '.join(verdict.options)}" if verdict.options else ""
        return f"{verdict.path}: compiles{options}" + ("" if verdict.kernels else " (no kernel)")
    plain = "compiles, with --check not: " if verdict.status["plain"] == "compiles" else ""
    what = verdict.status["check" if plain else "plain"]
    through = "" if verdict.where.rpartition(":")[0] == verdict.path else f"{verdict.path}: "
    return f"{through}{verdict.where}: {plain}{what}"


def table(verdicts: list[Verdict]) -> list[str]:
    def grouped(what: str) -> str:
        return "headers of PyTorch" if other_library(what) == "PyTorch" else what
    first = Counter(grouped(one.all_missing[0]) for one in verdicts if one.all_missing)
    named_by = Counter(what for one in verdicts for what in {grouped(what) for what in one.all_missing})
    others = Counter(filter(None, (other_library(one.all_missing[0]) for one in verdicts if one.all_missing)))
    with_kernels = [one for one in verdicts if one.kernels]
    plain = sum(one.status["plain"] == "compiles" for one in verdicts)
    both = sum(one.where is None for one in verdicts)
    lines = ["", f"{len(verdicts)} files, {len(with_kernels)} with kernels: {plain} compile, {both} of them with --check too "
                 f"(of those with kernels {sum(one.where is None for one in with_kernels)}). Nothing was linked or run."]
    if others:
        which = ", ".join(f"{name} {count}" for name, count in others.most_common(8)) + (", ..." if len(others) > 8 else "")
        lines.append(f"{sum(others.values())} of them need a header that is neither in the checkout nor CUDA's, so nothing else is known of them: "
                     f"{which}. -I names its folder.")
    if first:
        lines += ["", " first   named   what is missing most (files in which it comes first; files that name it)"]
        lines += [f"{first[what]:6}  {count:6}   {what}" for what, count in sorted(named_by.items(),
                  key=lambda item: (-first[item[0]], -item[1], item[0]))[:30]]
        left = len(named_by) - 30
        lines += [f"                 and {left} more" if left == 1 else f"                 and {left} others"] if left > 0 else []
    return lines


def survey(folder: str, options: list[str], jobs: int, seconds: float, report: str | None) -> int:
    root = Path(folder)
    if not root.is_dir():
        print(f"simtcc: {folder} is no folder; --survey takes the folder of a checkout", file=sys.stderr)
        return 1
    whole = Survey(root.resolve(), options, seconds)
    if not whole.folders.sources:
        print(f"simtcc: there is no .cu file in {folder}", file=sys.stderr)
        return 1
    try:
        verdicts = whole.run(jobs, lambda verdict: show(line_of(verdict)))
    except KeyboardInterrupt:
        print("simtcc: stopped", file=sys.stderr)
        return 130
    for line in table(verdicts):
        show(line)
    if report:
        Path(report).write_text(json.dumps([vars(one) for one in verdicts], indent=1) + "\n", errors="replace")
    return 0
