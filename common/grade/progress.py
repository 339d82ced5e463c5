"""How far the grading of a class is: a line for each submission that is done, and on a terminal a last line that is kept up to date with
what is running."""

from __future__ import annotations

import sys
import threading
import time


def duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


class Progress:
    """For several threads."""

    def __init__(self, total: int, stream=None):
        self.total, self.stream = total, stream or sys.stdout
        self.live = self.stream.isatty()
        self.lock = threading.RLock()
        self.running: dict[str, float] = {}
        self.done = self.graded = self.failed = 0
        self.where = ""  # what else the last line says, of the machines at work
        self.begun = time.monotonic()
        self.ended = threading.Event()
        if self.live:
            threading.Thread(target=self._refresh, daemon=True).start()

    def begins(self, name: str) -> None:
        with self.lock:
            self.running[name] = time.monotonic()
            self._show()

    def stops(self, name: str) -> None:
        """It runs no more, and is not done."""
        with self.lock:
            self.running.pop(name, None)
            self._show()

    def ends(self, name: str, text: str = "", graded: bool = True, failed: bool = False) -> None:
        """text: what the line says after the name; none, no line. graded: it took time, which tells how long others will take. failed: it could
        not be graded."""
        with self.lock:
            self.running.pop(name, None)
            self.done += 1
            self.graded += graded
            self.failed += failed
            if text:
                rest = f"{len(self.running)} running, {self._of_failed()}{self.left()} left" if self.done < self.total else "the last"
                self.line(f"{self.done:4d}/{self.total}  {name:<30.30}  {text}   {rest}")
            else:
                self._show()

    def left(self) -> str:
        """By what those that were graded took, all together."""
        if not self.graded:
            return "?"
        each = (time.monotonic() - self.begun) / self.graded
        return duration(each * max(0, self.total - self.done - len(self.running) / 2))

    def _of_failed(self) -> str:
        return f"{self.failed} failed, " if self.failed else ""

    def line(self, text: str) -> None:
        with self.lock:
            # Names are a stranger's, and a terminal need not know every letter.
            encoding = self.stream.encoding or "utf-8"
            clear = "\r\033[K" if self.live else ""
            print(clear + text.encode(encoding, "replace").decode(encoding), file=self.stream, flush=True)
            self._show()

    def close(self) -> None:
        self.ended.set()
        with self.lock:
            self.running.clear()
            if self.live:
                print("\r\033[K", end="", file=self.stream, flush=True)

    def _refresh(self) -> None:
        while not self.ended.wait(1):
            with self.lock:
                self._show()

    def _show(self) -> None:
        if not self.live or self.ended.is_set() or not (self.running or self.where):
            return
        now = time.monotonic()
        names = ", ".join(f"{name[:16]} {duration(now - since)}" for name, since in list(self.running.items())[:2])
        more = f" and {len(self.running) - 2} more" if len(self.running) > 2 else ""
        details = self.where or f"{names}{more}"
        print(f"\r\033[K{self.done} of {self.total} done, {len(self.running)} running, {self._of_failed()}{self.left()} left ({details})"[:118], end="",
              file=self.stream, flush=True)
