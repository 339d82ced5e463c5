"""What nvcc says of every program of the table is what the rules say, with the line. Run by make test."""

import shutil
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import front_end
import refused
import table

SIMTCC = Path(__file__).resolve().parents[1] / "simtcc"
NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")

# Where the two verdicts differ, and why. Each still differs, or the test fails.
DIFFERENT = {
    "host_function_in_unused_inline_device_function": "nvcc leaves out what nobody calls; the mistake is there",
    "host_function_in_discarded_branch": "clang looks up what depends on no template argument before it knows which branch is left out",
    "overload_chooses_the_host_one": "clang overloads by side",
    "cudaMalloc_in_kernel": "the executor has no runtime on the device",
    **dict.fromkeys("""kernel_returns_auto kernel_as_static_member kernel_with_variadic_parameters kernel_with_initializer_list
    kernel_noexcept constexpr_kernel parameters_32768 launch_bounds_on_device_function
    virtual_override_by_host dynamic_cast_in_kernel lambda_for_a_kernel lambda_variable_for_a_kernel
    device_lambda_without_the_flag host_lambda_with_the_flag local_type_for_a_kernel private_type_for_a_kernel
    extern_shared_of_two_types shared_more_than_48_kib shared_more_than_48_kib_in_two shared_more_than_48_kib_in_template
    constexpr_variable_by_address constexpr_variable_by_reference constexpr_array constexpr_array_constant_index
    const_array host_reference constant_more_than_64_kib static_local_with_dynamic_initialiser
    thread_local_in_kernel host_string_in_kernel vector_extension""".split(), "not known to clang"),
}
# nvcc names the end of what clang names the beginning of.
OTHER_LINE = {"host_destructor", "base_class_of_host"}


def refused_by_compiler(program: table.Program, folder: Path) -> bool:
    """What is no CUDA rule but plain C++, g++ refuses: simtcc says both."""
    return subprocess.run([sys.executable, SIMTCC, *program.options, "-c", f"{program.name}.cu", "-o", f"{program.name}.o"], cwd=folder,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0


@unittest.skipUnless(front_end.compiler(), "clang++ is not installed")
class Table(unittest.TestCase):
    def test_same_verdict_as_nvcc_and_same_line(self):
        verdicts = table.verdicts()
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            options = ["-std=c++17"]
            headers = {relaxed: front_end.precompiled(front_end.compiler(), options, relaxed, folder) for relaxed in (False, True)}

            def judge(program: table.Program) -> str | None:
                nvcc, path = verdicts[program.name], folder / f"{program.name}.cu"
                path.write_text(program.text)
                relaxed = "--expt-relaxed-constexpr" in program.options
                found = refused.refusals(str(path), options, relaxed, headers[relaxed])
                accepted = not found and (nvcc["accepted"] or not refused_by_compiler(program, folder))
                says = "; ".join(f"line {line}: {text}" for _, line, _, text, _ in found) or "nothing"
                if (accepted != nvcc["accepted"]) != (program.name in DIFFERENT):
                    return f"{program.name}: nvcc {nvcc['message'] or 'takes it'}; here {says}"
                if found and nvcc["lines"] and program.name not in OTHER_LINE and not set(nvcc["lines"]) & {line for _, line, *_ in found}:
                    return f"{program.name}: nvcc names line {nvcc['lines']}; here {says}"
                return None

            with ThreadPoolExecutor(2) as pool:
                wrong = [answer for answer in pool.map(judge, table.programs()) if answer]
        self.assertEqual(wrong, [], "\n" + "\n".join(wrong))

    def test_the_course_s_own_headers_are_understood(self):
        """Otherwise much would go unseen: what clang does not understand it does not judge."""
        with tempfile.TemporaryDirectory() as folder:
            empty = Path(folder) / "empty.cu"
            empty.write_text("")
            for relaxed in (False, True):
                messages, _ = front_end.ask(front_end.compiler(), str(empty), ["-std=c++17"], relaxed)
                self.assertEqual(messages, [])


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

    def test_a_right_file(self):
        self.assertEqual(self.said("__device__ float f(float x) { return x; }\n__global__ void k(float* x) { *x = f(*x); }\n"), (0, ""))

    def test_no_verdict_without_the_file(self):
        ended = subprocess.run([sys.executable, refused.__file__, "no_such_file.cu"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(ended.returncode, 2, ended.stdout)


@unittest.skipUnless(NVCC, "nvcc is not installed")
class AskedAgain(unittest.TestCase):
    def test_nvcc_still_says_so(self):
        """Of a part of the table; ask_nvcc.py --all asks about all of it."""
        verdicts = table.verdicts()
        with tempfile.TemporaryDirectory() as folder:
            for program in table.programs()[::20]:
                with self.subTest(program.name):
                    self.assertEqual(table.ask_nvcc(NVCC, program, Path(folder)), verdicts[program.name])


if __name__ == "__main__":
    unittest.main()
