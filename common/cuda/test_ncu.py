"""ncu.py on what Nsight Compute 2025.3.1 printed on an H200 about launch_once with 4 x 600 floats: testdata/reads_its_output.cu
and the variant `serial` of lab 02. Of its columns those are kept that are read, and the folder is another."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(Path(__file__).resolve().parent))
import ncu  # noqa: E402
import profile_diff  # noqa: E402
import read_counters  # noqa: E402

DATA = ROOT / "common/cuda/testdata"
LOADS, LOAD_SECTORS = (ncu.GLOBAL.format(what=what, op="ld") for what in ("requests", "sectors"))
STORES = ncu.GLOBAL.format(what="requests", op="st")
SHARED = ncu.SHARED_WAVEFRONTS.format(op="ld")


def recorded() -> list[dict]:
    launches = ncu.read_raw((DATA / "ncu_raw.csv").read_text())
    ncu.join_lines(launches, ncu.read_source((DATA / "ncu_source.csv").read_text()), str(ROOT))
    return ncu.by_variant(launches, (DATA / "launch_once.txt").read_text())


class Recorded(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.variants = recorded()
        cls.adds, cls.serial = (each["report"]["launches"] for each in cls.variants)

    def test_variants_by_their_marks(self):
        self.assertEqual([(each["variant"], each["dtype"]) for each in self.variants], [("adds", "f32"), ("serial", "f32")])
        self.assertEqual([[launch["kernel"] for launch in launches] for launches in (self.adds, self.serial)],
                         [["add_kernel"], ["serial_kernel"]])
        self.assertEqual((self.adds[0]["grid"], self.adds[0]["block"]), ([10, 1, 1], [256, 1, 1]))

    def test_totals_are_what_2400_floats_need(self):
        """75 warps read x and y, 128 bytes each, and write y."""
        total = self.adds[0]["total"]
        self.assertEqual((total[LOADS], total[LOAD_SECTORS], total[STORES]), (150, 600, 75))
        self.assertEqual(total["global_bytes_op_ld"], 2 * 4 * 2400)

    def test_lines_of_the_rungs_own_file(self):
        lines = {(line["file"], line["line"]): line["counts"] for line in self.adds[0]["lines"]}
        self.assertEqual(set(lines), {("common/cuda/testdata/reads_its_output.cu", 7)})
        launch = self.serial[0]
        self.assertEqual({line["file"] for line in launch["lines"]}, {"solutions/lab02_smem/softmax_smem.cu"})
        for metric in (LOADS, LOAD_SECTORS, STORES, SHARED, ncu.SHARED_WAVEFRONTS.format(op="st")):
            self.assertEqual(sum(line["counts"][metric] for line in launch["lines"]), launch["total"][metric], metric)
        self.assertGreater(launch["total"]["barriers"], 0)

    def test_the_table_of_the_executor_prints_it(self):
        report = {"variants": [{**each, "rows": 4, "cols": 600} for each in self.variants]}
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(report, file)
            file.flush()
            done = subprocess.run([sys.executable, ROOT / "common/simt/profile.py", file.name], cwd=ROOT, stdout=subprocess.PIPE,
                                  text=True, check=True)
        self.assertIn("adds f32, 4 x 600", done.stdout)
        self.assertRegex(done.stdout, r"global loads\s+150\s+600 sectors\s+4\s+19,200")
        self.assertIn("reads_its_output.cu:7", done.stdout)
        self.assertIn("DRAM: ", done.stdout)


class Details(unittest.TestCase):
    def test_units_must_be_plain(self):
        text = (DATA / "ncu_raw.csv").read_text().replace('"byte"', '"Kbyte"')
        with self.assertRaisesRegex(ncu.UserError, "--print-units base"):
            ncu.read_raw(text)

    def test_a_metric_that_is_missing_is_named(self):
        text = (DATA / "ncu_raw.csv").read_text().replace(LOADS, "other")
        with self.assertRaisesRegex(ncu.UserError, "no " + LOADS.replace(".", r"\.")):
            ncu.read_raw(text)

    def test_marks_and_manifest_must_agree(self):
        launches = ncu.read_raw((DATA / "ncu_raw.csv").read_text())
        with self.assertRaisesRegex(ncu.UserError, "saw 2 variants, launch_once launched 1"):
            ncu.by_variant(launches, (DATA / "launch_once.txt").read_text().splitlines()[0])

    def test_names(self):
        self.assertEqual(ncu.short_name("void softmax_kernel<(int)8>(const __half *, __half *, int)"), "softmax_kernel<8>")
        self.assertEqual(ncu.short_name("add_kernel(const float *, float *, int)"), "add_kernel")
        self.assertEqual(ncu.opcode("@!P0  LDG.E.128.CONSTANT R4, desc[UR4]"), "LDG.E.128.CONSTANT")
        self.assertEqual([ncu.width(each) for each in ("LDS", "LDS.64", "STG.E.128", "LDG.E.U16.CONSTANT")], [4, 8, 16, 2])

    def test_an_inlined_instruction_belongs_to_the_innermost_own_line(self):
        places = {("solutions/x.cu", 62), ("solutions/x.cu", 115), ("/usr/local/cuda/include/sm_30_intrinsics.hpp", 9)}
        self.assertEqual(ncu.innermost(places), ("solutions/x.cu", 62))

    def test_ncu_missing(self):
        environment = {**os.environ, "PATH": "/usr/bin:/bin", "CUDA_HOME": "/nonexistent"}
        done = subprocess.run([sys.executable, ROOT / "common/cuda/read_counters.py", "--rows", "4", "--cols", "8", "x.so"],
                              env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("ncu is not found", done.stdout)


class Explanations(unittest.TestCase):
    def counts(self, requests: int, asked: int) -> dict[str, int]:
        return {**ncu.no_counts(), "shared_requests_op_ld": requests, "shared_bytes_op_ld": asked}

    def test_merged_and_kept_reads(self):
        cpu = self.counts(100, 400)
        self.assertIn("merged", profile_diff.reason(SHARED, cpu, self.counts(25, 400), "equal"))
        self.assertIn("a kept read", profile_diff.reason(SHARED, cpu, self.counts(0, 0), "equal"))
        self.assertIn("some are kept", profile_diff.reason(SHARED, cpu, self.counts(50, 200), "equal"))

    def verdict(self, op: str, gpu: tuple[int, int, int], atomics: int, copies: int = 0) -> str:
        """Of 10 requests, 40 sectors and 500 bytes on the executor's side."""
        names = [*(metric for metric in profile_diff.GLOBAL if f"_op_{op}" in metric), f"global_bytes_op_{op}"]
        none = {metric: 0 for metric in profile_diff.METRICS}
        executor = {**none, **dict(zip(names, (10, 40, 500))), profile_diff.ATOMICS[1]: atomics}
        return profile_diff.verdict({"executor": executor, "ncu": {**none, **dict(zip(names, gpu))}, "async_copies": copies})

    def test_verdicts(self):
        for op, gpu, atomics, expected in (
                ("ld", (10, 40, 500), 0, "equal"), ("ld", (12, 41, 500), 0, "unrolled"), ("ld", (12, 41, 500), 7, "unrolled"),
                ("ld", (9, 40, 500), 7, "different"), ("ld", (12, 41, 504), 0, "different"),
                ("st", (9, 40, 500), 0, "different"), ("st", (9, 40, 500), 7, "order"), ("st", (11, 39, 500), 7, "order"),
                ("st", (9, 40, 499), 7, "different"), ("st", (11, 41, 500), 0, "unrolled")):
            with self.subTest(op=op, gpu=gpu, atomics=atomics):
                self.assertEqual(self.verdict(op, gpu, atomics), expected)

    def test_asynchronous_copies(self):
        for op, gpu, expected in (("ld", (10, 44, 500), "async"), ("ld", (10, 36, 500), "async"), ("ld", (11, 44, 500), "unrolled"),
                                  ("ld", (10, 44, 516), "different"), ("st", (10, 36, 500), "different")):
            with self.subTest(op=op, gpu=gpu):
                self.assertEqual(self.verdict(op, gpu, 0, copies=3), expected)
        counts = ncu.no_counts()
        ncu.add_instruction(counts, {"sass": "@!P0  LDGSTS.E.BYPASS.128 desc[UR8][R24.64], [R23]", "Instructions Executed": "64",
                                     "Predicated-On Thread Instructions Executed": "2048", "L2 Theoretical Sectors Global": "1536",
                                     "L1 Wavefronts Shared": "960", "L1 Wavefronts Shared Excessive": "704"})
        self.assertEqual((counts["async_copies"], counts["global_bytes_op_ld"], counts["shared_bytes_op_st"]), (64, 32768, 32768))

    def test_another_launch_is_not_compared(self):
        def report(blocks: int) -> dict:
            return {"launches": [{"kernel": "k", "grid": [blocks, 1, 1], "block": [32, 1, 1], "lines": [],
                                  "total": {metric: blocks for metric in profile_diff.METRICS}}]}
        variant = {"variant": "v", "dtype": "f32", "rows": 1, "cols": 2, "k": 0, "report": report(4)}
        entry = profile_diff.compare("x.cu", variant, report(2))
        self.assertEqual((profile_diff.verdict(entry), entry["differences"]), ("path", []))
        self.assertEqual(profile_diff.verdict(profile_diff.compare("x.cu", variant, report(4))), "equal")

    def test_bare_names(self):
        for name in ("norm_kernel<T>", "void n::norm_kernel<float, 2>(int)", "<unnamed>::norm_kernel(float *)",
                     "void (anonymous namespace)::norm_kernel<(int)2>(float *)", "norm_kernel"):
            self.assertEqual(profile_diff.bare(name), "norm_kernel")

    def test_which_solutions_are_read_at_which_shapes(self):
        sources = [str(lab.solution) for lab in profile_diff.labs.load()]
        self.assertEqual([source for source in sources if profile_diff.is_step(source)], ["solutions/lab07_fusion/swap_ffn.cu"])
        self.assertEqual([source for source in sources if not profile_diff.takes(source, 4096)], ["solutions/lab01_naive/softmax_naive.cu"])
        self.assertTrue(all(profile_diff.takes(source, 600) for source in sources))
        with self.assertRaisesRegex(ncu.UserError, "x.cu: it must be the solution of a lab"):
            profile_diff.is_step("x.cu")

    def test_a_shape_that_fails_takes_no_other_with_it(self):
        def read(rungs, rows, cols, k, kernels=()):
            if rows == 64:
                raise ncu.UserError("the GPU is gone")
            return []
        source = "solutions/lab02_smem/softmax_smem.cu"
        with mock.patch.object(profile_diff.read_counters, "read", read), mock.patch.object(profile_diff, "executor", lambda *_: {}), \
                contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertEqual(profile_diff.read([source], [(2, 3)]), ([], True))
            self.assertEqual(profile_diff.read([source], [(64, 3), (2, 3)]), ([], False))
        self.assertIn("64x3 was not read: the GPU is gone", said.getvalue())
        self.assertEqual(said.getvalue().count("reading 2x3"), 2)

    def test_pages_are_read_in_parts(self):
        names = [ncu.MARK, "a()", "b()", ncu.MARK, "a()"]
        parts = []

        def run(command):
            if "--launch-skip" in command:
                first, count = (int(command[command.index(name) + 1]) for name in ("--launch-skip", "--launch-count"))
                parts.append((first, count))
                return ",".join(str(i) for i in range(first, min(first + count, len(names))))
            return "".join(f'{{"variant": "{name}", "error": 0}}\n' for name in "xy") if "--export" in command else ""

        launches = lambda text: [{"kernel": name, "total": {}, "lines": []} for name in names]
        sources = lambda text: [(names[int(i)], {("x.cu", int(i)): {}}) for i in text.split(",")]
        with mock.patch.object(read_counters, "run", run), mock.patch.object(read_counters, "find_ncu", lambda: "ncu"), \
                mock.patch.object(read_counters.os, "cpu_count", lambda: 2), \
                mock.patch.multiple(ncu, read_raw=launches, read_source=sources):
            variants = read_counters.read(["x.so"], 1, 2, 0)
        self.assertEqual(sorted(parts), [(0, 3), (3, 3)])
        self.assertEqual([[launch["lines"][0]["line"] for launch in variant["report"]["launches"]] for variant in variants], [[1, 2], [4]])

    def test_shapes(self):
        self.assertEqual(profile_diff.shapes_of("64x600,2x50257"), [(64, 600), (2, 50257)])
        for text in ("64", "axb", "0x5", ""):
            with self.assertRaises(ncu.UserError):
                profile_diff.shapes_of(text)


if __name__ == "__main__":
    unittest.main()
