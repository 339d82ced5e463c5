"""Tests of fusion_counters.py on a page as ncu writes it, with made-up counts."""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent))
import fusion_counters  # noqa: E402

HEAD = ["ID", "Kernel Name", *fusion_counters.METRICS.values()]
UNITS = ["", "", "ns", "byte", "byte", "sector", "inst", "register/thread", "%", "%", "%"]


def page(*kernels: tuple, units: list[str] = UNITS) -> str:
    rows = [HEAD, units, *([str(i), *kernel] for i, kernel in enumerate(kernels))]
    return "==PROF== Connected\n" + "\n".join(",".join(f'"{cell}"' for cell in row) for row in rows)


MARK = ("mark_variant()", "1,500", "0", "0", "9", "2", "16", "1", "0", "0")
LONG = ("void tiled<4>(S)", "2,000", "1,000", "10", "7", "100", "255", "12.5", "40", "30")
SHORT = ("pool(S)", "500", "200", "0", "3", "10", "32", "20", "1", "1")


class FusionCounters(unittest.TestCase):
    def test_sums_are_of_all_launches_and_the_rest_of_the_longest_kernel(self):
        found = fusion_counters.summary(fusion_counters.kernels(page(MARK, LONG, SHORT, LONG)))
        self.assertEqual(found["launches"], 3)  # without the mark
        self.assertEqual(found["kernel_us"], 4.5)
        self.assertEqual(found["dram_read_bytes"], 2200)
        self.assertEqual(found["l2_to_sm_bytes"], 32 * 17)
        self.assertEqual((found["longest_kernel"], found["longest_kernel_launches"]), ("void tiled<4>", 2))
        self.assertEqual((found["registers"], found["warps_active_pct"]), (255, 12.5))

    def test_other_units_are_refused(self):
        with self.assertRaisesRegex(fusion_counters.ncu.UserError, "--print-units base"):
            fusion_counters.kernels(page(MARK, LONG, units=[*UNITS[:3], "Mbyte", *UNITS[4:]]))

    def test_a_variant_that_launches_nothing_is_refused(self):
        with self.assertRaisesRegex(fusion_counters.ncu.UserError, "no kernel was launched"):
            fusion_counters.kernels(page(MARK))

    def test_all_kernels_of_both_types_are_read_and_written_one_by_one(self):
        entries = [{"source": "solution", "variant": name.split()[0], "dtype": name.split()[1], "sizes": {"cores": 512}}
                   for name in fusion_counters.VARIANTS]
        self.assertEqual({entry["dtype"] for entry in entries}, {"f32", "bf16"})
        asked = []

        def read(rung: str, name: str) -> str:
            asked.append(name)
            if len(asked) == 3:
                raise fusion_counters.ncu.UserError("no more")
            return page(MARK, LONG)

        with tempfile.TemporaryDirectory() as folder, mock.patch.object(fusion_counters, "read", read), \
                contextlib.redirect_stdout(io.StringIO()) as told, contextlib.redirect_stderr(io.StringIO()) as said:
            results = Path(folder) / "r.json"
            results.write_text(json.dumps({"variants": entries}))
            self.assertEqual(fusion_counters.main([str(results), "rung.so"]), 2)
            written = {f"{e['variant']} {e['dtype']}" for e in json.loads(results.read_text())["variants"] if "ncu" in e}
            self.assertEqual(written, set(asked[:2]))
            self.assertIn(f"{asked[2]}: no more", said.getvalue())
            self.assertIn(f"{asked[0]}: 1 launches", told.getvalue())
            asked.clear()
            fusion_counters.main([str(results), "rung.so", "fused_tiled f32"])
            self.assertEqual(asked, ["fused_tiled f32"])
            self.assertEqual(list(Path(folder).iterdir()), [results])

    def test_the_counts_go_to_the_variant_at_the_sizes_of_the_course(self):
        entry = {"source": "solution", "variant": "fused_tiled", "dtype": "bf16", "sizes": {"cores": 512}, "seconds": 1.0}
        with tempfile.TemporaryDirectory() as folder:
            results, counts = Path(folder) / "r.json", Path(folder) / "c.csv"
            results.write_text(json.dumps({"variants": [{**entry, "sizes": {"cores": 32}}, entry]}))
            counts.write_text(page(MARK, LONG))
            with contextlib.redirect_stdout(io.StringIO()):
                self.assertEqual(fusion_counters.main([str(results), "--csv", f"fused_tiled bf16={counts}"]), 0)
            small, full = json.loads(results.read_text())["variants"]
            self.assertNotIn("ncu", small)
            self.assertEqual(full["ncu"]["launches"], 1)
            with contextlib.redirect_stderr(io.StringIO()) as said:
                self.assertEqual(fusion_counters.main([str(results), "--csv", f"unfused bf16={counts}"]), 2)
            self.assertIn("measure it first", said.getvalue())


if __name__ == "__main__":
    unittest.main()
