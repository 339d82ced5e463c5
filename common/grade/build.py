"""Builds a kernel file in the sandbox, both ways, and applies the rules to it. What comes out of the sandbox is data: a shared
object of limited size, a list of symbols, what the compiler said."""

from __future__ import annotations

import re
import resource
import secrets
import shlex
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import front_end
import headers
import refused
import roots
import rules
import sandbox
import stages
import syntax_tree
import timing
from boxed import times_longer

OBJECT_BYTES = 16 << 20
TEXT_BYTES = 32 << 20
PRECOMPILED_BYTES = 64 << 20
# Of the plain build the grader needs results and lines of code: no warnings, and half of the compiler's time.
QUICKLY = ["-O1", "-g1", "-w"]
CHECKED_QUICKLY = ["-g1", "-w"]
# A file may say when it was compiled. Its two builds are compiled one after the other, and must have one text.
MOMENT = ["-Wno-builtin-macro-redefined", '-D__DATE__="Jan  1 2000"', '-D__TIME__="00:00:00"', '-D__TIMESTAMP__="Sat Jan  1 00:00:00 2000"']
# What nothing of a rung leads to, such as a main for debugging, is left out, and with it what it asks for: rules are about the rest.
# (An empty file has no roots, and ld refuses.)
WRAP = "--wrap=memcpy --wrap=memmove --wrap=memset"  # calls of these go to the executor (common/simt/instrument/hooks.cpp)
ROOTS = "-u rung_variants -u rung_predictions -u rung_is_instrumented"
REACHED = (f"{{ ld -r --gc-sections {ROOTS} $wrap /tmp/rung.o -o /tmp/reached.o 2>/tmp/said || cat /tmp/rung.o >/tmp/reached.o; }} && "
           "strip --strip-unneeded -o /tmp/bare.o /tmp/reached.o && nm --undefined-only --format=posix /tmp/bare.o >/tmp/names")
REWRITING_SECONDS, REWRITING_BYTES = 20, 2 << 30
# For clang, which knows launches: the text as it was handed in, but for the mark at its beginning.
AS_IT_IS = "{ echo '#line 1 \"'\"$1\"'\"'; sed '1s/^\\xEF\\xBB\\xBF//'; } | "


@dataclass
class Built:
    plain: bytes = b""
    checked: bytes = b""  # not there if a rule says not to run it
    error: str = ""  # why there is none, in one line
    limited: bool = False  # because a limit ended the compiler
    untimed: str = ""  # why no time is predicted of it, if that was asked for
    listed: list[bytes] = field(default_factory=list)  # what the table of its instructions is made of (timing.py)
    details: str = ""  # what the compiler said
    findings: list[rules.Finding] = field(default_factory=list)


class Workshop:
    """Everything that compiling submissions needs, made once."""

    def __init__(self, course: Path, stage: Path, box: sandbox.Sandbox, limits: dict[str, int]):
        self.box, self.limits = box, limits
        self.root = stage / "compile"
        if box.kind != "none":
            roots.make_compile_root(self.root, course, box.helpers())
        self.flags, self.instrument = roots.rung_flags(course)
        self.completed = roots.announces(course)
        program = "/announce" if box.kind != "none" else shlex.quote(str(course / "build/cpu/announce"))
        self.announce = f"{program} --report /tmp/report" if self.completed else ": >/tmp/report && cp"
        clang = roots.clang_itself()
        self.front_end = shlex.join(roots.rules_command(clang)) if clang else ""
        # Of the tree what follows the headers is of interest.
        self.own_tree = f"sed -n '/{syntax_tree.MARK}/,$p'"
        self.words = rules.header_words(course)
        self.course = course
        libm = subprocess.run(("g++", "-print-file-name=libm.so.6"), stdout=subprocess.PIPE, text=True).stdout.strip()
        names = subprocess.run(("nm", "-D", "--defined-only", "--without-symbol-versions", libm), stdout=subprocess.PIPE, text=True).stdout
        self.libm = frozenset(line.split()[-1] for line in names.splitlines())
        given = subprocess.run(("nm", "-D", "--defined-only", "--format=posix", str(course / "build/cpu/worker")), stdout=subprocess.PIPE, text=True).stdout
        self.taken = frozenset(line.split()[0] for line in given.splitlines() if line.split()[1] in "TDBR")
        self.headers: dict[str, frozenset[str]] = {}
        self.starts: headers.Headers | None = None
        self.lock = threading.Lock()
        if box.kind != "none":
            (self.root / headers.FOLDER).mkdir()
            allowed = frozenset(f"<{name}>" for name in (*roots.HEADERS, *roots.stand_ins(course))) | {'"rung.h"'}
            self.starts = headers.Headers(allowed, self.preprocessed_headers, self.precompiled_headers)
        if clang and box.kind != "none":
            self.precompile(clang)

    def precompile(self, clang: str) -> None:
        """From now on clang reads the course's headers as they were understood once. Where that cannot be made, it reads them each time."""
        make, ask = roots.precompiled_rules_command(clang)
        ended = self.run(f"{shlex.join(make)} && cat /tmp/{roots.PRECOMPILED}", b"", self.box.new_user(), TEXT_BYTES)
        if ended.status or ended.cause or not ended.stdout:
            return
        (self.root / roots.PRECOMPILED).write_bytes(ended.stdout)
        self.front_end = shlex.join(ask)
        self.own_tree = f"{{ echo '  {syntax_tree.MARK}'; cat; }}"  # then the tree is the file's own

    def options(self, build: str) -> str:
        return shlex.join(self.flags + MOMENT + (self.instrument if build == "checked" else []))

    def code_options(self, build: str) -> str:
        """What a build has besides, and its headers that are compiled once must have, too."""
        return f"{self.options(build)} {shlex.join(QUICKLY if build == 'plain' else CHECKED_QUICKLY)} -ffunction-sections"

    def preprocessed_headers(self, build: str, source: str) -> str:
        ended = self.run(f"g++ {self.options(build)} -E -x c++ -", self.as_cpp(source.encode(), "headers"), self.box.new_user(), TEXT_BYTES)
        return "" if ended.status or ended.cause else ended.stdout.decode("latin-1")

    def precompiled_headers(self, build: str, text: str, name: str) -> str:
        made = "cat >/tmp/headers && g++ " + self.code_options(build) + " -fpreprocessed -x c++-header /tmp/headers -o /tmp/headers.gch && cat /tmp/headers.gch"
        ended = self.run(made, text.encode("latin-1"), self.box.new_user(), PRECOMPILED_BYTES) if text else None
        if not ended or ended.status or ended.cause or not ended.stdout:
            return ""
        (self.root / headers.FOLDER / f"{name}.gch").write_bytes(ended.stdout)
        return f"/{headers.FOLDER}/{name}.gch"

    def run(self, script: str, given: bytes, uid: int | None, most: int, *arguments: str) -> sandbox.Ended:
        seconds = self.limits["compile_seconds"]
        wall = int((seconds + 30) * times_longer())
        limits = sandbox.Limits(seconds, wall, self.limits["memory_mib"], self.limits["processes"], self.limits["temporary_mib"],
                                self.limits["temporary_mib"], self.limits["output_kib"])
        command = ["/bin/sh", "-c", script, "sh", *arguments]
        if self.box.kind != "none":
            return self.box.run(self.box.command(command, self.root, limits, uid), limits, given, most_stdout=most)
        # One's own files, without a sandbox: the same in a folder of its own.
        folder = stages.make()
        try:
            own = script.replace("/tmp/", f"{folder}/")
            return self.box.run(["/bin/sh", "-c", own, "sh", *arguments], limits, given, cwd=str(self.course), most_stdout=most)
        finally:
            stages.remove(folder)

    def as_cpp(self, source: bytes, label: str) -> bytes:
        """The text for g++, with the file's line numbers under this name; nothing if that takes too long. Its compiler reads it from a
        stream, so that no file holds it that could be included under another name. What is done to it looks for words: it runs nothing."""
        command = (sys.executable, "-B", "-S", str(self.course / "common/simt/rewritten.py"), "--refuse-nothing", label)
        try:
            return subprocess.run(command, input=source, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=REWRITING_SECONDS, check=True,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (REWRITING_BYTES, REWRITING_BYTES))).stdout
        except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
            return b""

    def why(self, ended: sandbox.Ended, label: str) -> str:
        if ended.cause == "time":
            return f"{label} takes longer to compile than {self.limits['compile_seconds']} s"
        if ended.cause == "memory":
            return f"{label} takes more than {self.limits['memory_mib']} MiB to compile"
        if ended.cause == "output":
            return f"{label} compiles to more than {OBJECT_BYTES >> 20} MiB"
        return f"{label} does not compile"

    def build(self, source: bytes, label: str, uid: int | None, slots=nullcontext(), products: bool = False,
              timed: bool = False) -> Built:
        """label: the file's name in messages, "labs/lab02_smem/softmax_smem.cu". slots: held while a compiler runs. products: it may call
        cuBLAS. timed: its instrumented build is to have what times are predicted from."""
        with ThreadPoolExecutor(1) as pool:  # clang, while g++ compiles
            asked = pool.submit(self.refused_by_nvcc, source, label, uid, slots)
            built = self.compiled(source, label, uid, slots, products, timed)
        nvcc = asked.result()
        if nvcc and built.findings and not built.error:  # held up already
            built.findings.append(rules.Finding(rules.LOOK, "does not compile with nvcc: " + (nvcc.details or nvcc.error).split("\n")[0]))
        return nvcc if nvcc and not built.error and not built.findings else built

    def refused_by_nvcc(self, source: bytes, label: str, uid: int | None, slots) -> Built | None:
        """What there is to say if nvcc would not take the file. Without clang, nothing: then the judge asks nvcc itself."""
        if not self.front_end:
            return None
        asked = f"{AS_IT_IS}{self.front_end}"
        with slots:
            ended = self.run(f"{asked} {shlex.join(front_end.TREE)} - | {self.own_tree}", source, uid, TEXT_BYTES, label)
            if ended.cause in ("memory", "output") or front_end.breaks(ended.status, ended.stderr.decode(errors="replace")):
                ended = self.run(f"{asked} - >&2", source, uid, TEXT_BYTES, label)
        if ended.cause:
            return Built(error=self.why(ended, label), limited=True)
        lines = source.decode(errors="replace").lstrip("\ufeff").splitlines()
        said = ended.stderr.decode(errors="replace")
        answer = front_end.Answer(front_end.parse(said), said, ended.stdout.decode(errors="replace"))
        found = refused.of_answer(answer, {label: lines})
        if not found:
            return None
        return Built(error=f"{label} does not compile with nvcc, although it does here", details=readable("\n".join(map(refused.spelled, found)).encode()))

    def compiled(self, source: bytes, label: str, uid: int | None, slots, products: bool, timed: bool) -> Built:
        plain = (f"g++ {self.code_options('plain')} -c -x c++-cpp-output /tmp/text -o /tmp/rung.o && {REACHED} && "
                 "g++ -shared /tmp/reached.o -o /tmp/rung.so")
        built = Built()
        if timed and timing.names_lines(source.decode(errors="replace")):
            timed, built.untimed = False, "the file says itself which lines it has (#line): no time is predicted of it"
        checked = (f"g++ {self.code_options('checked')} -x c++-cpp-output -S /tmp/text -o /tmp/rung.s {timing.DUMP if timed else ''} && "
                   f"{self.announce} /tmp/rung.s /tmp/all.s && g++ -c /tmp/all.s -o /tmp/rung.o && {REACHED} && "
                   f"g++ -shared /tmp/reached.o -o /tmp/rung.so{f' && {timing.LIST}' if timed else ''}")
        plain_text = ""
        if not (cpp := self.as_cpp(source, label)):
            built.error, built.limited = f"{label} takes longer to read than {REWRITING_SECONDS} s", True
            return built
        # What does not compile, or is not run for its calls, is not compiled a second time.
        for name, compile in (("plain", f": >/tmp/report && {plain}"), ("checked", checked)):
            # The parts come one after the other; no text can hold the word between them.
            between = f"end of this part {secrets.token_hex(16)}\n".encode()
            paths = ["/tmp/report", "/tmp/names", "/tmp/rung.so", *(timing.PARTS if timed and name == "checked" else [])]
            parts = " /tmp/between ".join(paths)
            script = (f"wrap='{WRAP if name == 'checked' else ''}' && cat >/tmp/text && {{ {compile}; }} && "
                      f"echo '{between.decode().strip()}' >/tmp/between && cat {parts}")
            with slots:
                ended = self.run(f"g++ {self.options(name)} -E -x c++ -", cpp, uid, TEXT_BYTES)
                # What is looked at is what is compiled.
                whole = ended.stdout
                if not ended.status and not ended.cause:
                    given = self.starts.shortened(name, source.decode("utf-8-sig", "replace"), whole.decode("latin-1"), label) if self.starts else ""
                    ended = self.run(script, given.encode("latin-1") or whole, uid, 4 * OBJECT_BYTES, label)
            pieces = ended.stdout.split(between)
            if ended.status or ended.cause or len(pieces) != len(paths):
                built.error, built.limited = self.why(ended, label), bool(ended.cause)
                built.details = readable(ended.stderr)
                return built
            if len(pieces[2]) > OBJECT_BYTES:
                built.error, built.limited = f"{label} compiles to more than {OBJECT_BYTES >> 20} MiB", True
                return built
            text, report, names, shown = (*(piece.decode(errors="replace") for piece in (whole, *pieces[:2])), pieces[3:])
            needed = [line.split()[0] for line in names.splitlines() if line.split()]
            # What __global__ is in an instrumented build (simt/qualifiers.h), and nothing in a plain one.
            own = rules.own_text(text.replace('__attribute__((noipa, visibility("protected")))', ""), self.header_lines(name))
            if name == "plain":
                built.plain, plain_text = pieces[2], own
                built.findings = rules.of_source(own, self.completed)
            else:
                built.checked = pieces[2]
                if words_of(plain_text) != words_of(own):
                    built.findings.append(rules.Finding(rules.LOOK, "is another program when it is checked than when it is run"))
                built.findings += rules.of_report(report, label, self.taken, self.libm)
            built.findings += rules.of_symbols(needed, name == "checked", self.libm, self.words, products)
            if any(finding.level == rules.FAIL for finding in built.findings):
                break
            built.listed = shown
        built.findings = list(dict.fromkeys(built.findings))
        return built

    def with_table(self, built: Built, source: bytes, label: str, uid: int | None, kernels: set[str]) -> bytes:
        """The instrumented object with the table of these kernels' instructions; without one as it is, and no time will be predicted."""
        table = timing.table_of(self.course, built.listed, source, label, kernels)
        ended = self.run(timing.with_table(len(table)), table + built.checked, uid, 3 * OBJECT_BYTES) if table else None
        made = ended.stdout if ended and not ended.status and not ended.cause else b""
        built.untimed = "" if made else "the table of its instructions could not be made"
        return made or built.checked

    def header_lines(self, name: str) -> frozenset[str]:
        """What the headers that a kernel may include come to, in one of the builds; looked up once."""
        with self.lock:
            if name not in self.headers:
                includes = "".join(f"#include <{header}>\n" for header in roots.HEADERS) + '#include "rung.h"\n'
                includes += "".join(f'#if __has_include("{header}")\n#include "{header}"\n#endif\n' for header in roots.stand_ins(self.course))
                given = self.as_cpp(includes.encode(), "headers")
                ended = self.run(f"g++ {self.options(name)} -E -x c++ -", given, self.box.new_user(), TEXT_BYTES)
                if ended.status or ended.cause:
                    raise roots.RootError(f"the headers of a kernel cannot be read: {readable(ended.stderr)}")
                self.headers[name] = rules.header_lines(ended.stdout.decode(errors="replace"))
            return self.headers[name]


def words_of(text: str) -> list[str]:
    """The text without the one thing that the course's own headers write differently, the section of __constant__."""
    return re.sub(r'__attribute__\(\(section\("simt_constant,[^)]*\)\)\)', "", text).split()


def readable(text: bytes, lines: int = 40) -> str:
    """What a compiler said, without control characters and not too long."""
    clean = "".join(c if c == "\n" or c.isprintable() else "?" for c in text.decode(errors="replace")).strip()
    shown = [line[:300] for line in clean.replace("/tmp/", "").split("\n")[:lines]]
    return "\n".join(shown)
