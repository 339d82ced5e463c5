"""Sharded softmax + top-K (sharded/): right on any number of devices, and every wrong program of broken.toml is found."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from course.sampling import has_list, in_turn, sampled  # noqa: E402
from testing import broken_program  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "common/bench/sharded"
LAB = ROOT / "solutions/lab09_sharded/sharded_topk.cu"
SIMTCC = ROOT / "common/simt/simtcc"
NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")


# As in common/build/rules.mk.
INCLUDES = [word for folder in ("rung", "testing", "reference") for word in ("-I", ROOT / "common" / folder)]
JUDGE = ROOT / "build/cpu/sharded/judge.o"
MODES = {"plain": [], "check": ["--check", "-DONLY_F32"], "profile": ["--profile", "-DONLY_F32"]}


def run(*command, seconds=300, **environment):
    return subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          cwd=ROOT, env={**os.environ, **environment}, timeout=seconds)


def simtcc(*arguments, sources=SOURCES):
    return run(sys.executable, SIMTCC, "-I", sources, *INCLUDES, *arguments)


class Sharded(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = Path(temporary.name)
        cls.pool = ThreadPoolExecutor(os.cpu_count())
        # What is given, as make lab09 has it built. What is instrumented for the checks can be counted, too.
        built = {mode: [ROOT / f"build/cpu/sharded/{mode}/{part}.o" for part in ("sharded_test", "local_topk")] for mode in ("plain", "check")}
        cls.given = {**built, "profile": built["check"]}
        made = run("make", "-s", f"-j{os.cpu_count()}", "-f", "common/build/rules.mk", JUDGE.relative_to(ROOT),
                   *(path.relative_to(ROOT) for paths in built.values() for path in paths), seconds=900)
        if made.returncode:
            raise AssertionError(made.stdout)

    def build(self, mode, name, file=LAB, sources=SOURCES, test=None):
        """The program with a file for lab 09's. test: another test than that which is built already."""
        given = self.given[mode]
        made = simtcc(*MODES[mode], file, test or given[0], given[1], JUDGE, "-o", self.folder / name, sources=sources)
        self.assertEqual(made.returncode, 0, made.stdout)
        return self.folder / name

    def solution(self, mode):
        """Its program, built once."""
        made = self.folder / f"{mode}-solution"
        return made if made.exists() else self.build(mode, made.name)

    @has_list
    def test_right_on_any_number_of_devices(self):
        program = self.solution("plain")
        runs = [("3", "f32"), ("1", "all"), ("2", "all"), ("8", "f32"), ("4", "bf16")]
        for devices, type in sampled(runs, 3, "numbers of devices of lab 09"):
            with self.subTest(devices=devices):
                result = run(program, type, SIMT_DEVICES=devices)
                self.assertEqual(result.stdout, f"PASS on {devices} devices\n")

    @has_list
    def test_clean_under_the_checks(self):
        program = self.solution("check")
        for devices in sampled(["3", "1"], 2, "numbers of devices of lab 09 under the checks"):
            with self.subTest(devices=devices):
                result = run(program, SIMT_DEVICES=devices)
                self.assertEqual(result.stdout, f"PASS on {devices} devices\n")

    def test_the_solutions_predictions_and_others(self):
        program = self.solution("plain")
        self.assertEqual(run(program, "predict", "2.17").returncode, 0)
        wrong = run(program, "predict", "5")
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("one_shot_gain: 2 is not it", wrong.stdout)

    @in_turn(2)
    def test_the_command(self):
        starter = run("common/commands/lab.sh", "09", seconds=600, BACKEND="cpu")
        self.assertEqual(starter.returncode, 1, starter.stdout)
        for said in ("packed_bytes is not filled in yet", "Next: edit labs/lab09_sharded/sharded_topk.cu\n", "  line 13, TODO 0: predict before", "A hint: make hint09",
                     "as where a TODO is not written yet", "grid.x is 0", "0 passed, 5 failed"):
            self.assertIn(said, starter.stdout)
        solution = run("common/commands/lab.sh", "09", seconds=600, BACKEND="cpu", SOLUTION="1", VARIANT="packed", CASE="uneven")
        self.assertEqual(solution.returncode, 0, solution.stdout)
        self.assertIn("5 passed, 0 failed", solution.stdout)
        for said, options in (("error: VARIANT=pack: it can be three_reductions, packed, one_shot, one_shot_ll, the variants of lab09_sharded", {"VARIANT": "pack"}), ('error: there is no case "unevn". Do you mean uneven? The cases are: even, ', {"CASE": "unevn"}), ('error: there is no case "row". ', {"CASE": "row"})):
            refused = run("common/commands/lab.sh", "09", **{"BACKEND": "cpu", "SOLUTION": "1", "VARIANT": "packed", **options})
            self.assertEqual(refused.returncode, 2, refused.stdout)
            self.assertEqual(refused.stdout.splitlines()[0][:len(said)], said)  # before anything is compiled that takes long
        wrong = run("common/commands/lab.sh", "09", seconds=600, BROKEN="no_offset")
        self.assertEqual(wrong.returncode, 1, wrong.stdout)
        for said in ("The columns are those of the shard", "packed  f32, 3 devices under the checks                    FAIL", "FAIL packed", "0 passed, 1 failed"):
            self.assertIn(said, wrong.stdout)
        self.assertIn("has no rung", run("common/commands/profile.sh", "09").stdout)

    def test_a_case_that_does_not_end(self):
        endless = self.folder / "endless.cu"
        right = LAB.read_text()
        waits = "while (static_cast<int>(theirs.load(cuda::memory_order_acquire) - number) < 0) {"
        self.assertEqual(right.count(waits), 1)
        endless.write_text(right.replace(waits, "for (int i = 0; i >= 0; i = (i + 1) % 9) {"))
        line = 1 + right[:right.index(waits)].count("\n")
        program = self.build("plain", "endless", endless)
        result = run(program, "f32", "one_shot", "even", SIMT_DEVICES="2", LADDER_PATIENCE="0.1")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn('FAIL one_shot, "even", f32, 2 devices: not done after 3 s\n', result.stdout)
        self.assertRegex(result.stdout, rf"timeout in block \(\d,0,0\), thread \(\d,0,0\) at .*endless.cu:({line}|{line + 1})\n")

    def test_bytes_over_links(self):
        # 3 calls, 4 rows of 960 floats on 3 devices, k = 20: what goes over each link.
        message = 3 * 4 * 21 * 8
        flags = 3 * 4 * (4 + 4)  # one per row; an atomic store counts as an exchange, with 4 bytes back
        expected = {"gather_logits": 3 * 4 * 320 * 4, "three_reductions": 3 * 4 * (8 + 8 * 20), "packed": message, "one_shot": message + flags,
                    "one_shot_ll": 2 * (message + message)}  # 16 bytes per word; an atomic store counts as an exchange, with as many back
        program = self.solution("profile")
        for variant, moved in expected.items():
            with self.subTest(variant):
                result = run(program, "f32", variant, "even", SIMT_DEVICES="3", SIMT_PROFILE=str(self.folder / "counters.json"))
                self.assertIn("PASS", result.stdout)
                for a, b in (0, 1), (1, 0), (0, 2), (2, 1):
                    self.assertIn(f"from device {a} to device {b}: {moved} bytes", result.stdout)

    def test_the_benchmark_compiles(self):
        made = simtcc("-O0", "-c", SOURCES / "sharded_bench.cu", "-o", self.folder / "bench.o")
        self.assertEqual(made.returncode, 0, made.stdout)

    @unittest.skipUnless(NVCC, "nvcc is not installed")
    @has_list
    def test_nvcc_takes_all_of_it(self):
        # NCCL's header is not part of CUDA: the executor's has the same declarations.
        headers = self.folder / "nccl"
        headers.mkdir()
        shutil.copy(ROOT / "common/simt/include/nccl.h", headers)
        files = [LAB, SOURCES / "local_topk.cu", SOURCES / "sharded_test.cu", SOURCES / "sharded_bench.cu"]
        for file in sampled(files, 4, "files of lab 09 for nvcc"):
            made = run(NVCC, "-std=c++17", "-arch=sm_90", "-I", SOURCES, *INCLUDES, "-I", headers, "-c", file,
                       "-o", self.folder / "by_nvcc.o")
            self.assertEqual((made.returncode, made.stdout), (0, ""))

    @has_list
    def test_every_wrong_program_is_found(self):
        entries = broken_program.load()

        def verdict(name):
            folder = self.folder / name
            wrong = broken_program.program(name)
            file = wrong.write(folder)
            # If the headers are changed, the test's functions of them are, too.
            program = self.build("check", f"{name}.out", file, folder, folder / "sharded_test.cu" if wrong.given_changed else None)
            return run(program, "f32", wrong.entry["variant"], SIMT_DEVICES=str(wrong.devices))

        names = sampled(list(entries), 11, "wrong programs of lab 09")
        for name, result in zip(names, self.pool.map(verdict, names)):
            with self.subTest(name):
                self.assertNotEqual(result.returncode, 0, result.stdout)
                self.assertIn(entries[name]["verdict"], result.stdout)


if __name__ == "__main__":
    unittest.main()
