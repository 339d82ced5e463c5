"""Parts of the peers' measurement that need no GPU; those that need PyTorch are skipped where it is missing."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent))
import clocks  # noqa: E402
import raft  # noqa: E402
import shapes  # noqa: E402

has_torch = importlib.util.find_spec("torch") is not None
if has_torch:
    import torch

    import check
    import floors
    import timing


class Raft(unittest.TestCase):
    def test_where_it_is_not_installed_it_says_so(self):
        if not importlib.util.find_spec("libraft"):
            with self.assertRaisesRegex(OSError, "pip install libraft-cu13"):
                raft.homes()

    def test_its_own_copy_of_the_library_for_devices_comes_first(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict("os.environ", RAFT_HOME=f"{folder}/a:{folder}/b"):
            for place in ("a/include/rapids", "a/lib64", "b/include"):
                Path(folder, place).mkdir(parents=True)
            words = raft.command(raft.homes(), "nvcc", "sm_90")
        includes = [word.removeprefix(f"-I{folder}/") for word in words if word.startswith("-I")]
        self.assertEqual(includes, ["a/include/rapids", "a/include", "b/include"])
        self.assertEqual([word for word in words if word.startswith("-L")], [f"-L{folder}/a/lib64"])


class Shapes(unittest.TestCase):
    def test_all_cases(self):
        cases = shapes.cases()
        self.assertEqual(len([case for case in cases if case.op == "softmax"]), 3 * len(shapes.SOFTMAX))
        self.assertEqual({case.dtype for case in cases if case.op == "topk"}, {"float32", "float16"})
        self.assertTrue(all(case.k for case in cases if case.op == "topk"))
        self.assertEqual(len([case for case in cases if case.op == "rms_norm"]), 2 * len(shapes.RMS_NORM))
        for op in ("rms_norm", "layer_norm", "cross_entropy", "cross_entropy_gradient"):
            self.assertEqual({case.dtype for case in cases if case.op == op}, {"float32", "bfloat16"})

    def test_a_part(self):
        cases = shapes.cases(ops="topk", dtypes="bf16", shapes="1x50257, 4096x32000")
        self.assertEqual({(case.op, case.dtype) for case in cases}, {("topk", "bfloat16")})
        self.assertEqual(sorted(case.k for case in cases), [5, 50, 128, 256])

    def test_words_that_mean_nothing(self):
        for arguments, words in (({"ops": "max"}, "OPS=max"), ({"dtypes": "f64"}, "DTYPES=f64"), ({"shapes": "3x3"}, "SHAPES=3x3"), ({"values": "odd"}, "VALUES=odd")):
            with self.assertRaisesRegex(shapes.UserError, words):
                shapes.cases(**arguments)

    def test_values(self):
        self.assertEqual({case.values for case in shapes.cases()}, {"normal"})
        cases = shapes.cases(dtypes="f32", values="masked, normal,ignored")
        self.assertEqual({(case.op, case.values) for case in cases if case.op not in ("rms_norm", "layer_norm")},
                         {(op, values) for op in ("softmax", "topk") for values in ("normal", "masked")} |
                         {(op, values) for op in ("cross_entropy", "cross_entropy_gradient") for values in ("normal", "ignored")})
        self.assertEqual({case.values for case in cases if case.op == "rms_norm"}, {"normal"})
        self.assertEqual([case.name for case in cases if case.op == "topk"][:2],
                         ["topk float32 1x50257 k5", "topk float32 1x50257 k5 masked"])
        self.assertEqual(shapes.cases(ops="layer_norm", values="ties"), [])

    def test_bytes(self):
        self.assertEqual(shapes.Case("softmax", "float16", 4, 10).input_bytes, 80)
        self.assertEqual(shapes.Case("topk", "float32", 4, 10, 3).output_bytes, 96)
        self.assertEqual(shapes.Case("cross_entropy", "bfloat16", 4, 10).output_bytes, 16)
        self.assertEqual(shapes.Case("cross_entropy_gradient", "bfloat16", 4, 10).output_bytes, 80)


class Clocks(unittest.TestCase):
    def test_what_was_taken_on_a_lowered_clock_is_taken_again(self):
        done, looks = [], []  # whenever the watch looks during the third measurement, two are done

        def read():
            looks.append(1)
            return 1500, 0x08 if len(done) < 2 else 0

        def measure():
            before = len(looks)
            while len(looks) == before:  # however busy this machine is, the watch has looked
                time.sleep(0.001)
            done.append(1)
            return len(done)

        watch = clocks.Watch(read, interval=0.001)
        result, discarded, reasons = clocks.retry(measure, watch, pause=0)
        self.assertEqual((result, discarded, reasons), (3, 2, {"hardware slowdown"}))

    def test_a_device_that_stays_slow(self):
        watch = clocks.Watch(lambda: (900, 0x04), interval=0.001)
        self.assertEqual(clocks.retry(lambda: 1, watch, most=3, pause=0), (1, 3, {"power cap"}))

    def test_an_idle_device_is_not_throttled(self):
        watch = clocks.Watch(lambda: (345, 0x01), interval=0.001)
        self.assertEqual(clocks.retry(lambda: 1, watch, pause=0), (1, 0, set()))
        self.assertEqual(clocks.retry(lambda: 1, clocks.Watch(None), pause=0), (1, 0, set()))


@unittest.skipUnless(has_torch, "PyTorch is not installed")
class Checks(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        self.x = 3 * torch.randn(5, 300)

    def test_softmax(self):
        y = torch.softmax(self.x, -1)
        self.assertEqual(check.softmax_problem(self.x, y), "")
        y[3, 7] *= 1.001
        self.assertIn("row 3, column 7", check.softmax_problem(self.x, y))
        y[2, 1] = float("nan")
        self.assertIn("row 2, column 1: nan", check.softmax_problem(self.x, y))
        self.assertIn("the result is", check.softmax_problem(self.x, y[:, 1:]))

    def test_rms_norm(self):
        weight = torch.randn(300)
        y = torch.nn.functional.rms_norm(self.x, (300,), weight, shapes.RMS_NORM_EPS)
        self.assertEqual(check.rms_norm_problem(self.x, weight, y), "")
        self.assertIn("row 0", check.rms_norm_problem(self.x, weight.flip(0), y))
        y[3, 7] = -y[3, 7]
        self.assertIn("row 3, column 7", check.rms_norm_problem(self.x, weight, y))

    def test_layer_norm(self):
        weight, bias = torch.randn(300), torch.randn(300)
        y = torch.nn.functional.layer_norm(self.x, (300,), weight, bias, shapes.LAYER_NORM_EPS)
        self.assertEqual(check.layer_norm_problem(self.x, weight, bias, y), "")
        self.assertIn("expected", check.layer_norm_problem(self.x, weight, bias.flip(0), y))

    def test_cross_entropy(self):
        target, leaf = torch.tensor([0, 299, 7, 7, 150]), self.x.clone().requires_grad_()
        loss = torch.nn.functional.cross_entropy(leaf, target, reduction="none")
        gradient = torch.autograd.grad(loss, leaf, torch.full((5,), 0.2))[0]
        loss = loss.detach()
        self.assertEqual(check.cross_entropy_problem(self.x, target, loss), "")
        self.assertEqual(check.cross_entropy_problem(self.x, target, loss, gradient, 0.2), "")
        self.assertIn("loss", check.cross_entropy_problem(self.x, target.flip(0), loss))
        self.assertIn("gradient", check.cross_entropy_problem(self.x, target, loss, gradient, 0.3))
        gradient[1, 299] += 0.2
        self.assertIn("gradient", check.cross_entropy_problem(self.x, target, loss, gradient, 0.2))

    def test_cross_entropy_with_ignored_rows(self):
        target, leaf = torch.tensor([0, -100, 7, -100, 150]), self.x.clone().requires_grad_()
        loss = torch.nn.functional.cross_entropy(leaf, target, reduction="none")
        gradient = torch.autograd.grad(loss, leaf, torch.full((5,), 0.2))[0]
        loss = loss.detach()
        self.assertEqual(check.cross_entropy_problem(self.x, target, loss, gradient, 0.2), "")
        gradient[3, 8] = 1e-9  # must be 0
        self.assertIn("gradient", check.cross_entropy_problem(self.x, target, loss, gradient, 0.2))
        loss[1] = 1e-9
        self.assertIn("loss", check.cross_entropy_problem(self.x, target, loss))

    def test_topk(self):
        prob, index = torch.softmax(self.x, -1).topk(6)
        self.assertEqual(check.topk_problem(self.x, prob, index, 6), "")
        swapped = index[:, [1, 0, 2, 3, 4, 5]]
        self.assertIn("order", check.topk_problem(self.x, prob, swapped, 6))
        self.assertIn("probability", check.topk_problem(self.x, prob * 1.01, index, 6))
        twice = index.clone()
        twice[0, 1] = twice[0, 0]
        self.assertIn("twice", check.topk_problem(self.x, prob, twice, 6))
        self.assertIn("range", check.topk_problem(self.x, prob, index + 300, 6))

    def test_topk_of_masked_logits(self):
        x = torch.full((2, 3000), -float("inf"))
        x[:, ::997] = torch.tensor([1.0, 3, 2, 0])
        prob, index = torch.softmax(x, -1).topk(4)
        fill = torch.arange(1, 5).expand(2, 4)  # the lowest columns of those that are masked
        prob, index = torch.cat([prob, torch.zeros(2, 4)], 1), torch.cat([index, fill], 1)
        self.assertEqual(check.topk_problem(x, prob, index, 8, lower_first=True), "")
        index[1, 7] = 2900
        self.assertEqual(check.topk_problem(x, prob, index, 8), "")
        self.assertIn("lower index", check.topk_problem(x, prob, index, 8, lower_first=True))
        index[1, 3] = 1500
        self.assertIn("not the largest", check.topk_problem(x, prob, index, 8))

    def test_topk_of_ties(self):
        for dtype in (torch.float32, torch.float16, torch.bfloat16):
            x = torch.randint(-2, 2, (4, 500)).to(dtype)
            x[0, :3] = torch.tensor([-0.0, 0.0, -0.0])
            index = torch.sort(x.float(), descending=True, stable=True).indices[:, :300]
            self.assertTrue(torch.equal(check.largest(x, 300), index))
            prob = torch.softmax(x.float(), -1).gather(-1, index)
            self.assertEqual(check.topk_problem(x, prob, index, 300, lower_first=True), "")
            swapped = index[:, [1, 0, *range(2, 300)]]
            self.assertEqual(check.topk_problem(x, prob, swapped, 300), "")
            self.assertIn("lower index", check.topk_problem(x, prob, swapped, 300, lower_first=True))

    def test_a_copy_is_one(self):
        self.assertEqual(floors.problem("copy", self.x, self.x.clone()), "")
        self.assertEqual(floors.problem("copy", self.x, (None, self.x.clone())), "")  # of the losses and the gradient
        self.assertIn("differs", floors.problem("copy", self.x, self.x.flip(0)))

    def test_what_logits_are_filled_with(self):
        x = torch.empty(3, 2000)

        def filled(values):
            timing.fill(x.fill_(float("nan")), values)
            return x

        self.assertAlmostEqual(filled("normal").std().item(), 3, delta=0.2)
        self.assertTrue(bool((filled("descending").diff() < 0).all()))
        self.assertTrue(bool((filled("ascending").diff() > 0).all()))
        self.assertEqual(filled("ties").unique().tolist(), [0, 1, 2, 3])
        self.assertEqual(filled("constant").unique().tolist(), [1])
        self.assertEqual(filled("masked").isfinite().nonzero().tolist(), [[row, column] for row in range(3) for column in (0, 997, 1994)])


class Command(unittest.TestCase):
    @unittest.skipIf(has_torch, "PyTorch is installed")
    def test_without_pytorch(self):
        done = subprocess.run([sys.executable, Path(__file__).with_name("measure.py"), "--output", "/nonexistent/x"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual((done.returncode, done.stdout.count("\n")), (2, 1))
        self.assertIn("PyTorch is not installed", done.stdout)


if __name__ == "__main__":
    unittest.main()
