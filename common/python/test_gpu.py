"""The binding on a GPU, against torch.softmax and torch.topk; skipped where PyTorch or a device is missing."""

from __future__ import annotations

import sys
import unittest
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1])]
from course import labs  # noqa: E402

try:
    import torch
    has_gpu = torch.cuda.is_available()
except ImportError:
    has_gpu = False

if has_gpu:
    import ladder

WRONG = {name for lab in labs.load() for name in lab.wrong}
TOLERANCE = {"float32": 1e-6, "float16": 1e-3, "bfloat16": 8e-3}


@unittest.skipUnless(has_gpu, "PyTorch finds no CUDA device")
class OnTheGpu(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)

    def logits(self, *shape: int, dtype: str = "float32"):
        return (3 * torch.randn(*shape, device="cuda")).to(getattr(torch, dtype))

    def same(self, y, x, what=None):
        expected = torch.softmax(x.double(), -1)
        self.assertLess((y.double() - expected).abs().max().item(), TOLERANCE[str(x.dtype).split(".")[1]], what)

    def test_every_variant(self):
        for variant in ladder.variants():
            x = self.logits(5, 3, 600, dtype=variant.dtype)
            if variant.op == "softmax":
                if variant.name.split(".")[-1] in WRONG:
                    continue  # wrong on purpose
                self.same(ladder.softmax(x, variant=variant.name), x, variant)
            else:
                prob, index = ladder.softmax_topk(x, 7, variant=variant.name)
                best = x.float().topk(7)
                self.assertTrue(torch.equal(x.float().gather(-1, index.long()), best.values), variant)
                expected = torch.softmax(x.double(), -1).gather(-1, index.long())
                self.assertLess((prob.double() - expected).abs().max().item(), 1e-5, variant)

    def test_default_and_out(self):
        for dtype in {each.dtype for each in ladder.variants("softmax")}:
            x = self.logits(64, 4097, dtype=dtype)
            out = torch.empty_like(x)
            self.assertIs(ladder.softmax(x, out=out), out)
            self.same(out, x)
        x = self.logits(9, 50257)
        prob, index = torch.empty(9, 50, device="cuda"), torch.empty(9, 50, dtype=torch.int32, device="cuda")
        ladder.softmax_topk(x, 50, out=(prob, index))
        self.assertTrue(torch.equal(index.long(), x.topk(50).indices))

    def test_current_stream(self):
        """The input is written on a side stream after much other work: a launch on another stream would read too early."""
        side = torch.cuda.Stream()
        x = torch.zeros(4096, 4096, device="cuda")
        new = self.logits(4096, 4096)
        torch.cuda.synchronize()
        with torch.cuda.stream(side):
            torch.cuda._sleep(50_000_000)
            x.copy_(new)
            y = ladder.softmax(x)
        side.synchronize()
        self.same(y, new)

    def test_graph(self):
        x, y = self.logits(128, 1000), torch.empty(128, 1000, device="cuda")
        prob, index = torch.empty(128, 5, device="cuda"), torch.empty(128, 5, dtype=torch.int32, device="cuda")
        ladder.softmax(x, out=y), ladder.softmax_topk(x, 5, out=(prob, index))
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            ladder.softmax(x, out=y)
            ladder.softmax_topk(x, 5, out=(prob, index))
        x.copy_(self.logits(128, 1000))
        graph.replay()
        self.same(y, x)
        self.assertTrue(torch.equal(index.long(), x.topk(5).indices))

    def test_other_arrays(self):
        x = self.logits(3, 500)

        class Interface:
            __cuda_array_interface__ = x.__cuda_array_interface__

        class Dlpack:
            def __dlpack__(self, **options):
                return x.__dlpack__(**options)

            def __dlpack_device__(self):
                return x.__dlpack_device__()

        for each in (Interface(), Dlpack()):
            self.same(ladder.softmax(each), x)
        try:
            import cupy
        except ImportError:
            return
        y = ladder.softmax(cupy.asarray(x))
        self.assertIsInstance(y, cupy.ndarray)
        self.same(torch.as_tensor(y), x)

    def test_bad_arguments(self):
        x = self.logits(4, 600)
        for call, error, text in (
                (lambda: ladder.softmax(x.cpu()), ValueError, "x.cuda()"),
                (lambda: ladder.softmax(x.double()), TypeError, "float64"),
                (lambda: ladder.softmax(x.t()), ValueError, "x.contiguous()"),
                (lambda: ladder.softmax(x[1:, :].view(-1)[1:]), ValueError, "256 bytes"),
                (lambda: ladder.softmax(x, out=torch.empty(4, 600)), ValueError, "x.cuda()|out.cuda()"),
                (lambda: ladder.softmax(x, out=torch.empty(4, 599, device="cuda")), ValueError, "(4, 600)"),
                (lambda: ladder.softmax_topk(x, 0), ValueError, "1 to 600"),
                (lambda: ladder.softmax(self.logits(2, 200000), variant="lab02.tree"), ValueError, "does not take")):
            with self.assertRaises(error) as caught:
                call()
            self.assertTrue(any(part in str(caught.exception) for part in text.split("|")), str(caught.exception))


if __name__ == "__main__":
    unittest.main()
