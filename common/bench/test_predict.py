"""Tests of predict.py, gpus.py and predicted_table.py on made-up reports and points: nothing is run."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import re
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent))
import gpus  # noqa: E402
import predict  # noqa: E402
import predicted_table  # noqa: E402
import results  # noqa: E402


def launch(seconds: float | None, limit: str = "dram") -> dict:
    predicted = {"seconds": None, "why": "tensor cores"} if seconds is None else {
        "seconds": seconds, "low": seconds / 2, "high": seconds * 2, "limit": limit, "words": f"{limit} in words"}
    return {"predicted": predicted, "total": {name: 10 for name in predict.GLOBAL_SECTORS}, "footprint": {"sectors_read": 4, "sectors_written": 1}}


def variant(*launches: dict, name: str = "tree", k: int = 0) -> dict:
    return {"variant": name, "op": "softmax_topk" if k else "softmax", "dtype": "f32", "rows": 512, "cols": 4096, "k": k,
            "nominal_bytes": 512 * 4096 * 8, "nominal_flops": 512 * 4096 * 5, "report": {"launches": list(launches)}}


def options(**other: object) -> argparse.Namespace:
    return argparse.Namespace(**{"source": "student", "lab": "lab02_smem", "input": "normal", **other})


SHAPE = predict.SHAPES[4096]


def point(*launches: dict, **other: object) -> dict:
    return predict.point_of(variant(*launches), options(**other), SHAPE)


class Points(unittest.TestCase):
    def test_launches_add_up_and_the_longest_one_says_what_limits(self) -> None:
        found = point(launch(1e-6, "latency"), launch(3e-6, "issue"))
        self.assertEqual(found["seconds"], 4e-6)
        self.assertEqual(found["predicted"], {"low": 2e-6, "high": 8e-6, "limit": "issue", "words": "issue in words"})

    def test_counts_are_scaled_from_the_rows_that_ran_to_all(self) -> None:
        found = point(launch(1e-6))
        self.assertEqual(found["l1_bytes"], 3 * 10 * 32 * 8)
        self.assertEqual(found["footprint_bytes"], 5 * 32 * 8)
        self.assertEqual((found["rows"], found["counted_rows"]), (4096, 512))

    def test_no_prediction_has_its_reason(self) -> None:
        found = point(launch(1e-6), launch(None))
        self.assertEqual((found["seconds"], found["predicted"]["why"]), (None, "tensor cores"))


class Taken(unittest.TestCase):
    def run_main(self, *arguments: object) -> tuple[int, str]:
        said = io.StringIO()
        with mock.patch.object(sys, "argv", ["predict.py", *map(str, arguments)]), contextlib.redirect_stderr(said):
            return predict.main(), said.getvalue()

    def test_points_of_files_are_put_into_one_in_the_order_of_the_files(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            parts = [Path(folder) / name for name in ("a.json", "b.json")]
            for path, seconds in zip(parts, (2e-6, 1e-6)):
                path.write_text(json.dumps({"points": [{**point(launch(seconds)), "lab": path.stem}]}), encoding="utf-8")
            whole = Path(folder) / "whole.json"
            self.assertEqual(self.run_main("--take", *parts, "--results", whole, "--command", "make ladder"), (0, ""))
            written = json.loads(whole.read_text(encoding="utf-8"))
            self.assertEqual([(p["lab"], p["seconds"]) for p in written["points"]], [("a", 2e-6), ("b", 1e-6)])
            self.assertEqual((written["machine"], written["command"]), ("NVIDIA H200", "make ladder"))

    def test_a_file_that_is_none_of_predictions_is_refused(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            part = Path(folder) / "part.json"
            part.write_text("{}", encoding="utf-8")
            status, said = self.run_main("--take", part, "--results", Path(folder) / "whole.json")
            self.assertEqual((status, said), (2, f"error: {part}: not a file of predictions\n"))
            self.assertFalse((Path(folder) / "whole.json").exists())


class Files(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name, "local/predicted.json")

    def test_the_same_point_is_replaced_and_others_stay(self) -> None:
        predict.put(self.path, "h200", [point(launch(1e-6)), point(launch(2e-6), source="solution")], "one")
        predict.put(self.path, "h200", [point(launch(5e-6))], "two")
        table = results.load(self.path, need_roofs=True)
        self.assertEqual([each["seconds"] for each in table["points"]], [5e-6, 2e-6])
        self.assertEqual((table["backend"], table["machine"], table["command"]), ("predicted", "NVIDIA H200", "two"))

    def test_what_is_no_file_of_predictions_for_this_gpu_is_kept(self) -> None:
        predict.put(self.path, "h200", [point(launch(1e-6))], "one")
        before = self.path.read_text()
        with self.assertRaisesRegex(results.UserError, "predicted points of NVIDIA H200, not predictions for NVIDIA H100"):
            predict.put(self.path, "h100", [point(launch(1e-6))], "two")
        self.assertEqual(self.path.read_text(), before)
        self.path.write_text("{}")
        with self.assertRaisesRegex(results.UserError, "not a file of predictions"):
            predict.put(self.path, "h200", [point(launch(1e-6))], "two")

    def test_the_table(self) -> None:
        predict.put(self.path, "h200", [point(launch(30e-6)), point(launch(33e-6), source="solution"), point(launch(None), lab="lab07_fusion")], "one")
        measured = {"points": [{**point(launch(35.3e-6), source="solution")}]}
        out = io.StringIO()
        with contextlib.redirect_stdout(out), mock.patch.object(gpus, "measured", lambda name: measured):
            self.assertEqual(predicted_table.main([str(self.path), "--source", "student", "--words"]), 0)
        lines = out.getvalue().splitlines()
        self.assertEqual(lines[0], "Predicted for an NVIDIA H200: 4096 x 4096, random normal logits")
        self.assertEqual(lines[2].split(), ["02", "tree", "f32", "0.000458", "30.0", "15.0", "-", "60.0", "33.0", "35.3", "-", "-", "dram"])
        self.assertEqual(lines[3].strip(), "dram in words")
        self.assertIn("lab07 tree f32: no prediction: tensor cores", lines)
        self.assertTrue(all(len(line) <= 80 for line in lines))

    def test_one_line_of_a_lab(self) -> None:
        def said(lab: str) -> str:
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                self.assertEqual(predicted_table.main([str(self.path), "--lab", lab, "--cols", "4096", "--line"]), 0)
            return out.getvalue()

        first, other = ({**point(launch(seconds), source="solution", lab=lab), "variant": name}
                        for seconds, lab, name in ((90e-6, "lab01_naive", "per_row"), (30e-6, "lab02_smem", "tree")))
        predict.put(self.path, "h200", [first, other, {**other, "dtype": "f16", "seconds": 15e-6}], "one")
        self.assertEqual(said("lab01_naive"), "  4096 x 4096 f32: per_row 90.0 us\n")
        self.assertEqual(said("lab02_smem"), "  4096 x 4096 f32: tree 30.0 us; 3.00 times as fast as per_row\n")
        self.assertEqual(said("lab05_topk"), "\n", "nothing is predicted of it")


class Gpus(unittest.TestCase):
    def test_an_unknown_one_lists_those_that_there_are(self) -> None:
        with self.assertRaisesRegex(results.UserError, "GPU=h300: it can be a100, h100, h200, "):
            gpus.machine_file("h300")

    def test_names_of_files(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "gpu-nvidia-x1.json")
            path.write_text("{}")
            self.assertEqual((gpus.slug("h200"), gpus.slug(str(path))), ("nvidia-h200", "nvidia-x1"))

    def refused(self, change: dict) -> str:
        """What is said of the H200's file with other constants (None: without this one)."""
        content = {**json.loads((gpus.MACHINES / "h200.json").read_text()), **change}
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "bad.json")
            path.write_text(json.dumps({key: value for key, value in content.items() if value is not None}))
            with contextlib.redirect_stderr(io.StringIO()) as said, mock.patch.object(sys, "argv", ["predict.py", "--check-gpu", str(path)]):
                self.assertEqual(predict.main(), 2)
            return said.getvalue().replace(str(path), "bad.json")

    def test_a_machine_file_with_a_mistake_names_the_constant(self) -> None:
        for change, said in (({"clock_ghz": None}, "bad.json lacks the constant 'clock_ghz'; make probe writes a file that has all"),
                             ({"fma_rate": None}, "bad.json lacks the constant 'fma_rate'"), ({"dram_gbs_written_75": None}, "lacks the constant 'dram_gbs_written_75'"),
                             ({"l2_latency": {"value": -3, "source": "measured"}}, "bad.json: 'l2_latency' is -3; it must lie between 20 and 3000"),
                             ({"fma_rate": {"value": 64, "source": "measured"}}, "'fma_rate' is 64; it must lie between 0.05 and 4"),
                             ({"band": {"value": float("nan"), "source": "measured"}}, "'band' is nan; it must lie between 1 and 10"),
                             ({"warps": {"value": 64}}, "'warps' does not say its \"source\""), ({"blocks": {"value": "many", "source": "x"}}, "'blocks' has no number"),
                             ({"warps": {"value": 63.5, "source": "measured"}}, "'warps' is 63.5; it must be a whole number"),
                             ({"l1_kib": {"value": 64, "source": "measured"}}, "'l1_kib' is 64 and 'shared_kib' 228; the first is L1 and shared memory together"),
                             ({"blocks": 32}, "'blocks' has no number"), ({"name": None}, "bad.json lacks the GPU's \"name\"")):
            with self.subTest(said):
                self.assertIn(said, self.refused(change))

    def test_a_path_that_is_no_machine_file(self) -> None:
        with tempfile.TemporaryDirectory(suffix=".json") as folder:
            for name, said in ((folder, f"cannot read the machine file {folder}: it is no file"), ("none.json", "cannot read the machine file none.json: No such file"),
                               (str(gpus.MACHINES / "h200"), "the path of a machine file, which ends in .json")):
                with self.subTest(name), self.assertRaisesRegex(gpus.UserError, re.escape(said)):
                    gpus.machine_file(name)

    def test_what_a_machine_file_must_have_is_what_the_h200s_has(self) -> None:
        self.assertEqual({"name", *gpus.ranges()}, set(json.loads((gpus.MACHINES / "h200.json").read_text())))

    def test_roofs_are_measured_where_they_are_recorded_and_else_of_the_machine_file(self) -> None:
        self.assertEqual(gpus.roofs("h200")["source"], "measured")
        recorded = json.loads((gpus.ROOT / "plots/results/nvidia-h200.json").read_text())["roofs"]
        self.assertEqual(gpus.roofs("h200")["copy_gbs"], recorded["copy_gbs"])
        roofs = gpus.roofs("l4")
        self.assertEqual(roofs["source"], "the machine file")
        self.assertAlmostEqual(roofs["fma_gflops"], 2 * 32 * 4 * 58 * 2.04)
        self.assertAlmostEqual(gpus.roofs("a100")["fma_gflops"] / 1e3, 19.5, places=1)  # 64 lanes per SM
        for name in gpus.known():
            self.assertTrue(all(gpus.roofs(name)[field] > 0 for field in results.ROOF_FIELDS), name)


class Kept(unittest.TestCase):
    """The solution's points beside its object, so that they are predicted once."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.made_of = [Path(folder.name, name) for name in ("rung.so", "profile", "worker")]
        for path in self.made_of:
            path.touch()
            os.utime(path, (1e9, 1e9))
        rung, profile, worker = self.made_of
        self.options = options(keep=Path(folder.name, "kept.json"), rung=rung, profile=profile, worker=worker, gpu="h200", k=50, failed=False)

    def times_predicted(self, **other: object) -> int:
        """Of one more call: 1 if it was predicted again."""
        chosen = argparse.Namespace(**{**vars(self.options), **other})
        with mock.patch.object(predict, "points", return_value=[{"seconds": 1e-6}]) as points:
            self.assertEqual(predict.kept(chosen, SHAPE), [{"seconds": 1e-6}])
        return points.call_count

    def test_the_second_time_they_are_taken_from_the_file(self) -> None:
        self.assertEqual([self.times_predicted(), self.times_predicted()], [1, 0])

    def test_what_they_were_made_of_is_newer(self) -> None:
        for path in self.made_of:
            self.times_predicted()
            os.utime(path, (4e9, 4e9))
            self.assertEqual(self.times_predicted(), 1, path.name)
            os.utime(path, (1e9, 1e9))

    def test_another_gpu(self) -> None:
        self.times_predicted()
        self.assertEqual(self.times_predicted(gpu="h100"), 1)

    def test_what_failed_is_not_kept(self) -> None:
        self.assertEqual([self.times_predicted(failed=True), self.times_predicted()], [1, 1])

    def test_a_file_that_was_cut_off(self) -> None:
        self.options.keep.write_text('{"of"')
        self.assertEqual([self.times_predicted(), self.times_predicted()], [1, 0])


if __name__ == "__main__":
    unittest.main()
