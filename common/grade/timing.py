"""What a graded build needs so that its kernels' time can be predicted: the table of their instructions (common/simt/timing/operations).

The sandbox gives g++'s last form of the code and what readelf says of the object, both as text. Here a script turns them into the
table, and runs nothing of them; in the sandbox again the table becomes a section of the object.
"""

from __future__ import annotations

import re
import resource
import subprocess
import sys
from pathlib import Path

import rules
import stages

SECONDS, BYTES = 60, 2 << 30
LISTINGS = ("symbols", "sections", "relocations")  # as the script names them
DUMP = "-fdump-tree-optimized-lineno=/tmp/dump"
# Of the relocations those of the calls that the executor counts by.
LIST = ("readelf -sW /tmp/rung.o >/tmp/symbols && readelf -SW /tmp/rung.o >/tmp/sections && "
        "readelf -rW /tmp/rung.o | sed -n '/^Relocation section/p; /__tsan\\|__sanitizer\\|simt/p' >/tmp/relocations")
PARTS = [*(f"/tmp/{name}" for name in LISTINGS), "/tmp/dump"]
# The statements of the executor's headers count for nothing, so no line may say that it is theirs: `#line 1 "..."`, `# 1 "..."`.
LINE_DIRECTIVE = re.compile(r"(?m)^[^\S\n]*(?:#|%:)[^\S\n]*(?:line\b|\d)")


def names_lines(source: str) -> bool:
    """Whether the file has directives that say from which file its lines are."""
    return bool(LINE_DIRECTIVE.search(rules.bare(re.sub(r"\\[ \t]*\r?\n", "", source))))


SYMBOL = re.compile(r"[\w.$]+")


def table_of(course: Path, parts: list[bytes], source: bytes, label: str, kernels: set[str]) -> bytes:
    """parts: what PARTS held. kernels: the symbols of those that are of interest: a file may have dozens. b"" if there is no table."""
    folder = stages.make()
    try:
        (folder / "object").mkdir()
        for name, text in zip(LISTINGS, parts):
            (folder / "object" / name).write_bytes(text)
        (folder / "dump").write_bytes(parts[-1])
        (folder / "kernels").write_text("".join(f"{symbol}\n" for symbol in sorted(kernels) if SYMBOL.fullmatch(symbol)))
        # Where the dump names lines: a `#pragma unroll` is looked up there.
        (folder / label).parent.mkdir(parents=True)
        (folder / label).write_bytes(source)
        (folder / "common").symlink_to(course / "common")
        command = (sys.executable, "-B", "-S", str(course / "common/simt/timing/operations"), "object", "dump", "kernels")
        return subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=SECONDS, check=True,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))).stdout
    except (OSError, subprocess.TimeoutExpired, subprocess.CalledProcessError):
        return b""
    finally:
        stages.remove(folder)


def with_table(size: int) -> str:
    """The script that writes the object with its table, and no other of this name. Its input: the table, of this size, and the object."""
    return (f"head -c {size} >/tmp/table && cat >/tmp/rung.so && "
            "objcopy --remove-section .simt_operations --add-section .simt_operations=/tmp/table /tmp/rung.so /tmp/timed.so && cat /tmp/timed.so")
