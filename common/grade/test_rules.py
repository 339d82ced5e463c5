"""The rules about a kernel file see what is there, and nothing in comments and strings."""

from __future__ import annotations

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import rules  # noqa: E402

WORDS = rules.header_words(Path(__file__).resolve().parents[2])
LIBM = frozenset({"expf", "fmaxf"})


class Source(unittest.TestCase):
    def reasons(self, text: str, completed: bool = True) -> str:
        return "; ".join(finding.reason for finding in rules.of_source(text, completed))

    def test_comments_and_strings_are_not_read(self):
        for honest in ("// REQUIRE(x); asm(\"nop\"); __tsan_read4", "/* asm __tsan_read4 \n #line 3 */", 'const char* s = "__tsan_read4 volatile";',
                       'auto s = R"x(__tsan_read4("nop") )x";', "int a = 1'000; char c = '\"'; // asm", "float asm_like = 0; int atexits;",
                       "#include <cfloat>\r\n// Windows\r\nint x;\r\n", "x[y[i]] = a[[]{ return 1; }()];", "__attribute__((aligned(16))) float4 v;",
                       "[[nodiscard]] int f();", "__attribute__((always_inline)) inline int g();", "int simt_found; int rung_is_right;",
                       "[[gnu::no_sanitize_thread]] void f();"):
            self.assertEqual(self.reasons(honest, completed=False), "", honest)

    def test_what_a_person_should_see(self):
        for text, word in (("extern bool rung_is_instrumented;", "checked"), ('"a"R"("; __tsan_read4(p); const char* s = ")";', "checked"),
                           ("[[gnu::constructor]] void f();", "constructor"), ("__attribute__((optimize(\"O3\"))) void f();", "optimize"),
                           ("[[gnu::aligned((16)), gnu::optimize(\"O3\")]] void f();", "optimize"), ("[[ __gnu__ :: target(\"avx\")]] int f();", "target"),
                           ("__attribute__((aligned((16)), optimize(\"O3\"))) void f();", "optimize"), ("[ [using gnu: used, target(\"avx\")]] int f();", "target"),
                           ("__attribute__((__section__(\"x\"))) int x;", "section"), ("#pragma GCC optimize(\"O3\")", "options"),
                           ("\f #pragma GCC target(\"avx\")", "options")):
            self.assertIn(word, self.reasons(text), text)
        for text, word in (('asm(".incbin \\"/etc/passwd\\"");', "assembly"), ("__asm__ volatile(\"\");", "assembly"), ("std::atexit(f);", "atexit")):
            self.assertIn(word, self.reasons(text, completed=False), text)
            self.assertEqual(self.reasons(text), "", "the object says it")

    def test_own_text_is_what_no_header_has(self):
        headers = rules.header_lines('# 1 "rung.h"\ntheirs\n# 7 "cmath"\nmore\n')
        text = '# 1 "labs/x.cu"\nmine\n# 1 "common/rung.h" 1\ntheirs\nhidden behind a false name\n# 3 "labs/x.cu" 2\nmine too\n'
        self.assertEqual(rules.own_text(text, headers).split("\n"), ["mine", "hidden behind a false name", "mine too"])
        spread = 'const char* s = R"(\n# 1 "rung.h"\n)"; asm("nop");\n'
        self.assertIn("asm", rules.own_text(spread, headers))

    def test_own_lines(self):
        text = '# 1 "labs/x.cu"\nmine\n# 1 "common/rung.h" 1\ntheirs\n# 3 "labs/x.cu" 2\nmine too\n'
        self.assertEqual(rules.own_lines(text, "labs/x.cu").split("\n"), ["mine", "mine too", ""])


class Report(unittest.TestCase):
    def reasons(self, *lines: str) -> str:
        text = "\n".join("\t".join(line.split()) if not line.startswith("odd") else line for line in lines)
        taken = frozenset({"_ZN4simt6launchERKNS_12LaunchConfigERKNS_11BoundKernelE", "simt_threadIdx"})
        return "; ".join(finding.reason for finding in rules.of_report(text, "labs/x.cu", taken, LIBM))

    def test_an_ordinary_file(self):
        self.assertEqual(self.reasons("needs 3 expf", "needs 9 _GLOBAL_OFFSET_TABLE_", "needs 1 __tsan_read4", "needs 5 DW.ref.__gxx_personality_v0",
                                      "defines rung_variants", "defines _Z4treePKfPfii", "defines _ZNSt6vectorIfSaIfEED2Ev", "defines _ZL4randv",
                                      "defines simt_found"), "")

    def test_what_a_person_should_see(self):
        for line, word in (("odd\tlabs/x.cu\t7\tinline assembly", "inline assembly"),
                           ("defines memcpy", "not its own"), ("defines __tsan_read4", "not its own"), ("defines expf", "not its own"),
                           ("defines _Znwm", "not its own"), ("defines _ZN4simt6launchERKNS_12LaunchConfigERKNS_11BoundKernelE", "not its own")):
            self.assertIn(word, self.reasons(line), line)


class Symbols(unittest.TestCase):
    def levels(self, *names: str, instrumented: bool = False) -> list[str]:
        return [finding.level for finding in rules.of_symbols(list(names), instrumented, LIBM, WORDS)]

    def test_honest_ones(self):
        self.assertEqual(self.levels("expf@GLIBC_2.27", "_Z13cudaGetDevicePi", "_ZN4simt6launchERKNS_12LaunchConfigERKNS_11BoundKernelE", "printf",
                                     "_ZSt4cout@GLIBCXX_3.4", "__cxa_atexit", "_Znwm", "memcpy", "simt_threadIdx", "__cxa_finalize",
                                     "_GLOBAL_OFFSET_TABLE_", "DW.ref.__gxx_personality_v0"), [])
        self.assertEqual(self.levels("_ZTIi", "_ZTIPKc", "_ZTISt9exception"), [])  # of what is thrown
        self.assertEqual(self.levels("__popcountdi2", "__paritysi2", "__udivti3"), [])  # libgcc's part of __popc and the like
        self.assertEqual(self.levels("__tsan_read4", "__sanitizer_cov_trace_pc", instrumented=True), [])

    def test_others(self):
        for name in ("fork", "system@GLIBC_2.2.5", "dlsym", "ptrace", "mmap", "socket", "pthread_create", "_ZNSt6thread15_M_start_threadE", "kill", "syscall"):
            self.assertEqual(self.levels(name), [rules.FAIL], name)
        for name in ("getenv", "open", "_ZNSt14basic_ifstreamIcE", "_Z15cudaDeviceResetv", "_ZN4simt6checks4stopEv", "__tsan_read4", "usleep",
                     "_ZN4simt8counters5startEv"):
            self.assertEqual(self.levels(name), [rules.LOOK], name)
        self.assertEqual(self.levels("memcpy", instrumented=True), [rules.LOOK])
        product = ["_Z13cublasSgemm_vP"]
        self.assertEqual(len(rules.of_symbols(product, True, LIBM, WORDS)), 1)
        self.assertEqual(rules.of_symbols(product, True, LIBM, WORDS, products=True), [])


if __name__ == "__main__":
    unittest.main()
