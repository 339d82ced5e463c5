"""solutions/lab03_online/softmax_triton.py through Triton's interpreter, on the CPU; skipped where Triton or PyTorch is not
installed."""

from __future__ import annotations

import importlib.util
import os
import sys
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "solutions/lab03_online/softmax_triton.py"
missing = [name for name in ("torch", "triton") if importlib.util.find_spec(name) is None]

if not missing:
    os.environ["TRITON_INTERPRET"] = "1"  # before Triton is imported
    import numpy
    import torch

    sys.path.insert(0, str(SOURCE.parent))
    import softmax_triton


@unittest.skipIf(missing, f"not installed: {', '.join(missing)}")
class Interpreted(unittest.TestCase):
    def softmax(self, x, block: int, whole_row: bool):
        y = torch.full_like(x, float("nan"))
        softmax_triton.softmax_kernel.fn[(x.shape[0],)](x, y, x.shape[0], x.shape[1], BLOCK=block, WHOLE_ROW=whole_row)
        return y

    def both_ways(self, x):
        """In registers and in blocks."""
        width = 1 << (x.shape[1] - 1).bit_length()
        yield self.softmax(x, width, True)
        # Triton 3.6's interpreter cannot run a loop to a bound that it knows at run time under NumPy 2.4 or later.
        if width >= 64 and tuple(map(int, numpy.__version__.split(".")[:2])) < (2, 4):
            yield self.softmax(x, width // 4, False)

    def test_against_torch(self):
        torch.manual_seed(0)
        for dtype, tolerance in ((torch.float32, 1e-6), (torch.float16, 1e-3)):
            for rows, cols in ((3, 1), (2, 33), (4, 600), (1, 1025)):
                x = (3 * torch.randn(rows, cols)).to(dtype)
                expected = torch.softmax(x.double(), -1)
                for y in self.both_ways(x):
                    self.assertLess((y.double() - expected).abs().max().item(), tolerance, (dtype, rows, cols))

    def test_masks_and_nan(self):
        x = 3 * torch.randn(5, 200)
        x[0] = -float("inf")
        x[1, ::2] = -float("inf")
        x[2, 77] = float("nan")
        x[3, 199] = float("inf")
        for y in self.both_ways(x):
            self.assertTrue((y[0] == 0).all())
            self.assertTrue((y[1, ::2] == 0).all())
            self.assertAlmostEqual(y[1].sum().item(), 1, places=5)
            self.assertTrue(y[2].isnan().all())
            self.assertTrue(y[3].isnan().all())
            self.assertAlmostEqual(y[4].sum().item(), 1, places=5)

    def test_every_width_has_configurations(self):
        for cols in (1, 2, 31, 33, 600, 1024, 4096, 50257, 151936, 1_000_000):
            chosen = softmax_triton.worth_trying(softmax_triton.CONFIGS, {"cols": cols})
            self.assertTrue(0 < len(chosen) <= 16, (cols, len(chosen)))
            for config in chosen:
                if config.kwargs["WHOLE_ROW"]:
                    self.assertGreaterEqual(config.kwargs["BLOCK"], cols)


if __name__ == "__main__":
    unittest.main()
