"""What nvcc says of every program of the table is what the rules say, with the line. Run by make test."""

import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import front_end
import refused
import syntax_tree
import table

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from course.sampling import has_list, left_to_rest, sampled  # noqa: E402

SIMTCC = Path(__file__).resolve().parents[1] / "simtcc"
NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")

# Where the two verdicts differ, and why. Each still differs, or the test fails.
DIFFERENT = {
    "cudaMalloc_in_kernel": "the executor has no runtime on the device, and says so",
    "std_numeric_limits_in_template_argument": "nvcc counts a call in a template's argument, which the compiler computes",
    "unroll_runtime": "g++ and clang leave out a #pragma unroll whose number is none",
}
# nvcc names the end of what clang names the beginning of.
OTHER_LINE = {"host_destructor", "base_class_of_host"}


def refused_by_compiler(program: table.Program, folder: Path) -> bool:
    """What is no CUDA rule but plain C++, g++ refuses: simtcc says both."""
    return subprocess.run([sys.executable, SIMTCC, *program.options, "-c", f"{program.name}.cu", "-o", f"{program.name}.o"], cwd=folder,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0


@unittest.skipUnless(front_end.compiler(), "clang++ is not installed")
class Table(unittest.TestCase):
    @has_list
    def test_same_verdict_as_nvcc_and_same_line(self):
        verdicts = table.verdicts()
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            options = ["-std=c++17"]
            headers = {relaxed: folder / f"{relaxed}.pch" for relaxed in (False, True)}
            for relaxed, made in headers.items():
                front_end.precompile(front_end.compiler(), options, relaxed, made)

            def judge(program: table.Program) -> str | None:
                nvcc, path = verdicts[program.name], folder / f"{program.name}.cu"
                path.write_text(program.text)
                relaxed = "--expt-relaxed-constexpr" in program.options
                own = [option for option in program.options if option.startswith("-std")]
                found = refused.refusals(str(path), own or options, relaxed, None if own else headers[relaxed], "--extended-lambda" in program.options)
                accepted = not found and (nvcc["accepted"] or not refused_by_compiler(program, folder))
                says = "; ".join(f"line {line}: {text}" for _, line, _, text, _ in found) or "nothing"
                if (accepted != nvcc["accepted"]) != (program.name in DIFFERENT):
                    return f"{program.name}: nvcc {nvcc['message'] or 'takes it'}; here {says}"
                if found and nvcc["lines"] and program.name not in OTHER_LINE and not set(nvcc["lines"]) & {line for _, line, *_ in found}:
                    return f"{program.name}: nvcc names line {nvcc['lines']}; here {says}"
                return None

            with ThreadPoolExecutor(2) as pool:
                wrong = [answer for answer in pool.map(judge, sampled(table.programs(), 8, "programs that nvcc was asked about")) if answer]
        self.assertEqual(wrong, [], "\n" + "\n".join(wrong))

    def test_the_course_s_own_headers_are_understood(self):
        """Otherwise much would go unseen: what clang does not understand it does not judge."""
        with tempfile.TemporaryDirectory() as folder:
            empty = Path(folder) / "empty.cu"
            empty.write_text("")
            for relaxed in (False, True):
                answer = front_end.ask(front_end.compiler(), str(empty), ["-std=c++17"], relaxed)
                self.assertEqual(answer.messages, [])
                self.assertIn(syntax_tree.MARK, answer.tree)


@unittest.skipUnless(front_end.compiler(), "clang++ is not installed")
class Command(unittest.TestCase):
    def said(self, text: str, *options: str) -> tuple[int, str]:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "own.cu").write_text(text)
            ended = subprocess.run([sys.executable, refused.__file__, *options, "own.cu"], cwd=folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True)
        return ended.returncode, ended.stdout

    def test_a_refusal_names_place_meaning_and_cure(self):
        status, said = self.said("float f(float x) { return x; }\n__global__ void k(float* x) { *x = f(*x); }\n", "-std=c++17", "-I", "/tmp")
        self.assertEqual(status, 1)
        self.assertIn('own.cu:2:36: error: nvcc refuses this: calling a __host__ function("f") from a __global__ function is not allowed', said)
        self.assertIn("write __device__ before f (line 1)", said)

    def test_an_operator_of_the_host_is_named_and_not_what_is_called_on_its_result(self):
        for call in ("typeid(float).name()[0]", "typeid(float) == typeid(int)"):
            with self.subTest(call=call):
                status, said = self.said(f"#include <typeinfo>\n__global__ void k(float* x) {{ *x = {call}; }}\n")
                self.assertEqual(status, 1)
                self.assertIn("own.cu:2:36: error: nvcc refuses this: the operator \"typeid\" is not allowed in device code", said)
                self.assertNotIn("__host__ function", said)

    def test_a_right_file(self):
        self.assertEqual(self.said("__device__ float f(float x) { return x; }\n__global__ void k(float* x) { *x = f(*x); }\n"), (0, ""))

    def test_what_only_the_executor_lacks_is_not_called_nvcc_s(self):
        status, said = self.said("__global__ void k(float** x) { cudaMalloc(x, 4); }\n")
        self.assertEqual(status, 1)
        self.assertIn("own.cu:1:32: error: the executor has no cudaMalloc in kernels", said)
        self.assertNotIn("nvcc refuses", said)

    def test_no_verdict_without_the_file(self):
        ended = subprocess.run([sys.executable, refused.__file__, "no_such_file.cu"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(ended.returncode, 2, ended.stdout)


BOMB = """template <int depth, int path>
struct Bomb {
  static constexpr long long value = Bomb<depth - 1, 2 * path>::value + Bomb<depth - 1, 2 * path + 1>::value;
};
template <int path>
struct Bomb<0, path> {
  static constexpr long long value = path;
};
static_assert(Bomb<26, 1>::value != 3, "");
"""


@unittest.skipUnless(front_end.compiler(), "clang++ is not installed")
class Limits(unittest.TestCase):
    def asked(self, text: str, **limits: int) -> list[refused.Refusal]:
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.multiple(front_end, **{"SECONDS": 20, **limits}):
            path = Path(folder) / "own.cu"
            path.write_text(text)
            return refused.refusals(str(path), ["-std=c++17"])

    def test_a_file_that_keeps_clang_busy(self):
        with self.assertRaisesRegex(OSError, "own.cu keeps clang busy for more than 1 s: whether nvcc would take it is not checked"):
            self.asked(BOMB, SECONDS=1)

    def test_a_file_that_takes_all_memory(self):
        with self.assertRaisesRegex(OSError, r"clang needs more than \d+ GiB of memory for .*own.cu"):
            self.asked(BOMB, MEMORY_BYTES=300 << 20, SECONDS=60)

    def test_without_a_tree_there_are_the_messages(self):
        wrong = "float f(float x) { return x; }\n__global__ void k(float* x) { *x = f(*x); }\n"
        with unittest.mock.patch.object(front_end, "breaks", side_effect=[True, False]):
            self.assertEqual([refusal[1] for refusal in self.asked(wrong)], [2])

    def test_a_tree_that_is_too_large_is_not_read(self):
        deep = "__global__ void k(float* x) { x[0] = " + "+".join(["1.0f"] * 500) + "; }\n"
        wrong = "constexpr float w[2] = {1, 2};\n__global__ void l(float* x) { *x = w[1]; }\n"
        self.assertEqual([refusal[1] for refusal in self.asked(wrong + deep)], [2])
        with unittest.mock.patch.object(syntax_tree, "MOST_NODES", 100):
            self.assertEqual(self.asked(wrong + deep), [])


@unittest.skipUnless(NVCC, "nvcc is not installed")
class AskedAgain(unittest.TestCase):
    @left_to_rest
    def test_nvcc_still_says_so(self):
        """Of a part of the table; ask_nvcc.py --all asks about all of it."""
        verdicts = table.verdicts()
        with tempfile.TemporaryDirectory() as folder:
            for program in table.programs()[::50]:
                with self.subTest(program.name):
                    self.assertEqual(table.ask_nvcc(NVCC, program, Path(folder)), verdicts[program.name])


if __name__ == "__main__":
    unittest.main()
