"""Builds a kernel file in the sandbox, both ways, and applies the rules to it. What comes out of the sandbox is data: a shared
object of limited size, a list of symbols, what the compiler said."""

from __future__ import annotations

import re
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import roots
import rules
import sandbox
import stages

OBJECT_BYTES = 16 << 20
TEXT_BYTES = 32 << 20
# A file's text: sed rewrites launches, #line keeps the numbers of its lines.
REWRITE = "sed -E -f rewrite.sed >/tmp/source.cu && { echo '#line 1 \"'\"$1\"'\"'; cat /tmp/source.cu; } >/tmp/named.cu && "


@dataclass
class Built:
    plain: bytes = b""
    checked: bytes = b""  # not there if a rule says not to run it
    error: str = ""  # why there is none, in one line
    limited: bool = False  # because a limit ended the compiler
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
        self.announce = ("/announce" if box.kind != "none" else str(course / "build/cpu/announce")) if roots.announces(course) else "cp"
        self.words = rules.header_words(course)
        self.course = course
        libm = subprocess.run(("g++", "-print-file-name=libm.so.6"), stdout=subprocess.PIPE, text=True).stdout.strip()
        names = subprocess.run(("nm", "-D", "--defined-only", "--without-symbol-versions", libm), stdout=subprocess.PIPE, text=True).stdout
        self.libm = frozenset(line.split()[-1] for line in names.splitlines())

    def run(self, script: str, given: bytes, uid: int | None, most: int, *arguments: str) -> sandbox.Ended:
        seconds = self.limits["compile_seconds"]
        limits = sandbox.Limits(seconds, seconds + 30, self.limits["memory_mib"], self.limits["processes"], self.limits["temporary_mib"],
                                self.limits["temporary_mib"], self.limits["output_kib"])
        command = ["/bin/sh", "-c", script, "sh", *arguments]
        if self.box.kind != "none":
            return self.box.run(self.box.command(command, self.root, limits, uid), limits, given, most_stdout=most)
        # One's own files, without a sandbox: the same in a folder of its own.
        folder = stages.make()
        try:
            own = script.replace("/tmp/", f"{folder}/").replace("rewrite.sed", str(self.course / "common/simt/rewrite.sed"))
            return self.box.run(["/bin/sh", "-c", own, "sh", *arguments], limits, given, cwd=str(self.course), most_stdout=most)
        finally:
            stages.remove(folder)

    def why(self, ended: sandbox.Ended, label: str) -> str:
        if ended.cause == "time":
            return f"{label} takes longer to compile than {self.limits['compile_seconds']} s"
        if ended.cause == "memory":
            return f"{label} takes more than {self.limits['memory_mib']} MiB to compile"
        if ended.cause == "output":
            return f"{label} compiles to more than {OBJECT_BYTES >> 20} MiB"
        return f"{label} does not compile"

    def build(self, source: bytes, label: str, uid: int | None, slots=nullcontext()) -> Built:
        """label: the file's name in messages, "labs/lab02_smem/softmax_smem.cu". slots: held while a compiler runs."""
        flags, instrument = shlex.join(self.flags), shlex.join(self.instrument)
        scripts = {
            "plain text": (f"g++ {flags} -E -x c++ /tmp/named.cu", TEXT_BYTES),
            "checked text": (f"g++ {flags} {instrument} -E -x c++ /tmp/named.cu", TEXT_BYTES),
            "plain": (f"g++ {flags} -shared -x c++ /tmp/named.cu -o /tmp/rung.so && cat /tmp/rung.so", OBJECT_BYTES),
            "checked": (f"g++ {flags} {instrument} -x c++ -S /tmp/named.cu -o /tmp/rung.s && {self.announce} /tmp/rung.s /tmp/all.s && "
                        "g++ -c /tmp/all.s -o /tmp/rung.o && "
                        "g++ -shared /tmp/rung.o -Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset -o /tmp/rung.so && "
                        "cat /tmp/rung.so", OBJECT_BYTES),
        }

        def one(name: str) -> sandbox.Ended:
            with slots:
                return self.run(REWRITE + scripts[name][0], source, uid, scripts[name][1], label)

        built, plain_text = Built(), ""
        # What does not compile, or is not run for its calls, is not compiled a second time.
        for name in ("plain", "checked"):
            with ThreadPoolExecutor(2) as pool:
                compiled, text = pool.map(one, (name, f"{name} text"))
            for result in (compiled, text):
                if result.status or result.cause:
                    built.error, built.limited = self.why(result, label), bool(result.cause)
                    built.details = readable(result.stderr)
                    return built
            own = rules.own_lines(text.stdout.decode(errors="replace"), label)
            if name == "plain":
                built.plain, plain_text = compiled.stdout, own
                built.findings = rules.of_source(source.decode(errors="replace"), own)
            else:
                built.checked = compiled.stdout
                if words_of(plain_text) != words_of(own):
                    built.findings.append(rules.Finding(rules.LOOK, "is another program when it is checked than when it is run"))
            with slots:
                names = self.run("cat >/tmp/rung.so && nm -D --undefined-only --format=posix /tmp/rung.so", compiled.stdout, uid, TEXT_BYTES)
            if names.status:
                built.error, built.details = f"the symbols of {label} cannot be read", readable(names.stderr)
                return built
            undefined = [line.split()[0] for line in names.stdout.decode(errors="replace").splitlines() if line.split()]
            built.findings += rules.of_symbols(undefined, name == "checked", self.libm, self.words)
            if any(finding.level == rules.FAIL for finding in built.findings):
                break
        built.findings = list(dict.fromkeys(built.findings))
        return built


def words_of(text: str) -> list[str]:
    """The text without the one thing that the course's own headers write differently, the section of __constant__."""
    return re.sub(r'__attribute__\(\(section\("simt_constant,[^)]*\)\)\)', "", text).split()


def readable(text: bytes, lines: int = 40) -> str:
    """What a compiler said, without control characters and not too long."""
    clean = "".join(c if c == "\n" or c.isprintable() else "?" for c in text.decode(errors="replace")).strip()
    shown = [line[:300] for line in clean.replace("/tmp/", "").split("\n")[:lines]]
    return "\n".join(shown)
