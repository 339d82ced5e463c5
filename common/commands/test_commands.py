"""The commands meet bad input: one clear message, a status that is not zero, nothing lost; and the check of the course
itself finds what it is there to find."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "common/commands"), str(ROOT / "common")]
import check_course  # noqa: E402
import course_copy  # noqa: E402
from course.sampling import left_to_rest  # noqa: E402


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
        for command in ("cheese", "labs", "theory"):  # the last two are folders
            self.rejected(run("make", command), f"there is no command '{command}'")
        self.rejected(run("make", "clean"), "Everything that is built is in build/: delete that folder.")
        self.rejected(run("make", "check", "SUBMISSIONS=/nowhere", "OUT=out"), "SUBMISSIONS=/nowhere: it can be a folder")
        self.rejected(run("make", "test", "ONLY=cheese"), "ONLY=cheese: no check has that in its name")

    def test_a_near_name_is_suggested(self):
        self.rejected(run("make", "statsu"), "there is no command 'statsu'. Do you mean status?")
        self.rejected(run("make", "decid"), "there is no command 'decid'. Do you mean decide?")
        self.rejected(run("make", "hnit02"), "Do you mean hint02?")
        self.rejected(run("make", "lab02", "VARAINT=tree"), "there is no option VARAINT=. Do you mean VARIANT?")
        self.rejected(run("make", "lab02", "case=normal-7x33"), "there is no option case=. Do you mean CASE?")
        self.rejected(run("make", "lab02", "Zebra=1"), "there is no option Zebra=. `make help`")

    def test_a_command_without_its_lab(self):
        for command in ("lab", "watch", "hint", "diff", "profile", "sanitize", "sweep"):
            last = "09" if command in ("lab", "watch", "hint") else "08c"
            self.rejected(run("make", command), f"make {command}: which lab? make {command}01 to make {command}{last}.")

    def test_a_second_rung_keeps_its_letter(self):
        self.rejected(run("make", "diff06b"), "Run make lab06b first. A hint gives away less: make hint06b.")
        self.rejected(run("make", "lba06b"), "Do you mean lab06b?")
        self.assertIn("make hint06b shows the next", run("make", "hint6b").stdout)

    def test_an_option_of_another_command(self):
        self.rejected(run("make", "ladder", "SHAPE=4"), "make ladder does not use SHAPE=. It is for: make profile01")
        self.rejected(run("make", "hint02", "CASE=x"), "make hint02 does not use CASE=. It is for: make lab01, make watch01, make sanitize01")
        self.rejected(run("make", "lab02", "OVER=threads"), "make lab02 does not use OVER=. It is for: make sweep01")
        self.rejected(run("make", "status", "SOLUTION=1"), "make status does not use SOLUTION=.")
        self.rejected(run("make", "lab02", "LAB=lab03"), "make lab02 does not use LAB=. It is for: make decide")
        self.rejected(run("make", "lab02", "POINTS=5"), "make lab02 does not use POINTS=. It is for: make check, make decide")
        self.assertEqual(run("make", "help", GPU="h100").returncode, 0, "in the environment it is for whoever uses it")

    def test_what_is_no_value(self):
        self.rejected(run("make", "lab02", "CASES=al"), "CASES=al: it can be all, or huge on a GPU")
        self.assertIn("CASES=huge is for a GPU", run("make", "lab02", "SOLUTION=1", "BACKEND=cpu", "VARIANT=tree", "CASE=normal-7x1", "CASES=huge").stdout)
        self.rejected(run("make", "lab02", "SOLUTION=1", "BACKEND=cpu", "VARIANT=tre"), "no variant is called tre; ", "serial f32, tree f32")
        self.rejected(run("make", "lab05", "SOLUTION=1", "BACKEND=cpu", "VARIANT=online f32", "CASE=move-*", "CHECKS=off"), "moves are counted by the")

    def test_files(self):
        self.rejected(run("make", "lab02", "FILE=missing.cu"), "missing.cu: no such file")
        self.rejected(run("make", "lab02", "FILE=README.md"), "README.md: a rung is a .cu file")
        self.rejected(run("make", "lab02", "FILE=x.cu", "SOLUTION=1"), "exclude each other")

    def test_backend(self):
        self.rejected(run("make", "lab02", "BACKEND=gpu"), "BACKEND=gpu: it can be auto, cuda or cpu")

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
            shutil.copytree(ROOT, copy, ignore=lambda at, _: ["build", ".git"] if at == str(ROOT) else [])
            (copy / "build").write_text("a file where a folder must be")
            self.rejected(run("make", "lab02", cwd=copy), "cannot write to")
            self.rejected(run("make", "hint02", cwd=copy), "cannot write to")


class SetUp(unittest.TestCase):
    def test_the_python_is_chosen_again_after_set_up(self):
        """Another python3 stands first on the PATH, and the distribution's has its packages only after set-up."""
        with tempfile.TemporaryDirectory() as folder:
            commands = Path(folder) / "common/commands"
            commands.mkdir(parents=True)
            for name in ("common.sh", "options.sh"):
                shutil.copy(ROOT / "common/commands" / name, commands)
            (commands / "setup.sh").write_text("#!/bin/sh\necho \"$*\" > installed\n")
            (commands / "setup.sh").chmod(0o755)
            script = """. common/commands/common.sh
                has_modules() { [ "$1" = /usr/bin/python3 ] && [ -e installed ]; }
                choose_python; echo $python; set_up --docs; echo $python; cat installed"""
            result = run("bash", "-c", script, cwd=Path(folder))
        self.assertEqual(result.stdout.split("\n"), ["python3", "/usr/bin/python3", "--quiet --docs", ""])

    @unittest.skipUnless(Path("/usr/bin/python3").exists(), "the distribution's python3 is not installed")
    def test_an_older_python_first_on_the_path(self):
        """It has no tomllib; one that does nothing at all stands for it."""
        with tempfile.TemporaryDirectory() as folder:
            older = Path(folder) / "python3"
            older.write_text("#!/bin/sh\necho an older python3 was run >&2\nexit 1\n")
            older.chmod(0o755)
            copy = course_copy.copy_course(Path(folder))
            path = f"{folder}:{os.environ['PATH']}"
            first = run("make", cwd=copy, PATH=path)
            self.assertEqual(first.returncode, 0, first.stdout)
            self.assertIn("make lab01", first.stdout)
            suggested = run("make", "lba02", cwd=copy, PATH=path).stdout
            self.assertIn("Do you mean lab02?", suggested)
            object = "build/cpu/checked/labs/lab01_naive/softmax_naive.so"
            built = run("make", "-n", "-f", "common/build/rules.mk", object, "build/cpu/tests/lab01_naive", cwd=copy, PATH=path, LADDER_PYTHON="", PYTHON="")
            self.assertEqual(built.returncode, 0, built.stdout)  # labs.mk is made, whatever -n says
            self.assertIn("/usr/bin/python3 common/simt/timing/operations", built.stdout)
            self.assertIsNone(re.search(r"(?<![/\w])python3 ", built.stdout), built.stdout)
            for output in (first.stdout, suggested, built.stdout):
                self.assertNotIn("an older python3 was run", output)

    def test_no_python_is_new_enough(self):
        script = ". common/commands/common.sh; has_modules() { false; }; choose_python; need_python"
        result = run("bash", "-c", script)
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stdout, r"^error: python3 is \d+\.\d+\.\d+, which is too old: the course needs 3\.11 or later")

    def test_set_up_in_the_container_image(self):
        """With the files alone that the image gets, of which apt-get has one package to install."""
        copied = re.search(r"^COPY (.*) /tmp/setup/(\S+)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
        ignored, *kept = (ROOT / ".dockerignore").read_text().split()
        self.assertEqual((ignored, [name.removeprefix("!") for name in kept]), ("*", copied[1].split()))
        with tempfile.TemporaryDirectory() as folder:
            commands, tools = Path(folder) / "setup" / copied[2], Path(folder) / "bin"
            commands.mkdir(parents=True)
            tools.mkdir()
            for name in copied[1].split():
                shutil.copy(ROOT / name, commands)
            for name, text in (("apt-get", ""), ("id", "echo 0")):
                (tools / name).write_text(f"#!/bin/sh\n{text}\n")
                (tools / name).chmod(0o755)
            done = subprocess.run([commands / "setup.sh", "--docs"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  env={"PATH": f"{tools}:{os.environ['PATH']}", "CXX": "no-such-compiler"})
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertEqual(done.stdout.splitlines()[-1], "installed")

    def test_a_module_that_is_not_there(self):
        script = ". common/commands/common.sh; has_modules python3 json && ! has_modules python3 json no_such_module"
        self.assertEqual(run("bash", "-c", script).returncode, 0)

    def test_a_build_is_counted_on_a_terminal_alone(self):
        targets = "build/cpu/worker build/cpu/tests/lab01_naive"
        script = f""". common/commands/common.sh
            make -s -n -B --trace -f common/build/rules.mk {targets} | show_progress 30 2>&1 | tr '\\r' '|'
            echo; build {targets}; echo end"""
        lines = run("bash", "-c", script).stdout.split("\n")
        shown = lines[0].replace("\x1b[K", "").split("|")
        self.assertEqual(shown[1:3], ["building: 1 of 30", "building: 2 of 30"])
        self.assertGreater(len(shown), 30)
        self.assertEqual(shown[-1], "", "the line is taken away")
        self.assertEqual(lines[1:], ["end", ""], "in a log there is none")

    def test_targets_of_every_makefile_are_counted(self):
        """Not those of rules.mk alone."""
        script = """. common/commands/common.sh
            make -s -n -B --trace -f common/build/rules.mk build/cpu/worker build/cpu/warp_counts simtcc-parts build/ladder/h200/lab01_naive.4096.there \
              build/cuda/probe NVCC=nvcc 2>/dev/null |
              grep "$traced" | cut -d: -f1 | sort -u"""
        counted = set(run("bash", "-c", script).stdout.split())
        self.assertEqual(counted, {str(file.relative_to(ROOT)) for file in (ROOT / "common/build").glob("*.mk")})

    def test_every_command_sets_up_by_set_up(self):
        for script in sorted((ROOT / "common/commands").glob("*.sh")):
            if script.name != "common.sh":
                self.assertNotIn("/setup.sh", script.read_text(), script.name)


class Options(unittest.TestCase):
    def setUp(self):
        self.known = re.search(r"^options := ((?:.*\\\n)*.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[1].replace("\\", " ").split()
        script = '. common/commands/options.sh; for option in "${!used_by[@]}"; do echo "$option ${used_by[$option]}"; done'
        self.used_by = {option: commands for option, *commands in map(str.split, run("bash", "-c", script).stdout.splitlines())}

    def test_every_option_has_its_commands(self):
        """Without an entry it would be accepted, and ignored, by all of them."""
        self.assertEqual(sorted(self.used_by), sorted(self.known))
        targets = set(re.findall(r"^([a-z][a-z-]*)%?:", run("make", "-pq", "help").stdout, re.MULTILINE))
        for option, commands in self.used_by.items():
            self.assertTrue(commands == ["any"] or commands and set(commands) <= targets, (option, commands))

    def test_documented_command_lines_are_accepted(self):
        looked_at = 0
        for path in (path for top in ("README.md", "CONTRIBUTING.md", "theory", "labs", "common", "plots") for path in
                     ([ROOT / top] if top.endswith(".md") else sorted((ROOT / top).rglob("*.md")))):
            commands = re.findall(r"make ([a-z]+(?:-[a-z]+)*)[0-9N]*[a-z]?((?: [A-Z_]+=[^ `,;)\n]*)+)", path.read_text())
            for command, options in commands:
                for option in re.findall(r" ([A-Z_]+)=", options):
                    looked_at += 1
                    with self.subTest(path.relative_to(ROOT)):
                        self.assertTrue({"any", command} & set(self.used_by[option]), f"make {command}{options}")
        self.assertGreater(looked_at, 80)

    def test_the_makefile_knows_what_the_commands_ask_for(self):
        """An option that a command reads and the Makefile does not know would be refused."""
        no_options = {"NCCL_HOME", "NO_COLOR", "BASH_SOURCE", "BASH_REMATCH", "UNKNOWN_OPTIONS", "GIVEN_OPTIONS", "GIVEN_COMMANDS"}
        for script in sorted((ROOT / "common/commands").glob("*.sh")):
            asked = {name for name in re.findall(r"\$\{([A-Z][A-Z_]+)(?::-\S*)?\}", script.read_text()) if not name.startswith("LADDER_")}
            self.assertEqual(asked - set(self.known) - no_options, set(), script.name)


class Commands(unittest.TestCase):
    def test_the_readme_is_no_manual(self):
        self.assertLessEqual(len((ROOT / "README.md").read_text().split()), 900)

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

    def test_hints_for_one_todo(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = course_copy.copy_course(Path(folder))

            def hint(*options: str) -> str:
                return course_copy.run(copy, "make", "hint02", *options).stdout

            first = hint("TODO=2")
            self.assertIn("## Hint 3 (TODO 2)", first)
            self.assertNotIn("## Hint 1", first)
            self.assertNotIn("## Hint 4", first)
            self.assertIn("1 of 2 hints for TODO 2. make hint02 TODO=2 shows the next", first)
            second = hint("TODO=2")
            self.assertIn("## Hint 3", second)
            self.assertIn("## Hint 4", second)
            self.assertIn("That was the last of 2 hints for TODO 2", second)
            self.assertIn("That was the only hint for TODO 4", course_copy.run(copy, "make", "hint05", "TODO=4").stdout)
            every = hint()
            self.assertIn("## Hint 1", every)
            self.assertNotIn("## Hint 2", every)
            self.assertIn("## Hint 4", every, "what was seen stays")
            self.assertRegex(course_copy.run(copy, "make", "status").stdout, r"lab02_smem .* 3 of 7\n")
            self.assertIn("TODO=9: it can be 1, 2, 3, 4, 5, 6, 7, the TODOs of lab02_smem that have hints", hint("TODO=9"))
            self.assertIn("CASE='predict-*'", hint("TODO=0"))

    def test_one_variant(self):
        result = run("make", "lab05", "SOLUTION=1", "BACKEND=cpu", "VARIANT=online f16", "CASE=normal-7x33-k5")
        self.assertEqual(result.stdout.splitlines()[-1], "1 passed, 0 failed")
        result = run("make", "lab05", "SOLUTION=1", "BACKEND=cpu", "VARIANT=online", "CASE=normal-7x33-k5")
        self.assertEqual(result.stdout.splitlines()[-1], "3 passed, 0 failed")
        result = run("make", "lab01", "SOLUTION=1", "BACKEND=cpu", "VARIANT=no_max")
        self.assertEqual(result.stdout.splitlines()[-1], "2 passed, 0 failed")

    def test_a_warning_comes_once(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "warned.cu"
            text = (ROOT / "solutions/lab01_naive/softmax_naive.cu").read_text()
            file.write_text(text.replace("__device__ float row_max(", "__device__ int no_use(int unused) { return 3; }\n__device__ float row_max("))
            self.assertNotEqual(file.read_text(), text)
            result = run("make", "lab01", "BACKEND=cpu", f"FILE={file}", "VARIANT=per_row", "CASE=normal-7x33")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertEqual(result.stdout.count("warning: unused parameter"), 1, result.stdout)

    def test_a_rung_of_another_lab(self):
        result = run("make", "lab02", "BACKEND=cpu", "CASE=normal-7x600", "FILE=solutions/lab03_online/softmax_online.cu")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("online_f32x4", result.stdout)


@unittest.skipUnless(shutil.which("git"), "git is not installed")
class Repository(unittest.TestCase):
    @left_to_rest
    def test_what_is_measured_stays_outside(self):
        """After the commands that measure and draw, git sees no change; with PUBLISH=1 it does."""
        with tempfile.TemporaryDirectory() as folder:
            copy = course_copy.copy_course(Path(folder), built=True)
            git = ("git", "-c", "user.name=x", "-c", "user.email=x@x", "-c", "core.excludesFile=/dev/null")
            for command in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "x")):
                self.assertEqual(run(*git, *command, cwd=copy).returncode, 0)
            for command in ("lab01 SOLUTION=1", "roofline", "profile01 SOLUTION=1", "hint01"):
                result = course_copy.run(copy, "make", *command.split())
                self.assertEqual(result.returncode, 0, result.stdout)
            self.assertEqual(run(*git, "status", "--porcelain", cwd=copy).stdout, "")
            self.assertTrue((copy / "plots/roofline.svg").exists())
            for path in (copy / "plots/local").iterdir():
                shutil.copy(path, copy / "plots/results" / path.name)
            result = course_copy.run(copy, "make", "roofline", "PUBLISH=1")
            self.assertIn("plots/roofline-predicted-h200.svg", result.stdout)
            self.assertIn("plots/roofline-predicted-h200.svg", run(*git, "status", "--porcelain", cwd=copy).stdout)


class TheTestItself(unittest.TestCase):
    def test_what_is_skipped_is_counted(self):
        """Without clang-format and doxygen on the PATH."""
        with tempfile.TemporaryDirectory() as folder:
            for place in os.environ["PATH"].split(":"):
                for tool in Path(place).glob("*"):
                    if tool.name not in ("clang-format", "doxygen") and not (Path(folder) / tool.name).is_symlink():
                        (Path(folder) / tool.name).symlink_to(tool)
            result = run("make", "test", "ONLY=course:,format,docs", PATH=folder)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("skipped: format: clang-format: clang-format is not installed\n", result.stdout)
        self.assertIn("skipped: docs: the web site: doxygen, ", result.stdout)
        self.assertEqual(result.stdout.splitlines()[-1], "1 passed, 0 failed, 2 skipped")


class CourseCheck(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for part in ("labs", "solutions"):
            shutil.copytree(ROOT / part, self.root / part)
        (self.root / "common").symlink_to(ROOT / "common")  # the tests of labs that are programs stand there
        self.starter = self.root / "labs/lab02_smem/softmax_smem.cu"

    def finds(self, part: str) -> None:
        self.assertIn(part, "\n".join(check_course.check(self.root)))

    def test_the_course_is_in_order(self):
        self.assertEqual(check_course.check(self.root), [])

    def test_a_wrong_kernel_that_the_solution_has_outgrown(self):
        solution = self.root / "solutions/lab02_smem/softmax_smem.cu"
        solution.write_text(solution.read_text().replace("half = threads / 2;", "half = blockDim.x / 2;"))
        self.finds("solutions/lab02_smem/broken.toml, [endless_loop]: edit 1 does not apply")

    def test_the_top_of_the_repository(self):
        for name in check_course.TOP:
            (self.root / name).mkdir(exist_ok=True)
        self.assertEqual(check_course.check_top(self.root), [])
        (self.root / "notes.txt").write_text("")
        (self.root / ".editor").write_text("")
        (self.root / "LICENSE").rmdir()
        missing, stray = check_course.check_top(self.root)
        self.assertIn("LICENSE is missing", missing)
        self.assertIn("notes.txt: does not belong at the top", stray)

    def test_drift(self):
        self.starter.write_text(self.starter.read_text().replace("threads = 256", "threads = 128"))
        self.finds("outside the regions")

    def test_lost_region(self):
        self.starter.write_text(self.starter.read_text().replace("// END 2", "// end"))
        self.finds("region 3 begins inside region 2")

    def test_line_added_at_the_end(self):
        self.starter.write_text(self.starter.read_text() + "int more;\n")
        self.finds("different numbers of lines")

    def test_a_starter_whose_todo_has_changed(self):
        self.starter.write_text(self.starter.read_text().replace("  (void)x;\n  // END 1", "  (void)x, (void)row;\n  // END 1"))
        self.finds("handed_out.json: is not of these starters")

    def test_predictions(self):
        solution = self.root / "solutions/lab02_smem/softmax_smem.cu"
        readme = self.root / "labs/lab02_smem/README.md"
        text = solution.read_text()
        solution.write_text(text.replace('"tree_barriers"', '"barriers_of_the_tree"'))
        self.finds("'tree_barriers', ")
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
        self.finds("regions are numbered [0, 7, 2, 3, 4, 5, 6, 7]")

    def test_missing_and_stray_files(self):
        (self.root / "labs/lab02_smem/hints.md").unlink()
        (self.root / "labs/lab03_online/notes.txt").write_text("")
        (self.root / "solutions/lab04_f16x8/more.cu").write_text("")
        self.finds("hints.md is missing")
        self.finds("notes.txt: does not belong")
        self.finds("more.cu: does not belong beside a solution")

    def test_too_few_hints(self):
        (self.root / "labs/lab02_smem/hints.md").write_text("## Hint 1 (TODO 1, 2, 3, 4, 5, 6, 7)\n\n## Hint 2 (TODO 1)\n")
        self.finds("needs sections")

    def test_a_todo_without_a_hint(self):
        hints = self.root / "labs/lab02_smem/hints.md"
        hints.write_text(hints.read_text().replace("(TODO 4, 5)", "(TODO 4)"))
        self.finds("has hints for TODO [1, 2, 3, 4, 6, 7]; the starter has [1, 2, 3, 4, 5, 6, 7]")


if __name__ == "__main__":
    unittest.main()
