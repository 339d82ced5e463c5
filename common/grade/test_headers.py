#!/usr/bin/env python3
"""The headers that g++ understands once: they change no code, and only a file that begins with them gets them."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
import unittest
from contextlib import nullcontext
from pathlib import Path

HERE = Path(__file__).resolve().parent
COURSE = HERE.parents[1]
sys.path.insert(0, str(HERE))
import headers  # noqa: E402
import judge  # noqa: E402
import points  # noqa: E402
import sandbox  # noqa: E402
import stages  # noqa: E402
from build import Workshop  # noqa: E402

LAB, KERNEL = "lab01_naive", "softmax_naive.cu"
LABEL = f"labs/{LAB}/{KERNEL}"
OWN = frozenset(("<cmath>", '"rung.h"'))


class FirstIncludes(unittest.TestCase):
    def test_comments_and_empty_lines_between_them(self):
        self.assertEqual(headers.first_includes('/* b\n c */\n// a\n#include <cmath>\n\n# include "rung.h" // d\nint x;\n#include <map>\n'),
                         ("<cmath>", '"rung.h"'))

    def test_a_macro_before_them(self):
        self.assertEqual(headers.first_includes("#define NDEBUG\n#include <cmath>\n"), ())


class AtOneTime(unittest.TestCase):
    def test_two_builds_that_are_made_at_one_time_have_two_names(self):
        """With one name the later would take the place of the other, and g++ would refuse it to all files of that build."""
        both, made = threading.Barrier(2, timeout=20), {}

        def preprocessed(build: str, source: str) -> str:
            both.wait()
            return "int one;\n"

        def compiled(build: str, text: str, name: str) -> str:
            made[build] = name
            return f"/{name}.gch"

        all_headers = headers.Headers(OWN, preprocessed, compiled)

        def ask(build: str) -> None:
            for _ in range(headers.WORTH_WHILE):
                all_headers.start_of(build, "#include <cmath>\nint mine;\n")

        threads = [threading.Thread(target=ask, args=(build,)) for build in ("plain", "checked")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(made), 2)
        self.assertNotEqual(made["plain"], made["checked"])


class Shortened(unittest.TestCase):
    def setUp(self):
        self.made: list[str] = []
        text = {"#include <cmath>\n": '# 0 "<stdin>"\n# 1 "headers"\n# 1 "/usr/include/cmath" 1 3\nint one;\n# 2 "headers" 2\n'}
        self.headers = headers.Headers(OWN, lambda build, source: text.get(source, ""), self.compiled)

    def compiled(self, build: str, text: str, name: str) -> str:
        self.made.append(text)
        return f"/{name}.gch" if text else ""

    def ask(self, text: str, source: str = "#include <cmath>\nint mine;\n") -> str:
        return self.headers.shortened("plain", source, text, "x.cu")

    def test_the_third_file_and_those_after_it(self):
        text = '# 0 "<stdin>"\n# 1 "x.cu"\n# 1 "/usr/include/cmath" 1 3\nint one;\n# 7 "x.cu" 2\nint mine;\n'
        self.assertEqual([self.ask(text) for _ in range(2)], [text] * 2)
        self.assertEqual([self.ask(text) for _ in range(2)], ['# 0 "<stdin>"\n#pragma GCC pch_preprocess "/1.gch"\n# 7 "x.cu"\nint mine;\n'] * 2)
        self.assertEqual(len(self.made), 1)

    def test_a_text_that_begins_otherwise_is_compiled_as_it_is(self):
        for text in ('# 0 "<stdin>"\n# 1 "x.cu"\n# 1 "/usr/include/cmath" 1 3\nint two;\n# 7 "x.cu" 2\nint mine;\n',
                     '# 0 "<stdin>"\n# 1 "x.cu"\nint mine;\n# 1 "/usr/include/cmath" 1 3\nint one;\n# 7 "x.cu" 2\n',
                     '# 0 "<stdin>"\n# 1 "x.cu"\n# 1 "/usr/include/cmath" 1 3\n'):
            self.assertEqual([self.ask(text) for _ in range(4)], [text] * 4)

    def test_what_may_not_be_included_is_never_asked_for(self):
        self.assertEqual([self.ask("t", "#include <secret>\n") for _ in range(4)], ["t"] * 4)
        self.assertEqual(self.made, [])

    def test_what_cannot_be_made(self):
        self.assertEqual([self.ask("t", '#include "rung.h"\n') for _ in range(4)], ["t"] * 4)


class SameCode(unittest.TestCase):
    def test_lines_and_code_of_a_solution(self):
        box = sandbox.find()
        stage = stages.make()
        try:
            box.settle(stage)
            workshop = Workshop(COURSE, stage, box, points.load(HERE / "points.toml", list(judge.labs_of(COURSE))).limits)
            source = (COURSE / "solutions" / LAB / KERNEL).read_bytes()
            builds = [workshop.compiled(source, LABEL, box.new_user(), nullcontext(), False, False) for _ in range(headers.WORTH_WHILE)]
            self.assertEqual([built.error for built in builds], [""] * len(builds))
            self.assertEqual([bool(start.file) for start in workshop.starts.starts.values()], [True, True])
            for build in ("plain", "checked"):
                self.assertEqual(self.lines(getattr(builds[0], build)), self.lines(getattr(builds[-1], build)))
            self.assertEqual(self.code(builds[0].plain), self.code(builds[-1].plain))
        finally:
            stages.remove(stage)

    def said(self, built: bytes, *command: str) -> list[str]:
        with tempfile.NamedTemporaryFile() as file:
            Path(file.name).write_bytes(built)
            return subprocess.run((*command, file.name), stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()

    def lines(self, built: bytes) -> list[str]:
        return [line for line in self.said(built, "objdump", "--dwarf=decodedline") if line.startswith(KERNEL)]

    def code(self, built: bytes) -> list[str]:
        return self.said(built, "objdump", "-d", "-s", "-j", ".text", "-j", ".rodata")[3:]


if __name__ == "__main__":
    unittest.main()
