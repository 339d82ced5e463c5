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
    def reasons(self, text: str) -> str:
        return "; ".join(finding.reason for finding in rules.of_source(text, text))

    def test_comments_and_strings_are_not_read(self):
        for honest in ("// REQUIRE(x); asm(\"nop\"); simt::launch", "/* asm __SANITIZE_THREAD__ \n #line 3 */", 'const char* s = "asm volatile";',
                       'auto s = R"x(asm("nop") )x";', "int a = 1'000; char c = '\"'; // asm", "float asm_like = 0; int atexits;",
                       "#include <cfloat>\r\n// Windows\r\nint x;\r\n", "x[y[i]] = a[[]{ return 1; }()];", "__attribute__((aligned(16))) float4 v;",
                       "[[nodiscard]] int f();", "__attribute__((always_inline)) inline int g();"):
            self.assertEqual(self.reasons(honest), "", honest)

    def test_what_a_person_should_see(self):
        for text, word in (('asm(".incbin \\"/etc/passwd\\"");', "assembly"), ("__asm__ volatile(\"\");", "assembly"), ("#line 7 \"x.h\"", "#line"),
                           ("%: line 7", "#line"), ("a\\\nsm(\"x\");", "assembly"), ("simt :: launch();", "executor"),
                           ("#ifdef __SANITIZE_THREAD__", "checked"), ("extern bool rung_is_instrumented;", "checked"),
                           ("__attribute__((no_sanitize(\"thread\"))) void f();", "no_sanitize"), ("[[gnu::constructor]] void f();", "constructor"),
                           ("__attribute__((__section__(\"x\"))) int x;", "section"), ("#pragma GCC optimize(\"O3\")", "options"),
                           ("std::atexit(f);", "atexit")):
            self.assertIn(word, self.reasons(text), text)

    def test_own_lines(self):
        text = '# 1 "labs/x.cu"\nmine\n# 1 "common/rung.h" 1\ntheirs\n# 3 "labs/x.cu" 2\nmine too\n'
        self.assertEqual(rules.own_lines(text, "labs/x.cu").split("\n"), ["mine", "mine too", ""])


class Symbols(unittest.TestCase):
    def levels(self, *names: str, instrumented: bool = False) -> list[str]:
        return [finding.level for finding in rules.of_symbols(list(names), instrumented, LIBM, WORDS)]

    def test_honest_ones(self):
        self.assertEqual(self.levels("expf@GLIBC_2.27", "_Z13cudaGetDevicePi", "_ZN4simt6launchERKNS_12LaunchConfigERKNS_11BoundKernelE", "printf",
                                     "_ZSt4cout@GLIBCXX_3.4", "__cxa_atexit", "_Znwm", "memcpy", "simt_threadIdx", "__cxa_finalize"), [])
        self.assertEqual(self.levels("__popcountdi2", "__paritysi2", "__udivti3"), [])  # libgcc's part of __popc and the like
        self.assertEqual(self.levels("__tsan_read4", "__sanitizer_cov_trace_pc", instrumented=True), [])

    def test_others(self):
        for name in ("fork", "system@GLIBC_2.2.5", "dlsym", "ptrace", "mmap", "socket", "pthread_create", "_ZNSt6thread15_M_start_threadE", "kill", "syscall"):
            self.assertEqual(self.levels(name), [rules.FAIL], name)
        for name in ("getenv", "open", "_ZNSt14basic_ifstreamIcE", "_Z10cudaMemcpyPvPKvm14cudaMemcpyKind", "_ZN4simt6checks4stopEv", "__tsan_read4", "usleep",
                     "_ZN4simt8counters5startEv"):
            self.assertEqual(self.levels(name), [rules.LOOK], name)
        self.assertEqual(self.levels("memcpy", instrumented=True), [rules.LOOK])


if __name__ == "__main__":
    unittest.main()
