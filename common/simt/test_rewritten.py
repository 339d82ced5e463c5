"""What becomes of a rung's text before the compiler gets it (rewritten.py)."""

import resource
import subprocess
import sys
import unittest
from pathlib import Path

import cuda_source
import device_linkage
import ptx
import ptx_instructions

SIMT = Path(__file__).resolve().parent
EX2 = 'asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));'


def rewritten(text: str, *options: str) -> str:
    return subprocess.run((sys.executable, "-B", SIMT / "rewritten.py", *options, "labs/x.cu"), input=text.encode(errors="surrogateescape"),
                          stdout=subprocess.PIPE, check=True).stdout.decode(errors="surrogateescape")


class Rewritten(unittest.TestCase):
    def test_a_launch_keeps_its_line_and_the_files_name(self) -> None:
        lines = rewritten("void f() {\n  k<<<1,\n      2>>>(x);\n}\n").split("\n")
        self.assertEqual(lines[0], '#line 1 "labs/x.cu"')
        self.assertIn("SIMT_LAUNCH((k), (1,", lines[2])
        self.assertEqual(lines[4], "}")

    def test_inline_ptx_that_is_known_is_no_asm_any_more(self) -> None:
        text = rewritten(f"__device__ float f(float x) {{\n  float r;\n  {EX2}\n  return r;\n}}\n")
        self.assertIn('#include "simt/ptx.h"\n#line 1 "labs/x.cu"', text)
        self.assertNotIn("asm", text)

    def test_what_is_not_known_is_an_error_of_its_line(self) -> None:
        text = rewritten('__device__ void f() {\n  asm("bogus.f32;");\n}\n')
        self.assertIn("#line 2\n#error inline PTX (bogus.f32) is not supported by the CPU executor\n#line 2\n", text)

    def test_the_grader_leaves_it_to_its_own_rules(self) -> None:
        text = rewritten('__device__ void f() {\n  asm("bogus.f32;");\n}\n', "--refuse-nothing")
        self.assertIn('asm("bogus.f32;");', text)
        self.assertNotIn("#error", text)

    def test_a_launch_that_is_not_understood(self) -> None:
        for options in ((), ("--refuse-nothing",)):
            text = rewritten("void f() {\n\n  k<<<1, 2>>>;\n}\n", *options)
            self.assertEqual(text, '#line 3 "labs/x.cu"\n#error after <<< >>> a kernel\'s arguments in parentheses must follow\n')

    def test_a_refusal_within_a_launch_stands_before_it_and_names_its_own_line(self) -> None:
        text = rewritten("void f() {\n  k<int>\n      <<<1,\n         cuda::counting_semaphore<>::max()>>>(x);\n}\n")
        self.assertIn("{\n#line 4\n#error libcu++ (cuda::counting_semaphore) is not supported by the CPU executor\n#line 2\n"
                      "  SIMT_LAUNCH((k<int>)", text)
        self.assertNotIn("#error", rewritten("void f() {\n  k<<<1, 32, 0, at::cuda::getCurrentCUDAStream()>>>(x);\n}\n"))

    def test_a_launch_that_is_handed_to_a_macro(self) -> None:
        text = rewritten("void f() {\n  SWITCH(k, <<<1,\n    2>>>(x));\n  SWITCH(<<<3, 4>>>(x), k);\n}\n")
        self.assertIn("SWITCH(k, ->* SIMT_LAUNCH_LATER((1,\n    2))(x));", text)
        self.assertIn("SWITCH(->* SIMT_LAUNCH_LATER((3, 4))(x), k);", text)

    def test_dynamic_shared_memory(self) -> None:
        text = rewritten("__global__ void k() {\n  extern __shared__ float a[];\n  extern volatile __shared__ __align__(16) short b[][3][4];\n}\n"
                         "extern int c[];\n__shared__ int d[2];\n")
        self.assertIn("  float* const a = ::simt::DynamicShared();", text)
        self.assertIn("  volatile short (*const b)[3][4] = ::simt::DynamicShared();", text)
        self.assertIn("extern int c[];\n__shared__ int d[2];", text)

    def test_dynamic_shared_memory_that_is_taken_as_an_array(self) -> None:
        for use in ("S& s = reinterpret_cast<S&>(a);", "S* s = (S*)&a;", "S& s = (S&)a;", "f(&a);", "decltype(a) b = a;"):
            text = rewritten(f"__global__ void k() {{\n  extern __shared__ char a[];\n  {use}\n}}\n")
            self.assertIn("  char (&a)[] = ::simt::DynamicSharedArray();", text, use)
        for use in ("S* s = (S*)&a[4];", "S& s = reinterpret_cast<S&>(a[0]);", "}\nvoid g(char* a) { f(&a);", "x = y && a;"):
            text = rewritten(f"__global__ void k() {{\n  extern __shared__ char a[];\n  {use}\n}}\n")
            self.assertIn("  char* const a = ::simt::DynamicShared();", text, use)

    def test_aligned_dynamic_shared_memory(self) -> None:
        for aligned in ("extern __shared__ __align__(sizeof(T))", "alignas(sizeof(decltype(f(0)))) extern __shared__", "extern __shared__ alignas(alignof(T))",
                        "extern __shared__ __attribute__((aligned(sizeof(T))))"):
            text = rewritten(f"template <typename T> __global__ void k() {{\n  {aligned} unsigned char a[];\n}}\n")
            self.assertIn("unsigned char* const a = ::simt::DynamicShared();", text, aligned)
            self.assertNotIn("extern", text, aligned)

    def test_which_device_functions_and_variables_are_a_files_own(self) -> None:
        own = ["__device__ int w[] = {1, 2};", "__device__ Foo braced{3};", "namespace b { __device__ volatile unsigned int v; }",
               "__device__ float twice(float x) { __device__ int y; return 2 * x; }", "__device__ __noinline__ int f(int);",
               "namespace a { __device__ int f(int x) { return x; } }", "__device__ float3 operator+(float3 a, float3 b) { return a; }",
               "__device__ std::pair<int, int> p(int a) { return {}; }"]
        others = ["#define D __device__ int z(int) { return 1; }",
                  "__device__ Foo x(3);", "__device__ int used; template <typename T> __device__ T uses(T x) { return used++; }", "struct S { __device__ void g() {} friend __device__ int fr(S); };", "__device__ void S::g() {}",
                  "__device__ int fr(S) { return 1; }", "template <typename T> __device__ T h(T x) { return x; }",
                  "extern __device__ int e;", "static __device__ int st;", "struct T { static __device__ int m; };", "__host__ __device__ int both() { return 1; }", "__device__ inline int i() { return 0; }", "__device__ int elsewhere(int);",
                  "__device__ float (*all[2])(float) = {twice, twice};", "__global__ void k(int* x) { x[0] = 1; }",
                  'extern "C" __device__ int c(int x) { return x; }']
        constants = "__constant__ float table[2], more;\n__managed__ struct Foo shared;\n"
        code = cuda_source.of_text(Path("y.cu"), constants).code
        self.assertEqual(device_linkage.of_one_file(code, device_linkage.names(code)), [0, constants.index("__managed__")])
        source = cuda_source.of_text(Path("x.cu"), "\n".join(own + others))
        lines = cuda_source.rewrite(source, names=device_linkage.names(source.code)).split("\n")
        for line, text in zip(own + others, lines):
            with self.subTest(line=line):
                self.assertEqual(text, line.replace("__device__", device_linkage.OWN + "__device__", 1) if line in own else line)

    def test_a_table_of_a_hundred_thousand_numbers_takes_no_longer_than_to_read_it(self) -> None:
        table = "__device__ int table[] = {" + "1234567, " * 100_000 + "};\n"
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        self.assertIn("1234567, };", rewritten("__global__ void k() { extern __shared__ int a[]; }\n" + table))
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, 20)

    def test_ptx_with_less_than_any_form_has_is_refused(self) -> None:
        for name in sorted(name[3:] for name in dir(ptx_instructions.Instruction) if name.startswith("of_")):
            for text in (name, f"{name}.", f"{name}.u32", f"{name}.u32 %0", f"{name}.sync.aligned.u32 %0, %1", f"{name}.shared.global.b32 [%0]"):
                with self.subTest(text=text):
                    try:
                        ptx.translate(f'"{" " * len(text)}" : "=r"(x) : "r"(y)', f'"{text}" : "=r"(x) : "r"(y)')
                    except ptx.Unknown:
                        pass

    def test_conditions_on_the_architecture_stay(self) -> None:
        self.assertIn("#if __CUDA_ARCH__ >= 800", rewritten("#if __CUDA_ARCH__ >= 800\n#endif\n"))

    def test_a_mark_line_ends_and_bytes_that_are_no_text(self) -> None:
        self.assertEqual(rewritten("\ufeffint a;\r\n// \udcff\n"), '#line 1 "labs/x.cu"\nint a;\n// \udcff\n')


class Parts(unittest.TestCase):
    """A rung that is compiled in parts."""

    RUNG = 'int before;\nRUNG_EXPORT(row("a, b", f<int, 4>),  // first, second\n            row("c)", {g, h}), row("d", i),\n            row("e", j))\nint after;\n'

    def parts(self, text: str, number: int) -> list[str]:
        return [rewritten(text, "--part", f"{part}/{number}").partition("\n")[2] for part in range(1, number + 1)]

    def test_each_has_its_rows_and_all_have_the_rest_on_the_same_lines(self) -> None:
        parts = self.parts(self.RUNG, 3)
        rows = ['row("a, b", f<int, 4>)', 'row("c)", {g, h})', 'row("d", i)', 'row("e", j)']
        for text, own in zip(parts, ([0], [1], [2, 3])):
            self.assertEqual([at for at, row in enumerate(rows) if row in text], own)
            lines = text.split("\n")
            self.assertEqual((lines[0], lines[4]), ("int before;", "int after;"))
            self.assertTrue(lines[1].startswith("RUNG_EXPORT_PART("))
        self.assertIn('row("d", i),\n            row("e", j))', parts[2])

    def test_what_cannot_be_divided_is_whole_in_the_first(self) -> None:
        whole = ("int x;\n", "RUNG_EXPORT(ROWS)\n", self.RUNG.replace("// first", "\n#if X // first"), self.RUNG + self.RUNG, "RUNG_EXPORT(a, b, c\n",
                 "#define EXPORT RUNG_EXPORT(a, b, c)\nEXPORT\n")
        for text in whole:
            self.assertEqual(self.parts(text, 3), [text, "", ""], text)


if __name__ == "__main__":
    unittest.main()
