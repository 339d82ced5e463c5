"""The commands meet bad input: one clear message, a status that is not zero, nothing lost; and the check of the course
itself finds what it is there to find."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "common/commands"))
import check_course  # noqa: E402


def run(*arguments: str, cwd: Path = ROOT, **variables: str) -> subprocess.CompletedProcess:
    environment = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MAKELEVEL", "BACKEND")}
    environment["LADDER_PROGRESS"] = os.path.join(tempfile.gettempdir(), f"progress-{os.getpid()}.json")  # no student's runs
    return subprocess.run(arguments, cwd=cwd, env={**environment, **variables}, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)


class BadInput(unittest.TestCase):
    def rejected(self, result: subprocess.CompletedProcess, *parts: str, most_lines: int = 4) -> None:
        self.assertNotEqual(result.returncode, 0, result.stdout)
        for part in parts:
            self.assertIn(part, result.stdout)
        noise = [line for line in result.stdout.splitlines() if line.startswith("make")]
        self.assertLessEqual(len(noise), 1, result.stdout)
        self.assertLessEqual(len(result.stdout.splitlines()), most_lines, result.stdout)
        self.assertNotIn("\x1b", result.stdout, "colours in a pipe")

    def test_unknown_lab_and_command(self):
        self.rejected(run("make", "lab77"), "there is no lab '77'", "lab02_smem")
        self.rejected(run("make", "hint77"), "there is no lab '77'")
        self.rejected(run("make", "cheese"), "there is no command 'cheese'")
        self.rejected(run("make", "test", "ONLY=cheese"), "ONLY=cheese: no check has that in its name")

    def test_files(self):
        self.rejected(run("make", "lab02", "FILE=missing.cu"), "missing.cu: no such file")
        self.rejected(run("make", "lab02", "FILE=README.md"), "README.md: a rung is a .cu file")
        self.rejected(run("make", "lab02", "FILE=x.cu", "SOLUTION=1"), "exclude each other")

    def test_backend(self):
        self.rejected(run("make", "lab02", "BACKEND=gpu"), "BACKEND=gpu is unknown")

    def test_commands_of_a_gpu_say_what_they_need(self):
        for command, words in (("sanitize02", "make lab02 runs checks of the same names"), ("profile-diff", "nothing to compare"),
                               ("peers", "measured on a GPU")):
            self.rejected(run("make", command, "BACKEND=cpu"), words)
        self.rejected(run("make", "sanitize77"), "there is no lab '77'")
        self.rejected(run("make", "sanitize02", "FILE=missing.cu"), "missing.cu: no such file")

    @unittest.skipIf(run(str(ROOT / "build/cpu/backend"), "--name", BACKEND="cuda").returncode == 0
                     if (ROOT / "build/cpu/backend").exists() else False, "there is a GPU")
    def test_without_a_gpu(self):
        for command in ("sanitize02", "profile-diff", "peers"):
            self.rejected(run("make", command), "there is no CUDA device")
        self.rejected(run("make", "profile02", "BACKEND=cuda"), "there is no CUDA device")

    def test_case(self):
        self.rejected(run("make", "lab02", "SOLUTION=1", "BACKEND=cpu", "CASE=normal-7x60"), "no case is called normal-7x60", "normal-7x600")

    def test_syntax_error(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "broken.cu"
            file.write_text('#include "rung.h"\n__global__ void kernel(float* x) { x[0] = ; }\n')
            self.rejected(run("make", "lab02", "BACKEND=cpu", f"FILE={file}"), "broken.cu:2:", "does not compile", most_lines=8)

    def test_file_that_exports_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "empty.cu"
            file.write_text('#include "rung.h"\n')
            self.rejected(run("make", "lab02", "BACKEND=cpu", f"FILE={file}"), "RUNG_EXPORT")

    def test_unwritable_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "course"
            shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns("build", ".git", "*.png"))
            (copy / "build").write_text("a file where a folder must be")
            self.rejected(run("make", "lab02", cwd=copy), "cannot write to")
            self.rejected(run("make", "hint02", cwd=copy), "cannot write to")


class Commands(unittest.TestCase):
    def test_make_help_lists_the_commands(self):
        result = run("make", "help")
        self.assertEqual(result.returncode, 0)
        for command in ("make ladder", "make lab02", "make watch02", "make hint02", "make diff02", "make status", "make test"):
            self.assertIn(command, result.stdout)

    def test_hints_come_one_at_a_time_and_stay(self):
        seen = ROOT / "build/hints/lab03_online"
        before = seen.read_text() if seen.exists() else None
        try:
            first = run("make", "hint03", RESET="1").stdout
            second = run("make", "hint03").stdout
        finally:
            if before is not None:
                seen.write_text(before)
            else:
                seen.unlink(missing_ok=True)
        self.assertIn("## Hint 1", first)
        self.assertNotIn("## Hint 2", first)
        self.assertIn("## Hint 1", second)
        self.assertIn("## Hint 2", second)
        self.assertNotIn("## Hint 3", second)

    def test_a_rung_of_another_lab(self):
        result = run("make", "lab02", "BACKEND=cpu", "CASE=normal-7x600", "FILE=solutions/lab03_online/softmax_online.cu")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("online_f32x4", result.stdout)


class CourseCheck(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for part in ("labs", "solutions"):
            shutil.copytree(ROOT / part, self.root / part)
        self.starter = self.root / "labs/lab02_smem/softmax_smem.cu"

    def finds(self, part: str) -> None:
        self.assertIn(part, "\n".join(check_course.check(self.root)))

    def test_the_course_is_in_order(self):
        self.assertEqual(check_course.check(self.root), [])

    def test_drift(self):
        self.starter.write_text(self.starter.read_text().replace("threads = 256", "threads = 128"))
        self.finds("outside the regions")

    def test_lost_region(self):
        self.starter.write_text(self.starter.read_text().replace("// END 2", "// end"))
        self.finds("region 3 begins inside region 2")

    def test_line_added_at_the_end(self):
        self.starter.write_text(self.starter.read_text() + "int more;\n")
        self.finds("different numbers of lines")

    def test_predictions(self):
        solution = self.root / "solutions/lab02_smem/softmax_smem.cu"
        readme = self.root / "labs/lab02_smem/README.md"
        text = solution.read_text()
        solution.write_text(text.replace('"tree_barriers"', '"barriers_of_the_tree"'))
        self.finds("'tree_barriers'], ")
        solution.write_text(text.replace('"tree_barriers", 2 * (1 + 8 + 1)', '"tree_barriers", rung::unknown'))
        self.finds("softmax_smem.cu: tree_barriers is not filled in")
        solution.write_text(text)
        self.starter.write_text(self.starter.read_text().replace('"tree_barriers", rung::unknown', '"tree_barriers", 20'))
        self.finds("softmax_smem.cu: tree_barriers is filled in already")
        readme.write_text(readme.read_text().replace("`float4_loads`", "float4 loads"))
        self.finds("README.md: says nothing of the prediction float4_loads")

    def test_numbers_begin_at_0_or_1(self):
        self.assertEqual(check_course.check(self.root), [])
        self.starter.write_text(self.starter.read_text().replace("TODO 1:", "TODO 7:").replace("END 1", "END 7"))
        self.finds("regions are numbered [0, 7, 2, 3, 4, 5]")

    def test_missing_and_stray_files(self):
        (self.root / "labs/lab02_smem/hints.md").unlink()
        (self.root / "labs/lab03_online/notes.txt").write_text("")
        (self.root / "solutions/lab04_f16x8/more.cu").write_text("")
        self.finds("hints.md is missing")
        self.finds("notes.txt: does not belong")
        self.finds("more.cu: a solution is one file")

    def test_too_few_hints(self):
        (self.root / "labs/lab02_smem/hints.md").write_text("## Hint 1\n\n## Hint 2\n")
        self.finds("needs sections")


if __name__ == "__main__":
    unittest.main()
