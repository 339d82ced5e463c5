"""Whole CUDA programs through simtcc: those in programs/ (right, without a finding, and with the counters that their
headers derive), and small ones for everything that simtcc does or refuses."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SIMT = Path(__file__).resolve().parent
SIMTCC = SIMT / "simtcc"


def simtcc(*arguments, folder):
    return subprocess.run([sys.executable, SIMTCC, *arguments], cwd=folder, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)


def run(program, folder, **environment):
    return subprocess.run([Path(folder) / program], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, **environment}, timeout=60)


class InFolder(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def builds(self, *arguments):
        made = simtcc(*arguments, folder=self.folder)
        self.assertEqual(made.returncode, 0, made.stdout)
        return made.stdout

    def refuses(self, *arguments):
        made = simtcc(*arguments, folder=self.folder)
        self.assertNotEqual(made.returncode, 0, "it compiled")
        return made.stdout


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

        jobs = [(program, mode) for program in cls.programs for mode in cls.MODES]
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
            report = json.loads((self.folder / f"{program.stem}-profile.json").read_text())
            for kernel, launch, metric, value in expected:
                with self.subTest(program=program.name, kernel=kernel, launch=launch, metric=metric):
                    launches = [one for one in report["launches"] if re.match(rf"\(*{kernel}\b", one["kernel"])]
                    one = launches[int(launch) - 1]
                    self.assertEqual({**one["total"], **one["footprint"]}[metric], int(value))


KERNEL = "__global__ void k(int* x) { x[threadIdx.x] = threadIdx.x; }\n"

# Each refused at line 3, by this name: (feature, lines before, the line, what comes after). OWN_WORDS: without the words
# that all others are refused with. A compiler's own message could hold the name, too.
OWN_WORDS = ("needs the kernel itself here", "dynamic shared memory")
REFUSED = [
    ("inline PTX", "__global__ void k(int* x) {\n\n", 'asm volatile("mov.u32 %0, %laneid;" : "=r"(x[0]));', "}"),
    ("needs the kernel itself here", "void f(const void* kernel) {\n\n",
     "cudaLaunchCooperativeKernel(kernel, dim3(1), dim3(1), nullptr);", "}"),
    ("several devices", "void f(cudaLaunchParams* l) {\n\n", "cudaLaunchCooperativeKernelMultiDevice(l, 1);", "}"),
    ("barrier_arrive() of a group", "#include <cooperative_groups.h>\n__global__ void k() {\n",
     "cooperative_groups::this_thread_block().barrier_arrive();", "}"),
    ("clusters", "\n\n", "__global__ void __cluster_dims__(2, 1, 1) k() {}", ""),
    ("clusters", "namespace cg = cooperative_groups;\n__global__ void k() {\n", "cg::cluster_group c = cg::this_cluster();", "}"),
    ("textures", "\n\n", "texture<float, 2> image;", ""),
    ("textures", "\n\n", "__global__ void k(cudaTextureObject_t t) {}", ""),
    ("surfaces", "\n\n", "__global__ void k(cudaSurfaceObject_t t) {}", ""),
    ("CUDA arrays", "\n\n", "cudaArray_t pixels;", ""),
    ("mma.h", "\n\n", "#include <mma.h>", ""),
    ("tensor cores", "\n\n", "using namespace nvcuda::wmma;", ""),
    ("thrust/sort.h", "\n\n", "#include <thrust/sort.h>", ""),
    ("cub/cub.cuh", "\n\n", "#include <cub/cub.cuh>", ""),
    ("cusparse.h", "\n\n", "#include <cusparse.h>", ""),
    ("cublasDaxpy of cuBLAS", "#include <cublas_v2.h>\nvoid f(cublasHandle_t h) {\n", "cublasDaxpy(h, 1, 0, 0, 1, 0, 1);", "}"),
    ("curand_kernel.h", "\n\n", "#include <curand_kernel.h>", ""),
    ("cuda/barrier", "\n\n", "#include <cuda/barrier>", ""),
    ("cooperative_groups/memcpy_async.h", "\n\n", "#include <cooperative_groups/memcpy_async.h>", ""),
    ("of CUDA graphs, cudaGraphAddKernelNode", "void f(cudaGraph_t g, cudaGraphNode_t n) {\n\n", "cudaGraphAddKernelNode(&n, g, 0, 0, 0);", "}"),
    ("tiles of more than 32", "namespace cg = cooperative_groups;\n__global__ void k() {\n",
     "auto t = cg::tiled_partition<64>(cg::this_thread_block());", "}"),
    ("dynamic parallelism", KERNEL + "__global__ void parent(int* x) {\n", "k<<<1, 32>>>(x);", "}"),
    ("dynamic parallelism", KERNEL + "__device__ void helper(int* x) {\n", "if (x) { k<<<1, 32>>>(x); }", "}"),
    ("cudaLaunchKernelEx", KERNEL + "void f(int* x) {\n", "cudaLaunchKernelEx(nullptr, k, x);", "}"),
    ("needs the kernel itself here", KERNEL + "void f(void* kernel, void** arguments) {\n",
     "cudaLaunchKernel(kernel, dim3(1), dim3(1), arguments);", "}"),
    ("the driver API", "void f() {\n\n", "cuInit(0);", "}"),
    ("cuda::atomic", "\n\n", "__device__ cuda::atomic<int> counter;", ""),
    ("__shfl_down", "__global__ void k(int* x) {\n\n", "x[0] = __shfl_down(x[0], 1);", "}"),
    ("a warp in lockstep", "__device__ void f(volatile float* s, int tid) {\n\n",
     "s[tid] += s[tid + 32]; s[tid] += s[tid + 16]; s[tid] += s[tid + 8];", "}"),
    ("a warp in lockstep", "__device__ void f(float* x, float sum, int i) { volatile float* smem = x;\n\n",
     "if (i < 32) { smem[i] = sum = sum + smem[i + 2]; smem[i] = sum = sum + smem[i + 1]; }", "}"),
    ("dynamic shared memory", "__global__ void k() {\n\n", "extern __shared__ float tile[][32];", "}"),
    ("asynchronous copies (__pipeline_commit)", "__global__ void k() {\n\n", "__pipeline_commit();", "}"),
    ("asynchronous copies (cg::wait)", "namespace cg = cooperative_groups;\n__global__ void k(cg::thread_block b) {\n",
     "cg::wait(b);", "}"),
    ("tiles of more than 32", "namespace cg = cooperative_groups;\n__global__ void k() {\n",
     "__shared__ cg::experimental::block_tile_memory<4, 64> memory;", "}"),
    ("several devices or processes (cudaDeviceEnablePeerAccess)", "void f() {\n\n", "cudaDeviceEnablePeerAccess(1, 0);", "}"),
    ("several devices or processes (cudaIpcMemHandle_t)", "\n\n", "cudaIpcMemHandle_t handle;", ""),
    ("graphics interoperation (cudaGraphicsResource)", "\n\n", "struct cudaGraphicsResource* resource;", ""),
    ("8-bit and 4-bit floating point (__nv_fp8_e4m3)", "\n\n", "__global__ void k(__nv_fp8_e4m3* x) {}", ""),
    ("textures", "void f() {\n\n", "cudaCreateTextureObject(nullptr, nullptr, nullptr, nullptr);", "}"),
    ("__brkpt", "__global__ void k() {\n\n", "__brkpt();", "}"),
]


class Refused(InFolder):
    def test_every_feature_is_named_with_its_line(self):
        def attempt(case):
            number, (feature, before, line, after) = case
            name = f"case{number}.cu"
            self.write(name, f"{before}{line}{after}\nint main() {{}}\n")
            return case, simtcc(name, folder=self.folder)

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for (number, (feature, *rest)), made in pool.map(attempt, enumerate(REFUSED)):
                with self.subTest(feature=feature, line=rest[1]):
                    self.assertNotEqual(made.returncode, 0, "it compiled")
                    words = "" if feature in OWN_WORDS else ".* is not supported by the CPU executor"
                    self.assertRegex(made.stdout, rf"case{number}\.cu:3:.*{re.escape(feature)}{words}")
                    self.assertLessEqual(made.stdout.count("#error"), 1, made.stdout)

    def test_a_comment_a_string_or_a_shift_is_no_feature(self):
        self.write("a.cu", "// texture<float> and asm(\"x\")\n/* cudaGraph_t\n */\n#include <cstdio>\n"
                           "#include <iostream>\nint main() { std::puts(\"asm( thrust::sort k<<<1, 1>>>(x)\"); std::cout << \"a\" << 'b' << \"\\n\";\n"
                           "  return (1 << 3) >> 3 == 1 ? 0 : 1; }\n")
        self.builds("a.cu", "-o", "a")
        self.assertEqual(run("a", self.folder).returncode, 0)

    def test_what_the_preprocessor_leaves_out_is_not_refused(self):
        self.write("a.cu", "#ifdef WITH_TEXTURES\n#include <thrust/sort.h>\ntexture<float, 1> image;\n#endif\nint main() {}\n")
        self.builds("a.cu", "-o", "a")
        self.assertRegex(self.refuses("-DWITH_TEXTURES", "a.cu"), r"a\.cu:2:.*thrust/sort\.h")

    def test_a_feature_in_a_header_is_named_there(self):
        self.write("helper.h", "#pragma once\ntexture<float, 1> image;\n")
        self.write("a.cu", '#include "helper.h"\nint main() {}\n')
        self.assertRegex(self.refuses("a.cu"), r"helper\.h:2:.*textures")

    def test_a_missing_file(self):
        self.assertIn("nowhere.cu: no such file", self.refuses("nowhere.cu"))

    def test_a_syntax_error_names_the_line(self):
        self.write("a.cu", KERNEL + "\nint main() {\n  int x = ;\n}\n")
        self.assertIn("a.cu:4:", self.refuses("a.cu"))

    def test_a_missing_header_names_the_line(self):
        self.write("a.cu", "\n#include \"nowhere.h\"\nint main() {}\n")
        self.assertIn("a.cu:2:", self.refuses("a.cu"))

    def test_a_launch_without_arguments(self):
        self.write("a.cu", KERNEL + "int main() {\n  k<<<1, 32>>>;\n}\n")
        self.assertIn("a.cu:3: after <<< >>> a kernel's arguments in parentheses must follow", self.refuses("a.cu"))

    def test_what_may_mean_something_else_is_warned_of(self):
        self.write("a.cu", "__device__ void f(volatile int* sdata) { sdata[0] += sdata[32]; }\n"
                           "__host__ __device__ int g() {\n#ifdef __CUDA_ARCH__\n  return 1;\n#else\n  return 2;\n#endif\n}\nint main() {}\n")
        said = self.builds("a.cu", "-o", "a")
        self.assertIn("a.cu:1: warning: volatile shared memory", said)
        self.assertIn("a.cu:3: warning: host and device code are one", said)


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
          Box<int, 2>::twice<<<1, 32>>>(x);
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
        """
        self.write("main.cu", KERNEL + """
          #define RUN(kernel, ...) \\
            kernel<<<1, 32>>>(__VA_ARGS__)
          __global__ void __launch_bounds__(32) add(int* x, const int* y) { x[threadIdx.x] += y ? y[threadIdx.x] : 1; }
          struct Number { static const int zero = 0; };
          template <bool yes> __global__ void choose(int* x, int n) { x[threadIdx.x] += yes ? 1000 : n; }
          template <typename F> __global__ void each(int* x, F f) { x[threadIdx.x] = f(threadIdx.x); }
          template <typename T, int n> struct Box {
            static __global__ void twice(T* x) { extern volatile __shared__ T s[]; s[0] = n; x[threadIdx.x] *= n; }
            void run(T* x) { twice<<<1, 32, sizeof(T)>>>(x); }
          };
        """ + MAIN.replace("LAUNCHES", launches))
        # 0..31, plus 1 twice, twice, plus 1, twice: 4i + 10.
        self.prints(4 * 31 * 16 + 10 * 32, "main.cu")

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

    def test_a_cooperative_kernel_runs_unchecked_and_says_so(self):
        self.write("a.cu", "#include <cooperative_groups.h>\n__global__ void k(int* x) {\n"
                           "  x[threadIdx.x] = 1;\n  cooperative_groups::this_grid().sync();\n  x[threadIdx.x] += x[31 - threadIdx.x] > 0;\n}\n"
                           "__global__ void reads(int* x) { x[threadIdx.x]++; }\n" +
                   MAIN.replace("LAUNCHES", "void* a[] = {&x}; cudaLaunchCooperativeKernel(k, 1, 32, a); reads<<<1, 32>>>(x);"))
        self.builds("--check", "a.cu", "-o", "a")
        result = run("a", self.folder)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("the checks did not look at it", result.stdout)

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
            asm volatile("cp.async.wait_all;");
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

    def test_a_crash_without_checks_names_the_line(self):
        self.write("a.cu", "\n__global__ void k(int* x) {\n  x[threadIdx.x + (1 << 28)] = 0;\n}\n" + MAIN.replace("LAUNCHES", "k<<<1, 32>>>(x);"))
        self.builds("a.cu", "-o", "a")
        result = run("a", self.folder)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("a.cu:3", result.stdout)

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

    def test_a_profile_is_shown_when_the_program_ends(self):
        self.write("a.cu", KERNEL + MAIN.replace("LAUNCHES", "k<<<1, 32>>>(x);"))
        self.builds("--profile", "a.cu", "-o", "a")
        shown = run("a", self.folder).stdout
        self.assertIn("global stores", shown)
        self.assertIn("x[threadIdx.x] = threadIdx.x", shown)


if __name__ == "__main__":
    unittest.main()
