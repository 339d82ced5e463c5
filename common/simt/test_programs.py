"""Whole CUDA programs through simtcc: those in programs/ (right, without a finding, and with the counters that their
headers derive), and small ones for everything that simtcc does. test_refusals.py has what it does not."""

import json
import os
import re
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

from simtcc_testing import KERNEL, SIMT, InFolder, has_list, in_turn, run, sampled, simtcc


@has_list
class Programs(unittest.TestCase):
    """Each compiled three ways, all at once on as many cores as there are."""

    MODES = {"plain": [], "check": ["--check"], "profile": ["--profile"]}

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.temporary.name)
        cls.programs = sorted((SIMT / "programs").glob("*.cu"))

        def make_and_run(job):
            program, mode = job
            name = f"{program.stem}-{mode}"
            made = simtcc(*cls.MODES[mode], program, "-o", name, folder=cls.folder)
            if made.returncode:
                return job, made
            return job, run(name, cls.folder, SIMT_PROFILE=str(cls.folder / f"{name}.json"))

        jobs = sampled([(program, mode) for program in cls.programs for mode in cls.MODES], 4, "programs of simtcc's own, in one of 3 modes")
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            cls.results = dict(pool.map(make_and_run, jobs))

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def test_there_are_six(self):
        self.assertEqual(len(self.programs), 6)

    def test_results_are_right_and_no_check_finds_anything(self):
        for (program, mode), result in self.results.items():
            with self.subTest(program=program.name, mode=mode):
                self.assertEqual(result.returncode, 0, result.stdout)
                self.assertEqual(result.stdout.splitlines()[-1], "PASS", result.stdout)
                self.assertNotIn("warning", result.stdout)

    def test_counters_are_those_derived_by_hand(self):
        for program in self.programs:
            expected = re.findall(r"^// Expect: (\w+) (\d+) (\S+) (\d+)$", program.read_text(), re.MULTILINE)
            self.assertGreater(len(expected), 4, f"{program.name} derives no figures")
            if (program, "profile") not in self.results:
                continue
            report = json.loads((self.folder / f"{program.stem}-profile.json").read_text())
            for kernel, launch, metric, value in expected:
                with self.subTest(program=program.name, kernel=kernel, launch=launch, metric=metric):
                    launches = [one for one in report["launches"] if re.match(rf"\(*{kernel}\b", one["kernel"])]
                    one = launches[int(launch) - 1]
                    self.assertEqual({**one["total"], **one["footprint"]}[metric], int(value))


MAIN = """
#include <cstdio>
int main() {
  int *x, sum = 0, h[32];
  cudaMalloc(&x, sizeof h);
  LAUNCHES
  cudaMemcpy(h, x, sizeof h, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 32; i++) sum += h[i];
  std::printf("%d\\n", sum);
  return cudaGetLastError();
}
"""


class Accepted(InFolder):
    def prints(self, number, *arguments):
        self.builds(*arguments, "-o", "out/program" if (self.folder / "out").is_dir() else "program")
        result = run("program" if (self.folder / "program").is_file() else "out/program", self.folder)
        self.assertEqual((result.returncode, result.stdout), (0, f"{number}\n"))

    def test_headers_with_kernels_and_launches(self):
        self.write("include/fill.cuh", "#pragma once\n__global__ void fill(int* x, int n) { x[threadIdx.x] = n; }\n")
        self.write("include/run.h", '#pragma once\n#include "fill.cuh"\ninline void run(int* x) { fill<<<1, 32>>>(x, VALUE); }\n')
        self.write("main.cu", '#include "run.h"\n#include "include/fill.cuh"\n' + MAIN.replace("LAUNCHES", "run(x);"))
        (self.folder / "out").mkdir()
        self.prints(96, "-I", "include", "-D", "VALUE=3", "main.cu")

    def test_launches_in_every_form(self):
        launches = """
          k<<<1, 32>>>(x);
          k << <1, 32 >> > (x);
          k<<<dim3(1, 1),
              dim3(32), 0,
              0>>>(x);
          twice<int, 2><<<1, 32>>>(x);
          void (*pointer)(int*) = k;
          pointer<<<1, 32>>>(x);
          void (*both[2])(int*) = {k, k};
          both[1]<<<1, 32>>>(x);
          (*pointer)<<<1, 32>>>(x);
          if (x) add<<<(1 > 0 ? 1 : 2), 32 >> 0>>>(x, NULL);
          add<<<1, 32>>>(x, 0);
          RUN(add, x, x);
          each<<<1, 32>>>(x, [=] __device__(int i) { return x[i] + 1; });
          Box<int, 2>().run(x);
          choose<(1 > 2)><<<1, 32>>>(x, Number::zero);
          shift<<<1, 32>>>(x, {1, 2}, {{3}, 4});
          shift<<<dim3{1, 1, 1}, 32>>>(x, make_int2(1, 2), Pair{{3}, 4});
          sum_of<int, 1><<<1, 32>>>({x, 2}, x);
        """
        self.write("main.cu", KERNEL + """
          #define RUN(kernel, ...) \\
            kernel<<<1, 32>>>(__VA_ARGS__)
          __global__ void __launch_bounds__(32) add(int* x, const int* y) { x[threadIdx.x] += y ? y[threadIdx.x] : 1; }
          struct Number { static const int zero = 0; };
          template <bool yes> __global__ void choose(int* x, int n) { x[threadIdx.x] += yes ? 1000 : n; }
          struct Pair { int first[1], second; };
          struct View { int* data; int more; };
          __global__ void shift(int* x, int2 a, Pair b) { x[threadIdx.x] += a.x + a.y + b.first[0] + b.second; }
          template <typename T, int n> __global__ void sum_of(View view, T* x) { view.data[threadIdx.x] += view.more + n; }
          template <typename F> __global__ void each(int* x, F f) { x[threadIdx.x] = f(threadIdx.x); }
          template <typename T, int n> __global__ void twice(T* x) { extern volatile __shared__ T s[]; s[0] = n; x[threadIdx.x] *= n; }
          template <typename T, int n> struct Box {
            void run(T* x) { twice<T, n><<<1, 32, sizeof(T)>>>(x); }
          };
        """ + MAIN.replace("LAUNCHES", launches))
        # 0..31, plus 1 twice, twice, plus 1, twice: 4i + 10; then two sums of 10, and 3.
        self.prints(4 * 31 * 16 + 33 * 32, "--extended-lambda", "main.cu")

    def test_a_copy_in_the_wrong_direction(self):
        self.write("a.cu", """
          #include <cstdlib>
          int main(int count, char**) {
            static float of_host[64];
            float *x, *pinned;
            cudaMalloc(&x, sizeof of_host);
            cudaMallocHost(&pinned, sizeof of_host);
            cudaMemcpy(x, of_host, sizeof of_host, cudaMemcpyHostToDevice);
            cudaMemcpy(pinned, x, sizeof of_host, cudaMemcpyDeviceToHost);
            cudaMemcpy(x, pinned, sizeof of_host, cudaMemcpyHostToDevice);
            if (std::getenv("TO_HOST")) cudaMemcpy(x, of_host, sizeof of_host, cudaMemcpyDeviceToHost);
            if (std::getenv("TO_DEVICE")) cudaMemcpy(of_host, x, sizeof of_host, cudaMemcpyHostToDevice);
          }
        """)
        self.builds("--check", "a.cu", "-o", "a")
        self.assertEqual(run("a", self.folder).returncode, 0)
        for direction, words, line in (("TO_HOST", "a copy to the host, but goes to memory of cudaMalloc", 11), ("TO_DEVICE", "a copy to the device, but comes from memory of cudaMalloc", 12)):
            said = run("a", self.folder, **{direction: "1"})
            self.assertNotEqual(said.returncode, 0)
            self.assertRegex(said.stdout, rf"memcheck: a copy in the wrong direction.*a\.cu:{line}")
            self.assertIn(words, said.stdout)

    def test_a_variable_of_the_host_in_a_kernel(self):
        def source(first: str, last: str) -> str:
            return """
          #include <cstdio>
          #define PLACE __device__
          float on_host[64];
          static int table[2];
          PLACE float on_device[64];
          __managed__ float managed[64];
          __constant__ float factor[1];
          namespace other { __device__ int table[2]; }
          __global__ void scale(const float* in, float* out) { out[threadIdx.x] = in[threadIdx.x] + managed[threadIdx.x] + factor[0] + other::table[1]; }
          int main() {
            float *x, *variable;
            static float of_main[64];
            cudaMalloc(&x, sizeof on_host);
            cudaMemset(x, 0, sizeof on_host);
            cudaGetSymbolAddress((void**)&variable, on_device);
            on_host[0] = of_main[0] = 1;
            table[0] = 2;
            scale<<<1, 64>>>(""" + first + """, x);
            scale<<<1, 64>>>(""" + last + """, x);
            std::puts(cudaGetErrorString(cudaDeviceSynchronize()));
            return table[0] - 2;
          }
        """
        for number, (last, name) in enumerate([("variable", ""), ("on_host", "on_host"), ("of_main", "of_main")]):
            with self.subTest(last=last):
                self.write(f"{number}.cu", source("managed", last))
                self.builds("--check", f"{number}.cu", "-o", str(number))
                said = run(str(number), self.folder)
                if not name:
                    self.assertEqual((said.returncode, said.stdout), (0, "no error\n"))
                    continue
                self.assertNotEqual(said.returncode, 0)
                self.assertRegex(said.stdout, rf"memcheck: host memory in block \(0,0,0\), thread \(0,0,0\) at .*{number}\.cu:10\n"
                                              rf"it reads 4 bytes at the variable {name}, which is memory of the host\.")
                self.assertIn("On a GPU without HMM the access fails.", said.stdout)

    def test_a_compilation_that_does_not_end(self):
        self.write("bomb.cu", """
          template <int depth, int path> struct Bomb {
            static constexpr long long value = Bomb<depth - 1, 2 * path>::value + Bomb<depth - 1, 2 * path + 1>::value;
          };
          template <int path> struct Bomb<0, path> { static constexpr long long value = path; };
          int main() { return Bomb<26, 1>::value == 3; }
        """)
        with mock.patch.dict(os.environ, SIMT_COMPILE_SECONDS="1"):
            said = self.refuses("bomb.cu", "-o", "bomb")
        self.assertIn("simtcc: bomb.cu takes more than 1 s or 6 GiB to compile: look for a macro or a template that calls for itself", said)

    def test_launches_by_address(self):
        launches = """
          int n = 3;
          void* arguments[] = {&x, &n};
          cudaLaunchKernel((void*)add, dim3(1), dim3(32), arguments, 0, NULL);
          cudaLaunchKernel((const void *)&add, dim3(1), dim3(32), arguments);
          cudaLaunchCooperativeKernel(
              reinterpret_cast<void*>(add_all<2>), 1, 32, arguments);
          cudaLaunchKernel(add, 1, 32, arguments, 0, cudaStreamPerThread);
        """
        self.write("main.cu", """
          #include <cooperative_groups.h>
          __global__ void add(int* x, int n) { x[threadIdx.x] = (x[threadIdx.x] < 0 ? 0 : x[threadIdx.x]) + n; }
          template <int factor> __global__ void add_all(int* x, int n) {
            const int other = x[31 - threadIdx.x];
            cooperative_groups::this_grid().sync();
            x[threadIdx.x] += other + factor * n;
          }
        """ + MAIN.replace("LAUNCHES", launches))
        self.prints(32 * ((3 + 3) * 2 + 6 + 3), "main.cu")

    def test_a_cooperative_kernel_is_checked(self):
        self.write("a.cu", "#include <cooperative_groups.h>\n__global__ void k(int* x) {\n"
                           "  x[threadIdx.x] = 1;\n  cooperative_groups::this_grid().sync();\n  x[threadIdx.x] += x[31 - threadIdx.x] > 0;\n}\n" +
                   MAIN.replace("LAUNCHES", "void* a[] = {&x}; cudaLaunchCooperativeKernel(k, 1, 32, a);"))
        self.builds("--check", "a.cu", "-o", "a")
        result = run("a", self.folder)
        self.assertEqual(result.returncode, 134, result.stdout)
        self.assertIn("racecheck: race in global memory", result.stdout)
        self.assertIn("a.cu:5", result.stdout)

    def test_memory_that_a_kernel_allocates_is_no_wild_address(self):
        # In two kernels: the compiler leaves out an allocation that nobody else sees.
        self.write("a.cu", "struct Box { int* data; };\n__device__ Box* boxes[32];\n__device__ int* more[32];\n__global__ void make() {\n"
                           "  boxes[threadIdx.x] = new Box{new int[4]};\n  more[threadIdx.x] = (int*)malloc(8);\n}\n"
                           "__global__ void k(int* x) {\n  Box* box = boxes[threadIdx.x];\n  more[threadIdx.x][1] = box->data[2] = threadIdx.x;\n"
                           "  x[threadIdx.x] = box->data[2] + more[threadIdx.x][1];\n"
                           "  delete[] box->data;\n  delete box;\n  free(more[threadIdx.x]);\n}\n" +
                   MAIN.replace("LAUNCHES", "make<<<1, 32>>>(); k<<<1, 32>>>(x);"))
        self.builds("--check", "a.cu", "-o", "a")
        result = run("a", self.folder)
        self.assertEqual((result.returncode, result.stdout), (0, "992\n"))

    def test_conditions_on_the_architecture(self):
        self.write("main.cu", """
          #if __CUDA_ARCH__ >= 700
          __device__ int of_device(int n) { return n + 1; }
          #endif
          #if !defined(__CUDA_ARCH__)
          int of_host() { return 5; }
          #endif
          #if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600
          #else
          __device__ double atomicAdd(double*, double) { return 0; }
          #endif
          __global__ void k(int* x) {
          #if __CUDA_ARCH__ < 500
            x[threadIdx.x] = 1000;
          #elif __CUDA_ARCH__ < 800
            x[threadIdx.x] = 2000;
          #else
            x[threadIdx.x] = of_device(0);
          #endif
          #if __CUDA_ARCH__ >= 800
            asm volatile("wgmma.fence.sync.aligned;");
          #else
            x[threadIdx.x] += 10;
          #endif
            if (__CUDA_ARCH__ < 900) x[threadIdx.x] = 3000;
          }
          int host_side() {
          #ifdef __CUDA_ARCH__
            return -1;
          #else
            return of_host();
          #endif
          }
        """ + MAIN.replace("LAUNCHES", "k<<<1, 32>>>(x); sum = host_side();"))
        self.assertNotIn("warning", self.builds("main.cu", "-o", "program"))
        self.assertEqual(run("program", self.folder).stdout, f"{5 + 32 * 11}\n")

    def test_flags_of_the_compiler_are_no_shared_memory(self):
        self.write("a.cu", "struct Pair { int a, b; __device__ Pair() {} };\n__global__ void k(int* x) {\n  __shared__ Pair pairs[32];\n"
                           "  __shared__ float4 v[4];\n  pairs[threadIdx.x].a = 1;\n  if (threadIdx.x < 4) v[threadIdx.x].w = 2;\n"
                           "  __syncthreads();\n  x[threadIdx.x] = pairs[31 - threadIdx.x].a + int(v[threadIdx.x % 4].w);\n}\n" +
                   MAIN.replace("LAUNCHES", "k<<<1, 32>>>(x);"))
        self.builds("--check", "a.cu", "-o", "a")
        result = run("a", self.folder)
        self.assertEqual((result.returncode, result.stdout), (0, "96\n"))

    def test_several_files_and_options_of_nvcc(self):
        self.write("k.cu", KERNEL + "void run(int* x) { k<<<1, 32>>>(x); }\n")
        self.write("main.cu", "void run(int*);\n" + MAIN.replace("LAUNCHES", "run(x);"))
        self.prints(496, "-O3", "-arch=sm_80", "-gencode", "arch=compute_80,code=sm_80", "-lineinfo", "-std=c++17", "k.cu",
                    "main.cu")

    def test_libraries_of_cuda_and_openmp_as_nvcc_is_told_of_them(self):
        self.write("a.cu", KERNEL.replace("x[threadIdx.x] =", "x[threadIdx.x] +=") + "#include <cufft.h>\n#include <omp.h>\nvoid launch(int* x) {\n"
                           "  cufftHandle plan;\n  if (cufftPlan1d(&plan, 4, CUFFT_C2C, 1)) return;\n#pragma omp parallel num_threads(3)\n"
                           "  if (omp_get_thread_num() == 2) k<<<1, 32>>>(x);\n}\n" + MAIN.replace("LAUNCHES", "cudaMemset(x, 0, 32 * sizeof(int)); launch(x);"))
        for how in (["-Xcompiler", "-Wall,-fopenmp"], ["-Xcompiler=-fopenmp"], ["--compiler-options", "'-O3 -fopenmp'"]):
            self.prints(496, *how, "-lcufft", "-lcusolver", "-lcusparse", "-lnvToolsExt", "--generate-line-info", "-isystem", ".", "a.cu")

    def test_clock_in_a_kernel_is_the_multiprocessors(self):
        self.write("a.cu", "#include <cstdio>\n#include <ctime>\n__global__ void k(long long* t) { t[0] = clock64(); t[1] = clock(); t[2] = clock64(); }\n"
                           "int main() {\n  long long *t, h[3];\n  cudaMalloc(&t, sizeof h);\n  k<<<1, 1>>>(t);\n"
                           "  cudaMemcpy(h, t, sizeof h, cudaMemcpyDeviceToHost);\n"
                           "  std::puts(h[0] <= h[1] && h[1] <= h[2] ? \"device\" : \"another\");\n"
                           "  std::puts(clock() < 60 * CLOCKS_PER_SEC ? \"host\" : \"another\");\n}\n")
        self.builds("a.cu", "-o", "a")
        self.assertEqual(run("a", self.folder).stdout, "device\nhost\n")

    def test_files_have_device_variables_of_their_own(self):
        """Two files with one header's variables, and a file of the host with variables of those names."""
        self.write("v.cuh", "__constant__ int add[] = {1, 2};\n__device__ int calls;\n__global__ void NAME(int* x) {\n"
                            "  x[threadIdx.x] += add[threadIdx.x % 2];\n  atomicAdd(&calls, 1);\n}\n"
                            "int SET(int* x, int to) {\n  int both[] = {to, to}, count;\n  cudaMemcpyToSymbol(add, both, sizeof both);\n"
                            "  NAME<<<1, 32>>>(x);\n  cudaMemcpyFromSymbol(&count, calls, sizeof count);\n  return count;\n}\n")
        self.write("k.cu", '#define NAME k\n#define SET with_k\n#include "v.cuh"\n')
        self.write("host.cpp", "int add = 7, calls = 8;\nunsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }\n")
        self.write("main.cu", '#define NAME m\n#define SET with_m\n#include "v.cuh"\nint with_k(int*, int);\n' + MAIN.replace(
            "LAUNCHES", "cudaMemset(x, 0, 32 * sizeof(int)); if (with_k(x, 10) + with_m(x, 100) + with_k(x, 1000) != 128) return 1;"))
        for mode in ([], ["--check"]):
            with self.subTest(mode=mode):
                self.prints(1110 * 32, *mode, "k.cu", "host.cpp", "main.cu")

    def test_device_code_that_is_linked(self):
        self.write("k.cuh", "extern __device__ int total;\n__device__ int twice(int);\nvoid run(int*);\n")
        self.write("k.cu", '#include "k.cuh"\n__device__ int total;\n__device__ int twice(int x) { atomicAdd(&total, 1); return 2 * x; }\n')
        self.write("main.cu", '#include "k.cuh"\n__global__ void k(int* x) { x[threadIdx.x] = twice(threadIdx.x) / 2 + total / 64; }\n' +
                   MAIN.replace("LAUNCHES", "k<<<1, 32>>>(x);"))
        for mode in ([], ["--check"]):
            with self.subTest(mode=mode):
                for file in ("k", "main"):
                    self.builds(*mode, "-dc", "-x", "cu", "-rdc=true", "-L/nowhere", f"{file}.cu", "-o", f"{file}.o")
                self.prints(496, *mode, "k.o", "main.o", "-Xlinker", "-rpath,/nowhere")

    def test_what_a_kernel_has_printed_is_there_when_it_fails(self):
        self.write("a.cu", "#include <cstdio>\n__global__ void k(int* x) {\n  printf(\"before\\n\");\n  x[1 << 28] = 0;\n}\n" +
                   MAIN.replace("LAUNCHES", "k<<<1, 1>>>(x);"))
        for mode in ([], ["--check"]):
            with self.subTest(mode=mode):
                self.builds(*mode, "a.cu", "-o", "a")
                self.assertIn("before\n", run("a", self.folder).stdout)

    def test_why_a_call_is_refused_is_told(self):
        self.write("a.cu", "#include <cstdio>\nint main() {\n  cudaTextureObject_t object;\n  cudaResourceDesc from = {};\n  cudaTextureDesc how = {};\n  how.sRGB = 1;\n"
                           "  for (int i = 0; i < 2; i++)\n    std::puts(cudaGetErrorName(cudaCreateTextureObject(&object, &from, &how, nullptr)));\n}\n")
        self.builds("a.cu", "-o", "a")
        said = run("a", self.folder).stdout
        self.assertEqual(said.count("a.cu:8: cudaCreateTextureObject refused: mipmaps, sRGB and views of a resource are not supported"), 1, said)

    def test_what_kind_of_memory_a_pointer_is_of(self):
        self.write("a.cu", "#include <cstdio>\nint main() {\n  int *device, *managed, *pinned, own[4];\n  cudaMalloc(&device, 16);\n  cudaMallocManaged(&managed, 16);\n"
                           "  cudaMallocHost(&pinned, 16);\n  for (int* pointer : {device, managed + 1, pinned, own}) {\n    cudaPointerAttributes is;\n"
                           "    cudaPointerGetAttributes(&is, pointer);\n    std::printf(\"%d \", is.type);\n  }\n}\n")
        self.builds("a.cu", "-o", "a")
        self.assertEqual(run("a", self.folder).stdout, "2 3 1 0 ")

    def test_a_crash_without_checks_names_the_line(self):
        self.write("a.cu", "\n__global__ void k(int* x) {\n  x[threadIdx.x + (1 << 28)] = 0;\n}\n" + MAIN.replace("LAUNCHES", "k<<<1, 32>>>(x);"))
        self.builds("a.cu", "-o", "a")
        result = run("a", self.folder)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("a.cu:3", result.stdout)

    def test_launch_bounds_hold_in_every_build(self):
        """An instrumented build puts bytes of its own before a function."""
        self.write("a.cu", "#include <cstdio>\ntemplate <int most>\n__global__ void __launch_bounds__(most) k(int* x) { x[threadIdx.x] = 1; }\n"
                           "__global__ void free_of_bounds(int* x) { x[threadIdx.x] = 2; }\n"
                           "int main() {\n  int* x;\n  cudaMalloc(&x, 4096);\n  free_of_bounds<<<1, 1024>>>(x);\n  k<96><<<1, 96>>>(x);\n  k<1024><<<1, 1024>>>(x);\n"
                           "  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));\n  k<96><<<1, 97>>>(x);\n  std::puts(cudaGetErrorName(cudaGetLastError()));\n}\n")
        for mode in ([], ["--check"]):
            with self.subTest(mode=mode):
                self.builds(*mode, "a.cu", "-o", "a")
                said = run("a", self.folder).stdout
                self.assertRegex(said, "^cudaSuccess\na.cu:12: launch refused: more threads than the 96 that the kernel's __launch_bounds__ allow\n")
                self.assertTrue(said.endswith("cudaErrorInvalidValue\n"), said)

    def test_a_parameter_may_say_that_it_points_to_shared_memory(self):
        self.write("a.cu", "__device__ int twice(__shared__ int* row, const __shared__ int *other) { return row[threadIdx.x] + other[threadIdx.x]; }\n"
                           "__global__ void k(int* x) {\n  __shared__ int row[32];\n  row[threadIdx.x] = threadIdx.x;\n  x[threadIdx.x] = twice(row, row) / 2;\n}\n" +
                   MAIN.replace("LAUNCHES", "k<<<1, 32>>>(x);"))
        self.builds("a.cu", "-o", "a")
        self.assertEqual(run("a", self.folder).stdout, "496\n")

    def test_a_refused_launch_is_told_once(self):
        self.write("a.cu", KERNEL + "int main() {\n  int* x = nullptr;\n  for (int i = 0; i < 3; i++)\n    k<<<1, 2048>>>(x);\n"
                           "  return cudaGetLastError() == cudaErrorInvalidValue ? 0 : 1;\n}\n")
        for mode in ([], ["--check"], ["--profile"]):
            with self.subTest(mode=mode):
                self.builds(*mode, "a.cu", "-o", "a")
                result = run("a", self.folder)
                self.assertEqual(result.returncode, 0, result.stdout)
                self.assertEqual(result.stdout.count("a.cu:5: launch refused: more threads than the 1024"), 1, result.stdout)
                self.assertIn("(1,1,1), (2048,1,1), 0>>> asks for 2048 threads per block", result.stdout)

    def test_a_check_names_the_line(self):
        self.write("a.cu", "\n__global__ void k(int* x) {\n  x[threadIdx.x + 1] = 0;\n}\n" + MAIN.replace("LAUNCHES", "k<<<1, 32>>>(x);"))
        self.builds("--check", "a.cu", "-o", "a")
        result = run("a", self.folder)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("memcheck: ", result.stdout)
        self.assertIn("a.cu:3", result.stdout)

    def test_a_check_names_the_element_of_static_shared_memory(self):
        self.write("a.cu", "__global__ void k(int* x) {\n  __shared__ int tile[32];\n  tile[threadIdx.x] = 1;\n  __syncthreads();\n"
                           "  x[threadIdx.x] = tile[threadIdx.x + 1];\n}\n" + MAIN.replace("LAUNCHES", "k<<<1, 32>>>(x);"))
        self.builds("--check", "a.cu", "-o", "a")
        result = run("a", self.folder)
        self.assertIn("memcheck: out of bounds in shared memory in block (0,0,0), thread (31,0,0)", result.stdout)
        self.assertIn("element 32 of tile[32], which has 32", result.stdout)

    def test_device_variables_are_global_memory_and_constants_are_not(self):
        self.write("a.cu", "__device__ int table[32] = {1}, other;\n__constant__ int fixed[32] = {1};\n"
                           "__constant__ const int more[32] = {1};\n__device__ int zero[32];\n"
                           "__global__ void k(int* x) {\n  const int i = threadIdx.x;\n"
                           "  x[i] = table[i] + fixed[i] + more[i] + zero[i];\n}\n" +
                   MAIN.replace("LAUNCHES", "k<<<1, 32>>>(x);"))
        self.builds("--profile", "a.cu", "-o", "a")
        result = run("a", self.folder, SIMT_PROFILE="a.json")
        self.assertEqual(result.stdout, "3\n")
        total = json.loads((self.folder / "a.json").read_text())["launches"][0]["total"]
        self.assertEqual(total["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"], 2)
        self.assertEqual(total["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"], 8)

    def test_racecheck_sees_device_variables(self):
        self.write("a.cu", "__device__ int total;\n__global__ void k() {\n  total += 1;\n}\n"
                           "int main() { k<<<1, 64>>>(); return cudaDeviceSynchronize(); }\n")
        self.builds("--check", "a.cu", "-o", "a")
        result = run("a", self.folder)
        self.assertIn("racecheck: race in global memory", result.stdout)
        self.assertIn("a.cu:3", result.stdout)

    @in_turn(2)
    def test_a_profile_is_shown_when_the_program_ends(self):
        self.write("a.cu", KERNEL + MAIN.replace("LAUNCHES", "k<<<1, 32>>>(x);"))
        self.builds("--profile", "a.cu", "-o", "a")
        shown = run("a", self.folder).stdout
        self.assertIn("global stores", shown)
        self.assertIn("x[threadIdx.x] = threadIdx.x", shown)


if __name__ == "__main__":
    unittest.main()
