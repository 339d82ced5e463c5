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
from course.sampling import has_list, sampled  # noqa: E402

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
    ("make lab02 BROKEN=masked_flor", ["solutions/lab02_smem/broken.toml has no entry masked_flor", "Do you mean masked_floor?", "It has: barrier"]),
    ("make lab02 SOLUTION=1 BROKEN=no_max", ["FILE, SOLUTION=1 and BROKEN exclude each other"]),
    ("make lab02 CHECKS=maybe", ["CHECKS=maybe: it can be on or off"]),
    ("make lab02 TODO=77", ["TODO=77: it can be 1, 2, 3, 4, 5, 6, 7, the TODOs of lab02_smem"]),
    ("make lab02 TODO=0", ["TODO 0 are the predictions: make lab02 CASE='predict-*'"]),
    ("make lab", ["make lab: which lab?", "make lab01 to make lab"]),
    ("make ladder ONLY=lab02", ["make ladder does not use ONLY=. It is for: make test"]),
    ("make status SHAPE=64x64", ["make status does not use SHAPE=. It is for: make profile01"]),
    ("make profile09", ["is part of a program of several devices, which has no rung: make lab09, watch09 and hint09 are for it"]),
    ("make lab09 VARIANT=nothing", ["VARIANT=nothing: it can be three_reductions, packed, one_shot, one_shot_ll, the variants of lab09_sharded"]),
    ("make lab09 TODO=1", ["lab09_sharded has no TODO=; CASE= and VARIANT= choose what is tested"]),
    ("make lab09 BACKEND=tpu", ["BACKEND=tpu: it can be auto, cuda or cpu"]),
    ("make lab09 BROKEN=no_ofset", ["common/bench/sharded/broken.toml has no entry no_ofset", "Do you mean no_offset?", "It has: flag_without_release"]),
    ("make lab09 BROKEN=no_offset BACKEND=cuda", ["BROKEN=no_offset: wrong programs run on the executor", "leave BACKEND=cuda out"]),
    ("make profile05 K=x", ["K=x: it can be a number of results, for example 50"]),
    ("make sweep02 OVER=height", ["OVER=height: it can be cols or threads"]),
    ("make sweep07", ["lab07_fusion has no rows whose width could be varied"]),
    ("make diff02 FILE=nowhere.cu", ["make diff02 does not use FILE="]),
    ("make watch02 FILE=nowhere.cu", ["nowhere.cu: no such file"]),
    ("make sanitize02 BACKEND=cpu", ["compute-sanitizer needs a GPU; on the CPU make lab02 runs checks of the same names"]),
    ("make profile-diff BACKEND=cpu", ["profile-diff compares a GPU with the executor: BACKEND=cpu leaves nothing to compare"]),
    ("make roofline FILE=README.md PUBLISH=1", ["FILE and PUBLISH=1 exclude each other"]),
    ("make check ON=moon", ["ON=moon: it can be slurm; without it this machine grades"]),
    ("make check SUBMISSIONS=labs", ["SUBMISSIONS needs OUT=folder, where grades and reports go"]),
    ("make check ON=slurm", ["ON=slurm grades a class: it needs SUBMISSIONS=folder and OUT=folder"]),
    ("make lab02 TIME=fast", ["TIME=fast: it can be executor", "leave it out for the time predicted for a GPU"]),
    ("make lab02 GPU=h300", ["GPU=h300: it can be a100, h100, h200", "or the path of a machine file", "make probe writes one"]),
    ("make lab02 CASES=some", ["CASES=some: it can be all, or huge on a GPU", "leave it out for the usual cases"]),
    ("make hint02 TODO=77", ["TODO=77: it can be 1, 2, 3, 4, 5, 6, 7, the TODOs of lab02_smem that have hints"]),
    ("make profile02 SHAPE=wide", ["SHAPE=wide: it can be ROWSxCOLUMNS, for example 64x4096"]),
    ("make diff02", ["has not passed its tests as it is now, and the difference would give the solution away", "Run make lab02 first", "make diff02 ANYWAY=1"]),
    ("make roofline FILE=nowhere.json", ["nowhere.json"]),
    ("make new-lab NAME=thing", ["a lab is called labNN_word", "make new-lab NAME=lab10_thing"]),
    ("make similar", ["SUBMISSIONS=folder OUT=folder say whose files are compared and where the list goes"]),
    ("make peers BACKEND=cpu", ["peers are measured on a GPU"]),
    ("make peers PEERS=triton", ["PEERS=triton: it can be none, which leaves all out but this repository and the floor"]),
    ("make ladder PREDICT=yes", ["PREDICT=yes: it can be 1; leave it out to switch it off"]),
    ("make lab02 SOLUTION=0", ["SOLUTION=0: it can be 1; leave it out to switch it off"]),
    ("make lab09 CASES=some", ["CASES=some: it can be all", "leave it out for the usual cases"]),
    ("make test MINUTES=soon", ["MINUTES=soon: it can be a whole number of minutes, for example 20"]),
    ("make lab02 VALUES=ties", ["make lab02 does not use VALUES=", "It is for: make peers"]),
]
# By a part of their text, messages of which no example stands above, and what one would need.
ELSEWHERE = {
    "a course that does not compile": ["the course's own code does not compile", "names no flags", "the benchmark does not compile", "the probe does not compile",
                                       "a solution is wrong or could not be measured", "the book does not agree with itself"],
    "a build": ["does not compile. The first error is in line", "does not compile; the first message above says where",
                "does not compile for the checks", "these experiments are about a GPU's memory and clocks",
                "make probe measures a GPU", "the executor's time says nothing about a block size", "was predicted for this GPU yet", "PREBUILT=1, but", "there is no case"],
    "a measurement": ["some variants are wrong, or refuse a shape", "no variant is right at"],
    "a GPU": ["does not compile for the executor, which predicts its time", "the roofs could not be measured", "the GPU could not be measured",
              "the experiments could not be run", "PyTorch is not installed", "compute-sanitizer is not found", "a tool could not do its work",
              "was measured on this machine yet"],
    "two GPUs": ["does not compile for the GPUs", "cannot run on GPUs"],
    "a disk that is full or read-only": ["is this folder read-only, or another user's?", "cannot write to"],
    "a copy without solutions": ["is missing: this copy of the course has no solutions"],
    "another system": ["python3 is not installed", "which is too old", "this is not a Debian or Ubuntu system", "not root, and no sudo", "apt-get could not install",
                       "python3-matplotlib and python3-numpy were installed"],
    "a diff that fails": ["diff could not compare"],
    "a cluster": ["GPUS=1 asks for speed"],
}
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

    @has_list
    def test_each_message_says_what_and_what_next_and_fits(self):
        for command, parts in sampled(MESSAGES, 8, "messages of the commands"):
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

    def test_every_message_of_the_commands_has_an_example(self):
        shown = " ".join(" ".join(parts) for _, parts in MESSAGES)
        looked_at = 0
        for path in sorted(Path(__file__).parent.glob("*.sh")):
            if path.name.startswith("test"):  # the course's own tests
                continue
            for text in re.findall(r'\bfail "([^\n]*?)(?:"|$)', path.read_text(), re.MULTILINE):
                fixed = [part.strip(" .;,:") for part in re.split(r"\$\{[^}]*\}+|\$\(.*|\$\w+|\\.|[;:] |'", text)]
                fixed = [part for part in fixed if len(part) > 8]
                looked_at += 1
                with self.subTest(path.name):
                    self.assertTrue(not fixed or any(part in shown for part in fixed) or any(part in text for parts in ELSEWHERE.values() for part in parts), text)
        self.assertGreater(looked_at, 60)

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
