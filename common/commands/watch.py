#!/usr/bin/env python3
"""Tests a file whenever it is saved, and shows what matters of it: what is wrong, how many cases pass, how that changed.

    watch.py LAB FILE     until Ctrl-C. Runs common/commands/lab.sh with TESTS_ONLY=1: nothing is measured.

A save is a new modification time or size, looked for five times a second: that costs nothing that could be measured, needs no
package, and also works where a file system tells nobody of changes (a Windows drive in WSL, a network drive). A save during a
run ends that run, as the file that it tests is no longer there.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "common"))
from course.labs import number_of  # noqa: E402

INTERVAL = 0.2  # seconds between two looks at the file
OK_GROUP = re.compile(r"^\S.*  \d+ cases?  +(?:\x1b\[32m)?ok ")
FAILED_GROUP = re.compile(r"^\S.*  \d+ cases?  +(?:\x1b\[31m)?FAIL")
TALLY = re.compile(r"^(\d+) passed, (\d+) failed$", re.MULTILINE)
NOT_SHOWN = ("Not right yet in ", "Next: edit ", "A hint: ", "make: ", "  line ", "  and ")


def stamp(file: Path) -> tuple[int, int, int] | None:
    """Changes with every save; None while an editor is just replacing the file."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def essence(output: str, lab: str, file: str = "") -> list[str]:
    """The lines of a run that are worth a look after a save: those of failed groups and compiler messages, then the variants
    that have no failure. What is still to be predicted is one line; the questions are in the handout."""
    lines: list[str] = []
    variants: dict[str, bool] = {}
    skipping = False
    for line in output.splitlines():
        ok, failed = OK_GROUP.match(line), FAILED_GROUP.match(line)
        if ok or failed:
            name = re.split(r"  +", line)[0]
            variants[name] = bool(ok) and variants.get(name, True)
            skipping = bool(failed) and name == "predictions" and "not filled in yet" in output
            if ok:
                continue
            if skipping:
                line += f"   (make lab{number_of(lab)} CASE='predict-*' asks the questions)"
        elif skipping and line.startswith(" ") or line.startswith(NOT_SHOWN) or line == file or line.startswith(("cpu: ", "cuda: ")):
            continue
        if line.strip() or (lines and lines[-1].strip()):
            lines.append(line)
    right = [name for name, ok in variants.items() if ok and name != "predictions"]
    if right and not all(variants.values()):
        lines.insert(max(0, len(lines) - 1), f"no failure: {', '.join(right)}")
    return lines


def tally(output: str) -> tuple[int, int] | None:
    found = TALLY.findall(output)
    return (int(found[-1][0]), int(found[-1][1])) if found else None


def trend(now: tuple[int, int] | None, before: tuple[int, int] | None) -> str:
    """What the last save changed, in the number of cases that pass."""
    if now is None or before is None or now == before:
        return ""
    more = now[0] - before[0]
    if more:
        return f"; {abs(more)} {'more' if more > 0 else 'fewer'} pass than before"
    return f"; {abs(now[1] - before[1])} {'more' if now[1] > before[1] else 'fewer'} fail than before"


def fit(lines: list[str], height: int, log: Path) -> list[str]:
    """The first lines, which name the first failures, and the last, which count."""
    if len(lines) <= height:
        return lines
    return lines[:height - 2] + [f"... {len(lines) - height + 1} more lines in {log}", lines[-1]]


class Watch:
    def __init__(self, lab: str, file: Path):
        self.lab, self.file = lab, file
        self.log = Path("build") / f"watch-{lab}.log"
        self.before: tuple[int, int] | None = None
        self.on_screen = sys.stdout.isatty()
        self.part = [f"{name}={os.environ[name]}" for name in ("VARIANT", "CASE") if os.environ.get(name)]
        self.title = " ".join([f"make watch{number_of(lab)}", *self.part])

    def run(self) -> None:
        """Tests the file once, or until it is saved again."""
        tested = stamp(self.file)
        if self.on_screen:
            self.show([], "testing ...")
        begun = time.monotonic()
        environment = {**os.environ, "TESTS_ONLY": "1"}
        if not self.on_screen:
            environment["NO_COLOR"] = "1"
        with open(self.log, "w+", encoding="utf-8", errors="replace") as log:
            child = subprocess.Popen(["common/commands/lab.sh", number_of(self.lab)], cwd=ROOT, env=environment, stdin=subprocess.DEVNULL,
                                     stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
            try:
                while child.poll() is None:
                    time.sleep(INTERVAL)
                    if stamp(self.file) not in (tested, None):
                        return
            finally:
                if child.poll() is None:
                    os.killpg(child.pid, signal.SIGTERM)
                    child.wait()
        seconds = time.monotonic() - begun
        output = self.log.read_text(encoding="utf-8", errors="replace")
        now = tally(output)
        if child.returncode == 0:
            verdict = "right"
        elif now:
            verdict = "not right yet"
        else:
            verdict = "could not be tested"
        self.show(essence(output, self.lab, str(self.file)), f"{verdict} in {seconds:.1f} s{trend(now, self.before)}")
        if child.returncode == 0 and not self.part:
            print(f"make lab{number_of(self.lab)} measures it.")
        self.before = now or self.before
        self.wait(tested)

    def wait(self, tested: tuple[int, int, int] | None) -> None:
        """Until the file is saved; an empty moment between an editor's two steps is no save."""
        print("waiting for a save; Ctrl-C ends", flush=True)
        while stamp(self.file) in (tested, None):
            time.sleep(INTERVAL)

    def show(self, lines: list[str], word: str) -> None:
        head = f"{time.strftime('%H:%M:%S')}  {self.title}  {self.file}  {word}"
        if self.on_screen:
            # Clears what is seen, not what can be scrolled back to.
            sys.stdout.write("\x1b[2J\x1b[H")
            lines = fit(lines, max(6, shutil.get_terminal_size().lines - 5), self.log)
        print(head + ("\n" if lines else ""))
        print("\n".join(lines) + ("\n" if lines else ""), end="", flush=True)


def main(argv: list[str]) -> int:
    if len(argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    os.chdir(ROOT)
    watch = Watch(argv[0], Path(argv[1]))
    for end in (signal.SIGTERM, signal.SIGHUP):  # as Ctrl-C: the run, which has a session of its own, must end too
        signal.signal(end, signal.default_int_handler)
    try:
        Path("build").mkdir(exist_ok=True)
        while True:
            watch.run()
    except KeyboardInterrupt:
        print("\nended")
        return 0
    except OSError as error:
        print(f"error: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
