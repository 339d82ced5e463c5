#!/usr/bin/env python3
"""A machine file out of what make probe measured: constants scale with the readings, and the executor takes the file."""

import copy
import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "probe"))
import machine_file  # noqa: E402

H200 = json.loads(machine_file.REFERENCE.read_text())
BASE = json.loads(machine_file.BASE.read_text())


class MachineFile(unittest.TestCase):
    def test_of_an_h200_it_is_the_h200s_own_but_for_the_band(self):
        made = machine_file.machine_file(H200, H200, BASE)
        for name in BASE:
            if name not in ("name", "band"):
                self.assertAlmostEqual(made[name]["value"], BASE[name]["value"], delta=1e-3 * BASE[name]["value"], msg=name)
        self.assertEqual(made["band"]["value"], 2.0)

    def test_a_constant_is_scaled_by_what_was_read(self):
        slower = copy.deepcopy(H200)
        slower["measured"]["l2_latency"] *= 1.5
        slower["properties"]["multiprocessors"] = 40
        made = machine_file.machine_file(slower, H200, BASE)
        self.assertAlmostEqual(made["l2_latency"]["value"], 1.5 * BASE["l2_latency"]["value"])
        self.assertEqual(made["l2_latency"]["source"], "measured")
        self.assertEqual(made["multiprocessors"]["value"], 40)
        self.assertEqual(made["warp_issue"]["source"], "taken over")

    def test_an_unknown_architecture_is_refused(self):
        with self.assertRaisesRegex(machine_file.UserError, "compute capability 17.3"):
            machine_file.machine_file({**H200, "capability": "17.3"}, H200, BASE)

    def test_the_probed_h100_is_near_its_machine_file(self):
        probed = json.loads((machine_file.ROOT / "plots/results/probe-nvidia-h100.json").read_text())
        made = machine_file.machine_file(probed, H200, BASE)
        kept = json.loads((machine_file.BASE.parent / "h100.json").read_text())
        for name in ("clock_ghz", "dram_gbs_written_0", "dram_gbs_written_50", "dram_latency", "l2_latency", "shared_latency", "mufu_rate"):
            self.assertAlmostEqual(made[name]["value"], kept[name]["value"], delta=0.06 * kept[name]["value"], msg=name)

    def test_every_constant_has_its_source(self):
        for name, constant in machine_file.machine_file(H200, H200, BASE).items():
            if name != "name":
                self.assertIn(constant["source"], ("measured", "data sheet", "taken over", "assumed"), name)

    def test_a_file_that_is_none(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "x.json")
            path.write_text("no json")
            with self.assertRaisesRegex(machine_file.UserError, "cannot be read"):
                machine_file.load(path)


if __name__ == "__main__":
    unittest.main()
