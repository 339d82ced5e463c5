"""The messages of the commands, each with an example: what happened, where, and what to do next. On a terminal of 80 columns none is
wider. In a log a message is one line, so that it can be searched for."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import course_copy  # noqa: E402  (beside this file)
import screen  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from course.sampling import sampled  # noqa: E402

COLUMNS = 80
ESCAPE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")

# Command line; what the message must say: what happened and where, then what to do next.
MESSAGES = [
    ("make lba02", ["there is no command 'lba02'", "Do you mean lab02?", "`make help` lists"]),
    ("make lab99", ["there is no lab '99'", "The labs are: lab01_naive"]),
    ("make lab02 VARAINT=tree", ["there is no option VARAINT=", "Do you mean VARIANT?", "`make help` lists"]),
    ("make lab02 FILE=nowhere.cu", ["nowhere.cu: no such file"]),
    ("make lab02 FILE=README.md", ["README.md: a rung is a .cu file"]),
    ("make lab02 FILE=labs/lab02_smem/softmax_smem.cu SOLUTION=1", ["FILE, SOLUTION=1 and BROKEN exclude each other"]),
    ("make lab02 TIME=fast", ["TIME=fast: it can be executor"]),
    ("make lab02 GPU=h300", ["there is no GPU 'h300'; there are: a100, h100, h200"]),
    ("make lab02 CASES=some", ["CASES=some: it can be all"]),
    ("make hint02 TODO=77", ["TODO=77: lab02_smem has hints for TODO 1, 2, 3, 4, 5, 6, 7"]),
    ("make profile02 SHAPE=wide", ["SHAPE=wide: it must be ROWSxCOLUMNS", "for example 64x4096"]),
    ("make diff02", ["has not passed its tests as it is now", "Run make lab02 first", "make diff02 ANYWAY=1"]),
    ("make roofline FILE=nowhere.json", ["nowhere.json"]),
    ("make new-lab NAME=thing", ["a lab is called labNN_word", "make new-lab NAME=lab10_thing"]),
    ("make similar", ["SUBMISSIONS=folder OUT=folder"]),
    ("make peers BACKEND=cpu", ["peers are measured on a GPU"]),
]
# What has no mistake to report, and yet must fit.
SCREENS = ["make", "make help", "make status", "make hint01", "make hint05"]


def on_a_terminal(copy: Path, command: str, columns: int = COLUMNS) -> tuple[int, str]:
    """Status and output of a command whose terminal has so many columns, without colours."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {key: value for key, value in os.environ.items()
                   if key not in ("MAKEFLAGS", "MAKELEVEL", "BACKEND", "LADDER_PROGRESS", "NAME", "CASE", "FILE", "ONLY", "COLUMNS", "NO_COLOR")}
    with subprocess.Popen(command.split(), cwd=copy, env={**environment, "TERM": "xterm"}, stdin=subprocess.DEVNULL,
                          stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        output = b""
        try:
            while part := os.read(ours, 65536):
                output += part
        except OSError:  # the other end was closed
            pass
        os.close(ours)
        status = process.wait(timeout=60)
    return status, ESCAPE.sub("", output.decode("utf-8", "replace")).replace("\r\n", "\n")


def too_wide(text: str, columns: int = COLUMNS) -> list[str]:
    """Lines wider than a terminal, but for single words, which cannot be broken, and what make itself says."""
    lines = [line.split("\r")[-1] for line in text.splitlines()]
    return [line for line in lines if len(line) > columns and " " in line.strip() and not line.startswith("make")]


class Messages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.copy = course_copy.copy_course(Path(cls.folder.name))

    def test_each_message_says_what_and_what_next_and_fits(self):
        for command, parts in sampled(MESSAGES, 4, "messages of the commands"):
            with self.subTest(command):
                status, output = on_a_terminal(self.copy, command)
                self.assertNotEqual(status, 0, output)
                said = " ".join(output.split())
                for part in parts:
                    self.assertIn(part, said)
                self.assertEqual(too_wide(output), [])

    def test_screens_fit(self):
        for command in SCREENS:
            with self.subTest(command):
                status, output = on_a_terminal(self.copy, command)
                self.assertEqual(status, 0, output)
                self.assertEqual(too_wide(output), [])

    def test_a_log_has_each_message_on_one_line(self):
        output = course_copy.run(self.copy, "make", "lab99").stdout
        self.assertIn("error: there is no lab '99'. The labs are: lab01_naive lab02_smem lab03_online lab04_f16x8 lab05_topk lab06_limit", output)

    def test_a_wide_line_is_seen(self):
        self.assertEqual(too_wide("a " * 50 + "\n" + "b" * 90 + "\nshort"), ["a " * 50])
        self.assertEqual(too_wide(on_a_terminal(self.copy, "make help", 20)[1], 20) != [], True)


class Fitted(unittest.TestCase):
    def test_paragraphs_are_wrapped_and_code_is_not(self):
        code = "    " + "x = y; " * 20
        text = screen.fitted("one two three\nfour\n\n" + code + "\n\n  indented words here", 12)
        self.assertEqual(text, "one two\nthree four\n\n" + code + "\n\n  indented\n  words here")

    def test_a_log_is_left_alone(self):
        self.assertEqual(screen.fitted("word " * 50, 0), "word " * 50)


if __name__ == "__main__":
    unittest.main()
