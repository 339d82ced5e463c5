"""Tests of swap_ffn_bench: what it refuses, what it keeps, and lab 07's solution on the executor at the smallest sizes."""

from __future__ import annotations

import json
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RUNG = "build/cpu/solutions/lab07_fusion/swap_ffn.so"
CHECKED = RUNG.replace("cpu/", "cpu/checked/")
WRONG = "build/cpu/common/bench/testdata/wrong_step.so"
CHECKED_WRONG = WRONG.replace("cpu/", "cpu/checked/")
ANOTHER_OPERATOR = "build/cpu/common/rung/testdata/predicts.so"
SIZES = {"d_model": 32, "d_ff": 64, "cores": 32, "events": 2, "ffn_steps": 2, "d_router": 16, "collapse_k": 2, "collapse_r": 24}


class Bench(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        subprocess.run(["make", "-s", "-f", "common/build/rules.mk", "build/cpu/swap_ffn_bench", "build/cpu/worker", RUNG, CHECKED, WRONG,
                        CHECKED_WRONG, ANOTHER_OPERATOR], cwd=ROOT, check=True)

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "results.json"

    def run_bench(self, *more: str, rung: str = RUNG) -> tuple[int, str]:
        run = subprocess.run(["build/cpu/swap_ffn_bench", "--worker", "build/cpu/worker", "--rung", rung, "--results", str(self.path),
                              "--machine", "Host", "--sizes", ",".join(map(str, SIZES.values())), *more],
                             cwd=ROOT, capture_output=True, text=True)
        return run.returncode, run.stderr

    def entries(self) -> dict[str, dict]:
        return {f"{e['variant']} {e['dtype']}": e for e in json.loads(self.path.read_text())["variants"] if e["source"] == "solution"}


class Refused(Bench):
    """Nothing is measured and nothing is written; the message says what was wrong."""

    def refused(self, sentence: str, *arguments: str, rung: str = RUNG) -> None:
        before = self.path.read_bytes() if self.path.is_file() else None
        code, said = self.run_bench(*arguments, rung=rung)
        self.assertEqual(code, 2, said)
        self.assertIn(sentence, said)
        self.assertNotIn("ms (", said)
        self.assertEqual(self.path.read_bytes() if self.path.is_file() else None, before)
        self.assertEqual(list(self.path.parent.iterdir()), [self.path] if self.path.exists() else [])

    def test_options(self) -> None:
        self.refused("there is no option '--size'", "--size", "1")
        self.refused("--only wants a value", "--only")
        self.refused("--backend is cpu or cuda, not 'tpu'", "--backend", "tpu")
        self.refused("--checked and --counter are used together", "--checked", CHECKED)
        self.refused("--worker is missing", "--worker", "")

    def test_sizes(self) -> None:
        for sizes in ("32,64,32,2,2,16,2", "32,64,32,2,2,16,2,24,1", "33,64,32,2,2,16,2,24", "32,64,0,2,2,16,2,24", "a", ""):
            self.refused(f"--sizes {sizes}: it must be eight numbers", "--sizes", sizes)

    def test_rungs(self) -> None:
        self.refused("no_such.so", rung="no_such.so")
        self.refused("has no variant of lab 07's operator", rung=ANOTHER_OPERATOR)
        self.refused("has no variant 'unfussed'", "--only", "unfussed")
        self.refused("no_such_worker", "--worker", "no_such_worker")

    def test_a_results_file_that_is_none_is_kept(self) -> None:
        entry = {"source": "solution", "variant": "unfused", "dtype": "f32"}
        for content, sentence in (("{", "not valid JSON"), ("[]", "expected a JSON object"), ('{"points": []}', 'no list "variants"'),
                                  (json.dumps({"variants": [entry]}), 'has no "sizes"'), ('{"variants": [1]}', 'has no "source"'),
                                  ('{"variants": [], "machine": "Other", "backend": "cpu"}', '"machine" is not Host'),
                                  ('{"variants": [], "machine": "Host", "backend": "cuda"}', '"backend" is not cpu')):
            self.path.write_text(content)
            self.refused(f"{self.path}: ", "--only", "unfused")
            self.refused(sentence, "--only", "unfused")

    def test_a_folder_is_no_results_file(self) -> None:
        self.path.mkdir()
        self.refused(str(self.path))


class Measured(Bench):
    def test_all_variants_with_their_counts(self) -> None:
        code, said = self.run_bench("--checked", CHECKED, "--counter", "build/cpu/worker")
        self.assertEqual(code, 0, said)
        file, entries = json.loads(self.path.read_text()), self.entries()
        self.assertEqual((file["machine"], file["backend"]), ("Host", "cpu"))
        # 16 cores share a weight in a tile. An event is 4 launches and 5 per step; the pool, the state and the collapse are 4.
        expected = {"unfused": (1, 4 + 2 * (4 + 2 * 5)), "graphed": (1, 4 + 2 * (4 + 2 * 5)), "fused_per_core": (32, 4), "fused_tiled": (2, 4)}
        self.assertEqual(set(entries), {f"{variant} {dtype}" for variant in expected for dtype in ("f32", "bf16")})
        router, step, collapse = 2 * 32 * 16, 2 * 3 * 32 * 64, 2 * 32 * 32 * 2 + 2 * 32 * 2 * 24 + 2 * 32 * 24
        for name, entry in entries.items():
            variant, dtype = name.split()
            self.assertEqual((entry["weight_reads_a_step_32_cores"], entry["launches"]), expected[variant], name)
            self.assertEqual(entry["weight_bytes"], 3 * 32 * 64 * (4 if dtype == "f32" else 2), name)
            self.assertEqual(entry["flops"], 32 * 2 * (router + 2 * step) + collapse, name)
            self.assertEqual(entry["sizes"], SIZES)
            self.assertEqual(entry["samples"], 5)
            self.assertTrue(0 < entry["seconds_min"] <= entry["seconds"] <= entry["seconds_max"] < 60, entry)
            self.assertNotIn("sm_clock_mhz", entry)  # this is no GPU

    def test_a_step_without_weights_has_no_count_of_them(self) -> None:
        sizes = ",".join(map(str, {**SIZES, "ffn_steps": 0}.values()))
        code, said = self.run_bench("--checked", CHECKED, "--counter", "build/cpu/worker", "--only", "fused_per_core", "--sizes", sizes)
        self.assertEqual(code, 0, said)
        entry = self.entries()["fused_per_core f32"]
        self.assertEqual(entry["launches"], 4)
        self.assertNotIn("weight_reads_a_step_32_cores", entry)

    def test_only_its_own_entries_are_replaced(self) -> None:
        own = {"source": "solution", "variant": "unfused", "dtype": "f32", "sizes": SIZES, "seconds": 1000.0, "throttled": "power cap",
               "launches": 9, "ncu": {"registers": 64}}
        others = [{**own, "source": "student"}, {**own, "variant": "graphed"}, {**own, "sizes": {**SIZES, "cores": 16}},
                  {**own, "dtype": "f16", "a note": "by hand"}]
        self.path.write_text(json.dumps({"machine": "Host", "backend": "cpu", "variants": [*others[:2], own, *others[2:]], "command": "mine"}))
        code, said = self.run_bench("--only", "unfused")
        self.assertEqual(code, 0, said)
        file = json.loads(self.path.read_text())
        self.assertEqual(file["command"], "mine")
        self.assertEqual([file["variants"][i] for i in (0, 1, 3, 4)], others)
        self.assertEqual([(e["variant"], e["dtype"]) for e in file["variants"][5:]], [("unfused", "bf16")])
        new = file["variants"][2]
        self.assertLess(new["seconds"], 60)
        self.assertNotIn("throttled", new)  # it told of the time that is no more
        self.assertEqual((new["launches"], new["ncu"]), (9, {"registers": 64}))  # counts, which were not made again

    def test_a_wrong_variant_is_not_recorded(self) -> None:
        old = {"source": "solution", "variant": "unfused", "dtype": "f32", "sizes": SIZES, "seconds": 1000.0}
        self.path.write_text(json.dumps({"machine": "Host", "backend": "cpu", "variants": [old]}))
        code, said = self.run_bench(rung=WRONG)
        self.assertEqual(code, 1, said)
        self.assertEqual(said.count("failed, not recorded"), 2)
        self.assertIn("never written", said)
        self.assertIn("cudaErrorNotSupported", said)
        self.assertEqual(json.loads(self.path.read_text())["variants"], [old])

    def test_what_the_executor_cannot_count_is_said(self) -> None:
        for checked, reasons in ((CHECKED_WRONG, ("cudaErrorNotSupported", "does not have it")), ("no_such.so", ("no_such.so", "no_such.so"))):
            code, said = self.run_bench("--only", "graphed", "--checked", checked, "--counter", "build/cpu/worker")
            self.assertEqual(code, 0, said)
            f32, bf16 = [line for line in said.splitlines() if "graphed" in line]
            self.assertRegex(f32, f"graphed f32: not counted: .*{reasons[0]}")
            self.assertRegex(bf16, f"graphed bf16: not counted: .*{reasons[1]}")
            self.assertNotIn("launches", self.entries()["graphed f32"])


if __name__ == "__main__":
    unittest.main()
