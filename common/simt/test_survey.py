"""simtcc --survey: a checkout with all that may be in one."""

import json
import os
import unittest

from simtcc_testing import KERNEL, InFolder, in_turn, simtcc


class Survey(InFolder):
    def survey(self, *options):
        made = simtcc("--survey", "repository", "--json", "report.json", *options, folder=self.folder)
        self.assertEqual(made.returncode, 0, made.stdout)
        verdicts = json.loads((self.folder / "report.json").read_text())
        return made.stdout, {one["path"]: one for one in verdicts}

    @in_turn(2)
    def test_every_file_gets_its_verdict(self):
        def write(name, text):
            self.write(f"repository/{name}", text)

        write("src/kernels/uses.cu", '#include <lib/util.cuh>\n#include "checks.h"\n#include "../../deep/side/s.h"\n'
                                     "void run(float* x) { CHECK((fill<float><<<1, 32>>>(x, side()))); }\n")
        write("include/lib/util.cuh", '#include "detail/helper.h"\ntemplate <typename T> __global__ void fill(T* x, T v) { *x = helper(v); }\n')
        write("include/lib/detail/helper.h", "template <typename T> __device__ T helper(T v) { return v; }\n")
        write("common/checks.h", "#define CHECK(x) x\n")
        write("other/checks/s.h", "#error the wrong one\n")
        write("deep/side/s.h", "inline float side() { return 1; }\n")
        write("no_kernel.cu", "int main() {}\n")
        write("extension.cu", "\n#include <torch/extension.h>\n" + KERNEL)
        write("image.cu", "\n\ntexture<float, 1> image;\n__global__ void k() { nothing_of_this_name(); }\n")
        write("name.cu", '#include "lib/util.cuh"\nvoid f() {\n  nothing_of_this_name();\n}\n')
        write("a 'name' with $x;.cu", KERNEL)
        write("-o.cu", KERNEL)
        write(".git/hidden.cu", "#error not a source\n")
        folder = self.folder / "repository"
        (folder / "latin.cu").write_bytes(b"// caf\xe9 \xff\r\n" + KERNEL.encode())
        os.symlink("nowhere.cu", folder / "dangling.cu")
        os.symlink("..", folder / "loop")
        os.mkfifo(folder / "pipe.cu")
        said, found = self.survey()
        good = ["src/kernels/uses.cu", "no_kernel.cu", "a 'name' with $x;.cu", "-o.cu", "latin.cu"]
        missing = {"extension.cu": (2, "header torch/extension.h"), "image.cu": (3, "texture references"), "name.cu": (3, "nothing_of_this_name"),
                   "dangling.cu": (1, "cannot be read")}
        self.assertEqual(set(found), {*good, *missing}, said)
        for name in good:
            with self.subTest(file=name):
                self.assertEqual(found[name]["status"], {"plain": "compiles", "check": "compiles"}, said)
        for name, (line, what) in missing.items():
            with self.subTest(file=name):
                self.assertIn(f"{name}:{line}: {what}", said)
                self.assertIn(what, found[name]["all_missing"][0])
        self.assertIn("no_kernel.cu: compiles (no kernel)", said)
        self.assertIn("9 files, 5 with kernels: 5 compile, 5 of them with --check too", said)
        self.assertRegex(said, r"\n +1 +1   texture references")

    @in_turn(2)
    def test_the_samples_helpers_are_those_of_the_checkout_if_it_has_them(self):
        def write(folder):
            self.write(f"{folder}/src/a.cu", "#include <helper_cuda.h>\nvoid f(int* x) { checkCudaErrors(cudaFree(x)); }\n")
            self.write(f"{folder}/src/b.cu", "#include <helper_cuda.h>\nvoid f(int* x) { only_here(cudaFree(x)); }\n")

        write("repository/one")
        said, found = self.survey()
        self.assertEqual(found["one/src/a.cu"]["status"]["check"], "compiles", said)
        self.assertIn("only_here", found["one/src/b.cu"]["all_missing"][0])
        self.write("repository/Common/helper_cuda.h", "inline void only_here(int) {}\n")
        said, found = self.survey()
        self.assertEqual(found["one/src/b.cu"]["status"]["check"], "compiles", said)
        self.assertIn("checkCudaErrors", found["one/src/a.cu"]["all_missing"][0])

    @in_turn(2)
    def test_options_that_build_files_have_are_tried(self):
        lambdas = "template <typename F> __global__ void each(F f) { f(threadIdx.x); }\nvoid g(int* x) { each<<<1, 32>>>([=] __device__(int i) { x[i] = i; }); }\n"
        concepts = "#include <concepts>\ntemplate <std::integral T> T one() { return 1; }\nvoid h() { one<int>(); }\n"
        self.write("repository/lambda.cu", lambdas)
        self.write("repository/both.cu", "#include <algorithm>\n__global__ void k(int* x, int n) { *x = std::min(*x, n); }\n" + concepts)
        self.write("repository/volatile.cu", "__global__ void k(int* x) {\n  extern __shared__ volatile int s[];\n  s[threadIdx.x] = 0;\n  no_such();\n}\n")
        said, found = self.survey()
        self.assertIn("lambda.cu: compiles with --extended-lambda\n", said)
        self.assertEqual(set(found["both.cu"]["options"]), {"--expt-relaxed-constexpr", "-std=c++20"}, said)
        self.assertIn("volatile.cu:4: no_such\n", said)
        said, found = self.survey("-std=c++17")
        self.assertNotEqual(found["both.cu"]["status"]["plain"], "compiles", said)

    def test_other_libraries_are_named_apart_and_what_follows_from_an_unknown_name_is_not(self):
        self.write("repository/a.cu", "#include <torch/all.h>\n" + KERNEL)
        self.write("repository/b.cu", "#include <ATen/ATen.h>\n" + KERNEL)
        self.write("repository/c.cu", "#include <rmm/device_buffer.hpp>\n#include <cuda_of_tomorrow.h>\n" + KERNEL)
        self.write("repository/d.cu", "#include <cuda_of_tomorrow.h>\n" + KERNEL)
        self.write("repository/e.cu", "\nvoid f(NoSuchType x, int n);\n" + KERNEL)
        said, found = self.survey()
        self.assertIn("3 of them need a header that is neither in the checkout nor CUDA's, so nothing else is known of them: "
                      "PyTorch 2, rmm 1. ", said)
        self.assertRegex(said, r"\n +2 +2   headers of PyTorch\n")
        self.assertIn("e.cu:2: NoSuchType", said)

    @in_turn(2)
    def test_a_file_that_the_compiler_does_not_finish(self):
        self.write("repository/explode.cu", "template <int N, int M> struct F { static const int v = F<N - 1, 2 * M>::v + F<N - 1, 2 * M + 1>::v; };\n"
                                            "template <int M> struct F<0, M> { static const int v = 1; };\nint x = F<28, 1>::v;\n")
        said, found = self.survey("--seconds", "3")
        self.assertIn("explode.cu:1: compiling takes more than 3 s", said)

    def test_what_fails_with_check_alone_is_said(self):
        self.write("repository/a.cu", "#ifdef __SANITIZE_THREAD__\n#error only here\n#endif\n")
        said, found = self.survey()
        self.assertIn("a.cu:2: compiles, with --check not: #error only here", said)

    def test_no_folder_and_no_file(self):
        for folder, words in [("nowhere", "is no folder"), (".", "there is no .cu file")]:
            made = simtcc("--survey", folder, folder=self.folder)
            self.assertEqual(made.returncode, 1)
            self.assertIn(words, made.stdout)

    def test_files_have_device_functions_of_their_own(self):
        self.write("h.cuh", "#pragma once\n__device__ float twice(float x);\n__device__ float twice(float x) { return 2 * x; }\n"
                            "namespace in { __device__ float2 operator+(float2 a, float b) { return make_float2(a.x + b, a.y); } }\n")
        self.write("a.cu", '#include "h.cuh"\n__device__ float own(float x) { return x + 1; }\n'
                           "__global__ void k(float* x) { *x = twice(own(*x)); }\nvoid run(float* x) { k<<<1, 1>>>(x); }\n")
        self.write("b.cu", '#include "h.cuh"\nusing in::operator+;\n__device__ float own(float x) { return x - 3; }\n'
                           "__global__ void k2(float* x) { *x = (make_float2(twice(own(*x)), 0) + 1).x; }\nvoid run(float*);\n"
                           "int main() { float* x; cudaMallocManaged(&x, 4); *x = 1; run(x); k2<<<1, 1>>>(x); run(x);\n"
                           "  return cudaDeviceSynchronize() != cudaSuccess || *x != 8; }\n")
        for options in ((), ("--check",)):
            self.builds(*options, "a.cu", "b.cu", "-o", "program")
            self.assertEqual(os.system(f"{self.folder}/program"), 0)
        self.builds("-c", "a.cu", "-o", "a.o")
        self.builds("b.cu", "a.o", "-o", "program")
        self.assertEqual(os.system(f"{self.folder}/program"), 0)

    def test_objects_are_compiled_and_linked(self):
        self.write("k.cu", KERNEL + "void run(int* x) { k<<<1, 32>>>(x); }\n")
        self.write("main.cu", "void run(int*);\nint main() { int* x; cudaMallocManaged(&x, 128); run(x); return cudaDeviceSynchronize() + x[31] - 31; }\n")
        self.builds("-c", "k.cu", "-o", "k.o")
        self.builds("main.cu", "k.o", "-o", "program")
        self.assertEqual(os.system(f"{self.folder}/program"), 0)


if __name__ == "__main__":
    unittest.main()
