"""The binding on NumPy arrays, through the executor; and what it makes of arrays that no rung can take."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path[1:1] = [str(Path(__file__).resolve().parents[1] / "commands"), str(Path(__file__).resolve().parents[1])]
import course_copy  # noqa: E402
import ladder  # noqa: E402
from course import labs  # noqa: E402
from ladder import arrays  # noqa: E402

WRONG = {name for lab in labs.load() for name in lab.wrong}


def logits(*shape: int, dtype: str = "float32") -> numpy.ndarray:
    return (3 * numpy.random.default_rng(0).standard_normal(shape)).astype(dtype)


def reference(x: numpy.ndarray) -> numpy.ndarray:
    x = x.astype("float64")
    e = numpy.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


class OnTheExecutor(unittest.TestCase):
    def test_every_variant(self):
        for variant in ladder.variants():
            if variant.dtype == "bfloat16" or variant.name.split(".")[-1] in WRONG:
                continue  # NumPy has no bfloat16; the others are wrong on purpose
            x = logits(2, 3, 133, dtype=variant.dtype)
            expected = reference(x)
            if variant.op == "softmax":
                y = ladder.softmax(x, variant=variant.name)
                self.assertEqual((y.shape, y.dtype), (x.shape, x.dtype))
                self.assertLess(abs(y - expected).max(), 1e-3 if variant.dtype == "float16" else 1e-6, variant)
            else:
                prob, index = ladder.softmax_topk(x, 5, variant=variant.name)
                order = numpy.argsort(-x.astype("float32"), axis=-1, kind="stable")[..., :5]
                self.assertTrue((index == order).all(), variant)
                self.assertLess(abs(prob - numpy.take_along_axis(expected, order, -1)).max(), 1e-6, variant)

    def test_a_second_call_reads_no_source(self):
        """Which takes milliseconds, on a GPU a thousand times the kernel's time."""
        x = logits(7, 60)
        ladder.softmax(x), ladder.softmax_topk(x, 3)
        with unittest.mock.patch.object(Path, "read_text", side_effect=AssertionError("a file was read")):
            ladder.softmax(x), ladder.softmax_topk(x, 3)

    def test_default_out_and_one_row(self):
        x = logits(700)
        out = numpy.empty_like(x)
        self.assertIs(ladder.softmax(x, out=out), out)
        self.assertLess(abs(out - reference(x)).max(), 1e-6)
        prob, index = numpy.empty(3, "float32"), numpy.empty(3, "int32")
        result = ladder.softmax_topk(x, 3, out=(prob, index))
        self.assertIs(result.index, index)
        self.assertEqual(list(index), list(numpy.argsort(-x)[:3]))

    def test_no_rows(self):
        self.assertEqual(ladder.softmax(numpy.empty((0, 5), "float32")).shape, (0, 5))
        self.assertEqual(ladder.softmax_topk(numpy.empty((4, 0, 5), "float32"), 2).prob.shape, (4, 0, 2))

    def test_a_file_of_ones_own(self):
        path = str(Path(__file__).resolve().parents[2] / "solutions/lab02_smem/softmax_smem.cu")
        x = logits(2, 40)
        self.assertLess(abs(ladder.softmax(x, variant=f"{path}:tree") - reference(x)).max(), 1e-6)

    def test_a_kernel_that_crashes_costs_an_exception(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "crashes.cu"
            file.write_text('#include "rung.h"\n__global__ void kernel(float* y) { y[1ull << 40] = 1; }\n'
                            "cudaError_t crash(const float*, float* y, int, int, cudaStream_t) {\n  kernel<<<1, 1>>>(y);\n"
                            '  return cudaGetLastError();\n}\nRUNG_EXPORT(rung::softmax("crash", crash))\n')
            with self.assertRaisesRegex(ladder.LadderError, r"crashes\.cu:2"):
                ladder.softmax(logits(2, 3), variant=f"{file}:crash")
            refused = file.with_name("refused.cu")
            refused.write_text(file.read_text().replace("<<<1, 1>>>", "<<<1, 2048>>>"))
            with self.assertRaisesRegex(ValueError, r"(?s)refused\.cu:4: launch refused: more threads .*asks for 2048 threads per block"):
                ladder.softmax(logits(2, 3), variant=f"{refused}:crash")
            file.with_name("broken.cu").write_text("this is no CUDA")
            with self.assertRaisesRegex(ladder.LadderError, "could not be built"):
                ladder.softmax(logits(2, 3), variant=f"{file.with_name('broken.cu')}:x")


class OneRung(unittest.TestCase):
    """In a copy of the course in which nothing is built and all other labs are broken."""

    def call(self, statement: str) -> subprocess.CompletedProcess:
        return subprocess.run([sys.executable, "-c", f"import ladder, numpy; x = numpy.ones((2, 40), 'float32'); {statement}"], cwd=self.copy,
                              env={**os.environ, "PYTHONPATH": str(self.copy / "common/python")}, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.copy = course_copy.copy_course(Path(folder.name), built=True)
        for source in (self.copy / "solutions").glob("*/*.cu"):
            if "topk" not in source.name:
                with source.open("a") as file:
                    file.write('#error "this lab was not asked for"\n')

    def test_a_default_needs_the_rung_that_it_calls(self):
        done = self.call("print(ladder.softmax_topk(x, 3).index[0])")
        self.assertEqual((done.returncode, done.stdout), (0, "[0 1 2]\n"), done.stderr)
        self.assertIn("ladder: building build/cpu/solutions/lab06b_topk/softmax_topk_limit.so", done.stderr)
        self.assertNotIn("lab05", done.stderr)
        again = self.call("ladder.softmax_topk(x, 3)")
        self.assertEqual((again.returncode, again.stderr), (0, ""), "nothing is built the second time")

    def test_what_cannot_be_built_is_named(self):
        done = self.call("ladder.softmax(x)")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("softmax_limit.so could not be built", done.stderr)
        done = self.call("print(sorted({v.name.split('.')[0] for v in ladder.variants()}))")
        self.assertEqual(done.stdout, "['lab05', 'lab06b']\n", done.stderr)
        self.assertIn("lab02 is left out", done.stderr)


class BadArguments(unittest.TestCase):
    def refused(self, error: type, words: str, call) -> None:
        with self.assertRaises(error) as caught:
            call()
        self.assertIn(words, str(caught.exception))

    def test_arrays(self):
        x = logits(4, 600)
        self.refused(TypeError, "float64", lambda: ladder.softmax(x.astype("float64")))
        self.refused(TypeError, "big-endian", lambda: ladder.softmax(x.astype(">f4")))
        self.refused(ValueError, "numpy.ascontiguousarray(x)", lambda: ladder.softmax(x.T))
        self.refused(ValueError, "single number", lambda: ladder.softmax(numpy.float32(3) + numpy.zeros((), "float32")[...]))
        self.refused(ValueError, "must not be empty", lambda: ladder.softmax(numpy.empty((3, 0), "float32")))
        self.refused(TypeError, "it must be a PyTorch tensor", lambda: ladder.softmax([1.0, 2.0]))

    def test_outputs(self):
        x = logits(4, 600)
        self.refused(ValueError, "(4, 600)", lambda: ladder.softmax(x, out=numpy.empty((4, 599), "float32")))
        self.refused(TypeError, "it must be float32", lambda: ladder.softmax(x, out=numpy.empty((4, 600))))
        self.refused(ValueError, "shares memory", lambda: ladder.softmax(x, out=x))
        read_only = numpy.empty_like(x)
        read_only.flags.writeable = False
        self.refused(ValueError, "read-only", lambda: ladder.softmax(x, out=read_only))
        self.refused(TypeError, "(prob, index)", lambda: ladder.softmax_topk(x, 2, out=x[0, 0]))
        wrong = (numpy.empty((4, 2), "int32"), numpy.empty((4, 2), "float32"))
        self.refused(TypeError, "out[0] has dtype int32", lambda: ladder.softmax_topk(x, 2, out=wrong))

    def test_k(self):
        x = logits(4, 600)
        for k in (0, -1, 601):
            self.refused(ValueError, "1 to 600", lambda: ladder.softmax_topk(x, k))
        self.refused(ValueError, "1 to 1024", lambda: ladder.softmax_topk(logits(2, 5000), 1025))
        for k in (2.0, "2", True):
            self.refused(TypeError, "whole number", lambda: ladder.softmax_topk(x, k))

    def test_variants(self):
        x = logits(4, 600)
        self.refused(ValueError, "the labs are lab01", lambda: ladder.softmax(x, variant="lab77.tree"))
        self.refused(ValueError, "it has serial", lambda: ladder.softmax(x, variant="lab02.forest"))
        self.refused(TypeError, "takes float16, not float32", lambda: ladder.softmax(x, variant="lab04.f16x8"))
        self.refused(ValueError, "does not take 2 x 200000", lambda: ladder.softmax(logits(2, 200000), variant="lab02.tree"))
        self.refused(ValueError, "there is no file", lambda: ladder.softmax(x, variant="missing.cu:x"))


class DeviceArrays(unittest.TestCase):
    """What is understood of __cuda_array_interface__; nothing is launched."""

    def describe(self, **changes: object) -> arrays.Matrix:
        class Array:
            __cuda_array_interface__ = {"shape": (4, 600), "typestr": "<f4", "data": (0x7000, False), "version": 3,
                                        "strides": None, "stream": 7, **changes}

        return arrays.describe(Array(), "x")

    def test_fields(self):
        matrix = self.describe()
        self.assertEqual((matrix.pointer, matrix.rows, matrix.cols, matrix.dtype, matrix.on_gpu), (0x7000, 4, 600, "float32", True))
        self.assertEqual(matrix.current_stream(), 7)
        self.assertEqual(self.describe(typestr="<f2").dtype, "float16")

    def test_layout_and_alignment(self):
        self.describe(strides=(2400, 4))
        for strides in ((4, 16), (4800, 4), (2400, 8)):
            with self.assertRaisesRegex(ValueError, "contiguous"):
                self.describe(strides=strides)
        with self.assertRaisesRegex(ValueError, "multiple of 256"):
            self.describe(data=(0x7004, False))
        with self.assertRaisesRegex(TypeError, "<f8"):
            self.describe(typestr="<f8")


if __name__ == "__main__":
    unittest.main()
