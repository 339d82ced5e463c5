"""Counters of whole solutions whose lanes diverge, held against figures derived by hand.

Lab 04 reads every row twice and writes it once, by the same split into head, packs and tail. So loads are twice the stores,
in requests and in sectors, also where a few lanes of a warp have a single half to look after before they join the others.
"""

import json
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
RUNG = "build/cpu/checked/solutions/lab04_f16x8/softmax_f16x8.so"
METRIC = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"


class Solutions(unittest.TestCase):
    def test_lanes_join_again_after_a_branch(self):
        subprocess.run(["make", "-s", "-f", "common/build/rules.mk", "build/cpu/profile", "build/cpu/worker", RUNG], cwd=ROOT,
                       check=True)
        run = subprocess.run(["build/cpu/profile", "--worker", "build/cpu/worker", "--rung", RUNG, "--rows", "64", "--cols",
                              "4097", "--k", "1"], cwd=ROOT, check=True, capture_output=True, text=True)
        variants = {v["variant"]: v["report"]["launches"][0]["total"] for v in json.loads(run.stdout)["variants"]}
        for name, total in variants.items():
            for what in ("requests", "sectors"):
                with self.subTest(variant=name, what=what):
                    self.assertEqual(total[METRIC.format(what, "ld")], 2 * total[METRIC.format(what, "st")])
        # 16 warps' packs per row, and one request for head and tail.
        self.assertEqual(variants["f16x8"][METRIC.format("requests", "st")], 64 * (16 + 1))


if __name__ == "__main__":
    unittest.main()
