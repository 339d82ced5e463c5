#!/usr/bin/env python3
"""The tables of simtcc --profile: equal launches stand once, and a summary of the kernels comes first. The reports are made up."""

import io
import json
import sys
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import profile as profile_table  # noqa: E402  (this folder has its own)

COUNTS = {f"{prefix}{op}{suffix}": 0 for op in ("ld", "st", "atom") for prefix, suffix in (
    ("l1tex__t_requests_pipe_lsu_mem_global_op_", ".sum"), ("l1tex__t_sectors_pipe_lsu_mem_global_op_", ".sum"), ("global_bytes_op_", ""),
    ("shared_requests_op_", ""), ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_", ".sum"), ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_", ".sum"))}


def launch(kernel, us, barriers=0):
    predicted = {"gpu": "NVIDIA X", "seconds": us * 1e-6, "low": us * 0.5e-6, "high": us * 2e-6, "limit": "dram", "words": "DRAM", "resident_blocks": 1,
                 "given_blocks": 1, "bound_by": "threads", "segments": []} if us else {"gpu": "NVIDIA X", "seconds": None, "why": "tensor cores"}
    return {"kernel": kernel, "grid": [4, 1, 1], "block": [32, 1, 1], "total": {**COUNTS, "barriers": barriers, "warp_operations": 0},
            "footprint": {"sectors_read": 0, "sectors_written": 0}, "lines": [], "predicted": predicted}


def printed(launches):
    return shown({"launches": launches})


def shown(report, *options, status=0):
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(io.StringIO()) as out:
        path = Path(folder, "report.json")
        path.write_text(json.dumps(report))
        assert profile_table.main([str(path), *options]) == status
    return out.getvalue()


class Tables(unittest.TestCase):
    def test_equal_launches_stand_once(self):
        out = printed([launch("a", 1), launch("b", 2), launch("a", 1), launch("a", 1, barriers=8)])
        self.assertEqual(out.count("a  4 blocks of 32 threads"), 2, out)
        self.assertIn("a  4 blocks of 32 threads, 2 launches that count the same: each", out)

    def test_the_summary_has_the_longest_first_and_the_sum(self):
        lines = printed([launch("a", 1), launch("b", 7), launch("a", 3)]).splitlines()
        self.assertEqual(lines[0], "predicted on NVIDIA X, nothing measured:")
        self.assertEqual([line.split()[:4] for line in lines[2:4]], [["b", "4", "32", "1"], ["a", "4", "32", "2"]])
        self.assertIn("  3 us   1.5 us to 6 us      4 us  dram", lines[3])

    def test_what_has_no_prediction_says_why(self):
        lines = printed([launch("a", None), launch("b", 7)]).splitlines()
        self.assertIn("tensor cores", lines[3])

    def test_one_variant_alone(self):
        report = {"variants": [{"variant": name, "dtype": dtype, "rows": 64, "cols": 600, "k": 0, "report": {"launches": [launch("a", 1)]}}
                               for name, dtype in (("tree", "f32"), ("tree", "f16"), ("serial", "f32"))]}
        for pattern, titles in (("*", ["tree f32", "tree f16", "serial f32"]), ("tree", ["tree f32", "tree f16"]), ("tree f16", ["tree f16"]), ("ser*", ["serial f32"])):
            said = shown(report, "--variant", pattern)
            self.assertEqual([line.split(",")[0] for line in said.splitlines() if ", 64 x 600" in line], titles, said)
        with redirect_stderr(io.StringIO()) as said:
            shown(report, "--variant", "tre", status=2)
        self.assertIn("no variant is called tre; there are tree f32, tree f16, serial f32", said.getvalue())

    def test_a_prediction_says_for_which_rows_it_is(self):
        def of_rung(**predicted):
            one = launch("a", 34)
            one["predicted"].update(predicted)
            return shown({"variants": [{"variant": "tree", "dtype": "f32", "rows": 64, "cols": 4096, "k": 0, "report": {"launches": [one]}}]})

        self.assertIn("predicted on NVIDIA X for 64 x 4096: 34 us (17 us to 68 us)\n", of_rung())
        self.assertIn("predicted on NVIDIA X for 4096 rows like these 64: 34 us (17 us to 68 us)\n", of_rung(times=64))
        self.assertIn("predicted on NVIDIA X: 1 us (", printed([launch("a", 1)]))

    def test_what_fits_is_not_what_the_grid_gives(self):
        one = launch("a", 1)
        one["predicted"].update(bound_by="registers", resident_blocks=8, given_blocks=31)
        self.assertIn("  occupancy: 8 blocks fit on an SM, bound by registers\n", printed([one]))
        one["predicted"].update(bound_by="grid", given_blocks=2)
        self.assertIn("  occupancy: 8 blocks would fit on an SM; the grid gives 2 at most\n", printed([one]))

    def test_one_kernel_needs_no_summary(self):
        self.assertNotIn("nothing measured", printed([launch("a", 1), launch("a", 1)]))


if __name__ == "__main__":
    unittest.main()
