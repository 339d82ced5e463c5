"""What simtcc refuses, with the feature's name and its line, what it warns of, and what only looks like either."""

import os
import re
import subprocess
import unittest
from concurrent.futures import ThreadPoolExecutor

from lacking_names import OF_NAME
from simtcc_testing import KERNEL, SIMT, InFolder, has_list, run, sampled, simtcc

# Each refused at line 3, by this name: (feature, lines before, the line, what comes after). OWN_WORDS: without the words
# that all others are refused with. A compiler's own message could hold the name, too.
OWN_WORDS = ("needs the kernel itself here", "dynamic shared memory")
REFUSED = [
    ("inline PTX (wgmma.fence.sync.aligned)", "__global__ void k(int* x) {\n\n", 'asm volatile("wgmma.fence.sync.aligned;" ::: "memory");', "}"),
    ("inline PTX (ld.global.L3::128B.u32)", "__global__ void k(unsigned* x) {\n\n",
     'asm("ld.global.L3::128B.u32 %0, [%1];" : "=r"(x[0]) : "l"(x));', "}"),
    ("inline PTX (mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32)", "__global__ void k(int* x) {\n\n",
     'asm("mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, {%0,%1,%2,%3};" '
     ': "+r"(x[0]), "+r"(x[1]), "+r"(x[2]), "+r"(x[3]) : "r"(1));', "}"),
    ("inline PTX (bra)", "__global__ void k(int* x) {\n\n", 'asm volatile("bra there;\\n");', "}"),
    ("inline PTX (the operand", "__global__ void k(int* x) {\n\n", 'asm("mov.u32 %0, %tid_of_nobody;" : "=r"(x[0]));', "}"),
    ("inline PTX (a text that is put together by macros)", "#define OP(x) #x\n__global__ void k(int* x) {\n",
     'asm(OP(mov.u32) " %0, 1;" : "=r"(x[0]));', "}"),
    ("several devices", "void f(cudaLaunchParams* l) {\n\n", "cudaLaunchCooperativeKernelMultiDevice(l, 1);", "}"),
    ("texture references", "\n\n", "texture<float, 2> image;", ""),
    ("of textures, texCubemapLod", "__global__ void k(cudaTextureObject_t t, float* x) {\n\n", "x[0] = texCubemapLod<float>(t, 0, 0, 0, 1);", "}"),
    ("of textures, tex2DLod", "__global__ void k(cudaTextureObject_t t, float* x) {\n\n", "x[0] = tex2DLod<float>(t, 0, 0, 0);", "}"),
    ("surface references", "\n\n", "surface<void, 2> image;", ""),
    ("of CUDA arrays (texture memory), cudaMallocMipmappedArray", "void f(cudaMipmappedArray_t* a, cudaChannelFormatDesc* d) {\n\n", "cudaMallocMipmappedArray(a, d, make_cudaExtent(8, 8, 8), 3);", "}"),
    ("tensor cores on bits", "\n\n", "using b1 = nvcuda::wmma::experimental::precision::b1;", ""),
    ("thrust/mr/memory_resource.h", "\n\n", "#include <thrust/mr/memory_resource.h>", ""),
    ("cub/device/device_spmv.cuh", "\n\n", "#include <cub/device/device_spmv.cuh>", ""),
    ("of CUB, cub::DeviceSpmv", "#include <cub/cub.cuh>\nvoid f(void* t, size_t n, float* x, int* i) {\n",
     "cub::DeviceSpmv::CsrMV(t, n, x, i, i, x, x, 8, 8, 8);", "}"),
    ("cusolverSp.h", "\n\n", "#include <cusolverSp.h>", ""),
    ("cusparseScsrmv of cuSPARSE", "#include <cusparse.h>\nvoid f(cusparseHandle_t h) {\n", "cusparseScsrmv(h);", "}"),
    ("cusolverDnZgetrf of cuSOLVER", "#include <cusolverDn.h>\nvoid f(cusolverDnHandle_t h) {\n", "cusolverDnZgetrf(h);", "}"),
    ("cublasSgemmGroupedBatched of cuBLAS", "#include <cublas_v2.h>\nvoid f(cublasHandle_t h) {\n", "cublasSgemmGroupedBatched(h);", "}"),
    ("ncclCommShrink of NCCL", "#include <nccl.h>\nvoid f(ncclComm_t c, ncclComm_t* d) {\n", "ncclCommShrink(c, 0, 0, d, 0, 0);", "}"),
    ("curand_mtgp32.h", "\n\n", "#include <curand_mtgp32.h>", ""),
    ("cuda/semaphore", "\n\n", "#include <cuda/semaphore>", ""),
    ("of CUDA graphs, cudaGraphRetainUserObject", "void f(cudaGraph_t g) {\n\n", "cudaGraphRetainUserObject(g, 0, 1, 0);", "}"),
    ("dynamic parallelism", KERNEL + "__global__ void parent(int* x) {\n", "k<<<1, 32>>>(x);", "}"),
    ("dynamic parallelism", KERNEL + "__device__ void helper(int* x) {\n", "if (x) { k<<<1, 32>>>(x); }", "}"),
    ("the driver API (cuLinkCreate)", "#include <cuda.h>\nvoid f(CUmodule* m) {\n", "cuLinkCreate(0, nullptr, nullptr, m);", "}"),
    ("libcu++ (cuda::counting_semaphore)", "\n\n", "__device__ cuda::counting_semaphore<> s;", ""),
    ("libcu++ (cuda::std::bitset)", "#include <cuda/std/utility>\n\n", "__device__ cuda::std::bitset<8>* s;", ""),
    ("cuda/std/bitset", "\n\n", "#include <cuda/std/bitset>", ""),
    ("__shfl_down", "__global__ void k(int* x) {\n\n", "x[0] = __shfl_down(x[0], 1);", "}"),
    ("dynamic shared memory", "__global__ void k() {\n\n", "extern __shared__ float tile[], other[];", "}"),
    ("libcu++ (cuda::counting_semaphore)", "__global__ void k(int* x) {}\nvoid f(int* x) {\n",
     "k<<<1, sizeof(cuda::counting_semaphore<>)>>>(x);", "}"),
    ("asynchronous copies (__pipeline_arrive_on)", "__global__ void k() {\n\n", "__pipeline_arrive_on(nullptr);", "}"),
    ("several processes (cudaIpcMemHandle_t)", "\n\n", "cudaIpcMemHandle_t handle;", ""),
    ("graphics interoperation (cudaGraphicsResource)", "\n\n", "struct cudaGraphicsResource* resource;", ""),
    ("4-bit and 6-bit floating point and E8M0 (__nv_fp4_e2m1)", "\n\n", "__global__ void k(__nv_fp4_e2m1* x) {}", ""),
    ("texture references", "void f() {\n\n", "cudaBindTexture(nullptr, image, nullptr, 0);", "}"),
    ("cudaFuncGetName of the CUDA runtime", KERNEL + "void f(const char** name) {\n", "cudaFuncGetName(name, k);", "}"),
    ("cuMemcpy2D of the driver API", "#include <cuda.h>\nvoid f(void* copy) {\n", "cuMemcpy2D(copy);", "}"),
    ("__isShared of the functions of kernels", "__global__ void k(int* x) {\n\n", "x[0] = __isShared(x);", "}"),
    ("__brkpt", "__global__ void k() {\n\n", "__brkpt();", "}"),
]


class Lacking(unittest.TestCase):
    def test_nothing_that_there_is_is_refused_by_its_name(self):
        headers = "".join(f"#include <{one}>\n" for one in ("cuda.h", "cuda_pipeline.h", "curand.h", "cufft.h", "nvrtc.h", "cublasLt.h"))
        text = headers + "".join(f"#ifndef {name}\nusing ::{name};\n#endif\n" for name in OF_NAME)
        said = subprocess.run(["g++", "-std=c++17", "-fsyntax-only", "-w", "-fmax-errors=0", "-DSIMT_WHOLE_PROGRAM", "-I", SIMT / "include", "-x", "c++", "-"],
                              input=text, text=True, capture_output=True, env={**os.environ, "LC_ALL": "C"}).stderr
        missing = re.findall(r"error: '(?:::)?(\w+)' has not been declared", said)
        self.assertEqual(sorted(set(OF_NAME) - set(missing)), [])


class Refused(InFolder):
    @has_list
    def test_every_feature_is_named_with_its_line(self):
        def attempt(case):
            number, (feature, before, line, after) = case
            name = f"case{number}.cu"
            self.write(name, f"{before}{line}{after}\nint main() {{}}\n")
            return case, simtcc(name, folder=self.folder)

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for (number, (feature, *rest)), made in pool.map(attempt, sampled(list(enumerate(REFUSED)), 6, "features that are refused")):
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

    def test_a_wrapper_that_is_called_as_the_library_is_no_function_of_it(self):
        wrappers = ["cublasErrCheck", "cublasCheckErrors", "cublasAssert", "cublasSafeCall", "cusparseErrchk", "cusolverDnTry", "cublasProduct"]
        self.write("a.cu", "#include <cublas_v2.h>\n" + "".join(f"#define {name}(call) (call)\n" for name in wrappers) +
                   "static int* cublasMatmul(float x,\n                 float y) {\n  return x < y ? nullptr : nullptr;\n}\nint main() { return " +
                   " + ".join(f"{name}(0)" for name in wrappers) + " + (cublasMatmul(1, 2) != nullptr); }\n")
        self.builds("a.cu", "-o", "a")

    def test_what_the_preprocessor_leaves_out_is_not_refused(self):
        self.write("a.cu", "#ifdef WITH_TEXTURES\n#include <thrust/mr/pool.h>\ntexture<float, 1> image;\n#endif\nint main() {}\n")
        self.builds("a.cu", "-o", "a")
        self.assertRegex(self.refuses("-DWITH_TEXTURES", "a.cu"), r"a\.cu:2:.*thrust/mr/pool\.h")

    def test_ptx_of_which_no_code_is_made_is_not_refused(self):
        helpers = ("__device__ inline void helper(float* x) {\n  asm volatile(\"bogus.f32 %0;\" : \"=f\"(x[0]));\n}\n"
                   "template <int n>\n__device__ void choose(float* x) {\n  if constexpr (n > 1) asm volatile(\"bogus.f64;\");\n  else x[0] = n;\n}\n"
                   "#define BOGUS(x) asm volatile(\"bogus.u32;\" \\\n    ::: \"memory\")\n")

        def program(use):
            return f"{helpers}__global__ void k(float* x) {{\n  {use};\n}}\nint main() {{\n  k<<<1, 1>>>(nullptr);\n}}\n"
        self.write("a.cu", program("choose<1>(x)"))
        self.builds("-c", "a.cu", "-o", "a.o")
        self.builds("-c", "--check", "a.cu", "-o", "a.o")
        for use, line, opcode in (("helper(x)", 2, "bogus.f32"), ("choose<2>(x)", 6, "bogus.f64"), ("BOGUS(x)", 9, "bogus.u32")):
            with self.subTest(use=use):
                self.write("a.cu", program(use))
                said = self.refuses("a.cu")
                self.assertRegex(said, rf"a\.cu:{line}:.*#error inline PTX \({opcode}\) is not supported by the CPU executor\n")
                self.assertEqual(said.count("error:"), 1, said)

    def test_a_feature_in_a_header_is_named_there(self):
        self.write("helper.h", "#pragma once\ntexture<float, 1> image;\n")
        self.write("a.cu", '#include "helper.h"\nint main() {}\n')
        self.assertRegex(self.refuses("a.cu"), r"helper\.h:2:.*texture references")

    def test_a_missing_file(self):
        self.assertIn("nowhere.cu: no such file", self.refuses("nowhere.cu"))

    def test_a_syntax_error_names_the_line(self):
        self.write("a.cu", KERNEL + "\nint main() {\n  int x = ;\n}\n")
        self.assertIn("a.cu:4:", self.refuses("a.cu"))

    def test_variables_that_are_larger_than_code_reaches(self):
        self.write("large.cu", "__device__ int all[600 << 20];\n__global__ void kernel() { all[threadIdx.x] = 3; }\nint main() { kernel<<<1, 1>>>(); }\n")
        done = simtcc("large.cu", "-o", "large", folder=self.folder)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("larger than 2 GB together: allocate the largest with cudaMalloc", done.stdout)
        self.assertNotIn("relocation", done.stdout)

    def test_a_missing_header_names_the_line(self):
        self.write("a.cu", "\n#include \"nowhere.h\"\nint main() {}\n")
        self.assertIn("a.cu:2:", self.refuses("a.cu"))

    def test_only_what_is_refused_is_said_of_a_file_that_has_it(self):
        self.write("a.cu", "\ntexture<float, 2> image;\n__global__ void k(float* x) { x[0] = tex2D(image, 1, 1) + nowhere; }\nint main() {}\n")
        said = self.refuses("a.cu")
        self.assertRegex(said, r"a\.cu:2:.*#error texture references")
        self.assertNotIn("was not declared", said)

    def test_too_few_and_too_many_arguments_of_a_launch(self):
        self.write("a.cu", "__global__ void k(int* x, int n) { x[0] = n; }\nint main() {\n  int* x = nullptr;\n  k<<<1, 1>>>(x);\n"
                           "  k<<<1, 1>>>(x, 1, 2);\n}\n")
        said = self.refuses("a.cu")
        self.assertRegex(said, r"a\.cu:4:\d+: error: .*the kernel does not take these arguments: they are too few")
        self.assertRegex(said, r"a\.cu:5:\d+: error: .*the kernel does not take these arguments: they are too many")

    def test_a_launch_without_arguments(self):
        self.write("a.cu", KERNEL + "int main() {\n  k<<<1, 32>>>;\n}\n")
        self.assertIn("a.cu:3: after <<< >>> a kernel's arguments in parentheses must follow", self.refuses("a.cu"))

    def test_an_address_that_is_no_kernel_s(self):
        self.write("a.cu", "#include <cstdio>\nint main() {\n  int x = 0;\n  void* arguments[] = {&x};\n"
                           "  std::puts(cudaGetErrorName(cudaLaunchKernel(&x, dim3(1), dim3(1), arguments)));\n}\n")
        self.builds("a.cu", "-o", "a")
        said = run("a", self.folder).stdout
        self.assertIn("cudaErrorInvalidDeviceFunction", said)
        self.assertIn("a.cu:5: launch refused: the address is no kernel's that the CPU executor knows", said)

    def test_what_may_mean_something_else_is_warned_of(self):
        self.write("a.cu", "__device__ void f(volatile int* sdata) { sdata[0] = sdata[32]; }\n"
                           "__host__ __device__ int g() {\n#ifdef __CUDA_ARCH__\n  return 1;\n#else\n  return 2;\n#endif\n}\nint main() {}\n")
        said = self.builds("a.cu", "-o", "a")
        self.assertIn("a.cu:1: warning: volatile shared memory", said)
        self.assertIn("a.cu:3: warning: host and device code are one", said)


if __name__ == "__main__":
    unittest.main()
