"""Code outside of main: constructors and destructors of globals call the runtime and launch kernels, and are checked, too."""

import json
import unittest

from simtcc_testing import InFolder, run

KERNELS = "#include <cstdio>\n__global__ void add(int* x) { x[threadIdx.x] += 1; }\n__global__ void set(int* x) { x[threadIdx.x] = 1; }\n"

# Each is found in line 2 or 3: what happens, and the members of a global.
WRONG = [
    ("memcheck: freed memory", "S() { int* x; cudaMalloc(&x, 128); cudaFree(x); set<<<1, 32>>>(x); cudaDeviceSynchronize(); }"),
    ("memcheck: ", "S() { static int* x = new int[32]; set<<<1, 32>>>(x); cudaDeviceSynchronize(); }"),
    ("initcheck: uninitialised global memory", "S() { int* x; cudaMalloc(&x, 128); add<<<1, 32>>>(x); cudaDeviceSynchronize(); }"),
]
# Constructed before main, with a priority of its own, and a function that the loader calls.
FORMS = ["struct S { %s } s;", "struct S { %s }; __attribute__((init_priority(101))) S s;", "struct S { %s };\n__attribute__((constructor)) void early() { S s; }"]


class BeforeMain(InFolder):
    def test_what_constructors_launch_is_checked(self):
        for number, (finding, members) in enumerate(WRONG):
            form = FORMS[number]
            with self.subTest(finding=finding, form=form):
                self.write("a.cu", KERNELS + form % members + "\nint main() { std::puts(\"main\"); }\n")
                self.builds("--check", "a.cu", "-o", "a")
                result = run("a", self.folder)
                self.assertEqual(result.returncode, 134, result.stdout)
                self.assertIn(finding, result.stdout)
                self.assertRegex(result.stdout, r"a\.cu:[23]")

    def test_globals_live_as_long_as_the_work_that_was_given_before(self):
        """With two devices a copy is done later: it must not write into what has been destroyed. What a destructor launches counts."""
        self.write("a.cu", KERNELS + "struct S { int* x; S() { cudaMalloc(&x, 128); set<<<1, 32>>>(x); }\n"
                           "  ~S() { add<<<1, 32>>>(x); int h[32]; cudaMemcpy(h, x, 128, cudaMemcpyDeviceToHost); std::printf(\"%d\\n\", h[31]); cudaFree(x); } } s;\n"
                           "struct Told { volatile int here = 1; ~Told() { here = 0; } } told;\nvoid tell(void* t) { std::printf(\"%d\\n\", ((Told*)t)->here); }\n"
                           "__global__ void slow(int* x) { for (int i = 0; i < 1000000; i++) x[threadIdx.x] = x[threadIdx.x] * 3 + i; }\n"
                           "int main() { int* y; cudaMalloc(&y, 128); cudaMemset(y, 0, 128); slow<<<1, 1>>>(y); cudaLaunchHostFunc(0, tell, &told); }\n")
        for mode in ([], ["--check"], ["--profile"]):
            for devices in ("1", "2"):
                with self.subTest(mode=mode, devices=devices):
                    self.builds(*mode, "a.cu", "-o", "a")
                    result = run("a", self.folder, SIMT_DEVICES=devices, SIMT_PROFILE="a.json")
                    self.assertEqual((result.returncode, result.stdout), (0, "1\n2\n"))
        report = json.loads((self.folder / "a.json").read_text())
        self.assertEqual([launch["kernel"] for launch in report["launches"]], ["set", "slow", "add"])


if __name__ == "__main__":
    unittest.main()
