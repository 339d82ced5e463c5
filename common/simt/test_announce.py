#!/usr/bin/env python3
"""What announce says of compiled code: what no ordinary code holds, what it needs, what it defines (announce/main.cpp)."""

from __future__ import annotations

import platform
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MAKE = ["make", "-s", "--no-print-directory", "-f", "common/build/rules.mk"]


@unittest.skipUnless(platform.machine() == "x86_64", "announce knows x86-64")
class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        subprocess.run([*MAKE, "build/cpu/announce"], cwd=ROOT, check=True)
        cls.flags = subprocess.run([*MAKE, "print-instrument"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.split()

    def report(self, source: str) -> list[list[str]]:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            subprocess.run(["g++", "-std=c++17", "-fPIC", "-g1", "-w", *self.flags, "-x", "c++", "-S", "-", "-o", str(folder / "a.s")], cwd=ROOT,
                           input=source, text=True, check=True)
            subprocess.run(["build/cpu/announce", "--report", str(folder / "report"), str(folder / "a.s"), str(folder / "b.s")], cwd=ROOT, check=True)
            subprocess.run(["g++", "-c", str(folder / "b.s"), "-o", str(folder / "b.o")], check=True)  # it is assembly still
            return [line.split("\t") for line in (folder / "report").read_text().splitlines()]

    def odd(self, source: str) -> str:
        return "; ".join(line[3] for line in self.report(source) if line[0] == "odd")

    def test_ordinary_code_has_nothing_odd(self):
        self.assertEqual(self.odd("""
            #include <cmath>
            #include <string>
            #include <vector>
            static std::vector<std::string> words = {"a", "b"};
            struct Base { virtual ~Base() = default; virtual float f(float x) { return expf(x); } };
            struct Other : Base { float f(float x) override { return x / 3; } };
            float sum(const float* x, int n) { float s = 0; for (int i = 0; i < n; i++) s += x[i]; return s + words.size(); }
            float by_pointer(float (*f)(float), double d, long n) { return f(d) * n + static_cast<float>(Other().f(2)); }
            int choose(int i) { switch (i) { case 0: return 5; case 1: return 7; case 2: return 11; case 3: return 2; case 4: return 1; default: throw i; } }
            void many(int i, void (*f)(int)) { switch (i) { case 0: f(3); break; case 1: f(8); break; case 2: f(1); f(9); break; case 3: f(7); break; case 4: f(2); break; case 5: f(5); break; } }
            void barrier() { asm volatile("" ::: "memory"); }
            __attribute__((patchable_function_entry(8, 8))) void bounded() {}
            template <typename T> __attribute__((patchable_function_entry(8, 8))) void bounded_too(T) {}
            template void bounded_too(int);
            asm(".globl _ZSt21ios_base_library_initv");  // as in <iostream> from GCC 13 on
            """), "")

    def test_what_no_ordinary_code_holds(self):
        for source, word in (('void f() { asm("nop"); }', "inline assembly"), ('asm(".globl g\\ng: ret");', "inline assembly"),
                             ('asm(".globl _ZSt21ios_base_library_initv; nop");', "inline assembly"),
                             ('__attribute__((section(".own"))) int x = 1;', "the section .own"),
                             ('extern "C" int chosen(); extern "C" int (*choose())() { return 0; } int chosen() __attribute__((ifunc("choose")));', "ifunc"),
                             ('__attribute__((target("avx"))) void f(double* x) { for (int i = 0; i < 4; i++) x[i] *= 2; }', "the instruction v"),
                             ('void g(); int f(int i) { static void* const to[] = {&&a, &&b}; goto *to[i]; a: g(); b: return i; }', "a computed jump"),
                             ('extern "C" void __tsan_read4(void*); void (*f)(void*) = __tsan_read4;', "what announces accesses"),
                             ('extern "C" void __tsan_read4(void*); void g(void (*)(void*)); void f() { g(__tsan_read4); }', "what announces accesses")):
            self.assertIn(word, self.odd(source), source)

    def test_what_a_file_needs_and_defines(self):
        lines = self.report('extern "C" int helper(int); namespace { int own = 3; } extern "C" { __attribute__((noinline)) static void __tsan_read4(void* p) { asm volatile("" :: "r"(p)); } }\n'
                            'int f(int* x) { __tsan_read4(x); return helper(*x) + own; }')
        needs = {line[2] for line in lines if line[0] == "needs"}
        defines = {line[1] for line in lines if line[0] == "defines"}
        self.assertIn("helper", needs)
        self.assertTrue(all(not name[0].isdigit() and not name.startswith(".") for name in needs), needs)
        self.assertIn("_Z1fPi", defines)
        self.assertIn("__tsan_read4", defines, "also one that is the file's alone")


    def rewritten(self, *body: str) -> str:
        """Of a function with these instructions after a label, so that nothing is known of registers."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            lines = ["\t.text", "\t.globl\tf", "\t.type\tf, @function", "f:", ".L1:", *(f"\t{line}" for line in body), "\tret"]
            (folder / "a.s").write_text("\n".join(lines) + "\n")
            subprocess.run(["build/cpu/announce", str(folder / "a.s"), str(folder / "b.s")], cwd=ROOT, check=True)
            subprocess.run(["g++", "-c", str(folder / "b.s"), "-o", str(folder / "b.o")], check=True)
            return (folder / "b.s").read_text()

    ANNOUNCED = ("movq %rbx, %rdi", "call *__tsan_read16@GOTPCREL(%rip)", "leaq (%r15,%rbp), %rax")
    WORDS = ("movl 12(%rax), %ecx", "movl 8(%rax), %edx", "movl 4(%rax), %esi", "movl (%rax), %eax")

    def test_the_pieces_of_an_announced_access_are_one(self):
        """Though their address was computed anew, so that nobody knows that it is the announced one."""
        text = self.rewritten(*self.ANNOUNCED, *self.WORDS)
        self.assertEqual(re.findall(r"leaq\t(\S+), %rdi\n\tcall\t\*simt_seen_(\w+)@", text), [("0(%rax)", "load16")])
        self.assertNotIn("__tsan_read16", text)
        self.assertLess(text.index("simt_seen_load16"), text.index("movl 12(%rax)"))

    def test_what_is_not_all_of_it_stays_in_pieces(self):
        for body in (self.ANNOUNCED + self.WORDS[:3], self.WORDS, self.ANNOUNCED + self.WORDS[:3] + ("leaq (%r12), %rax", "movl (%rax), %eax"),
                     self.ANNOUNCED + self.WORDS[:3] + (".L2:",) + self.WORDS[3:], self.ANNOUNCED + self.WORDS[:3] + ("jne .L1",) + self.WORDS[3:],
                     self.ANNOUNCED + self.WORDS[:2] + ("movl 4(%rax), %esi", "movl 4(%rax), %edi"),
                     (*self.ANNOUNCED, "movq %r12, %rdi", "call *__tsan_read4@GOTPCREL(%rip)", *self.WORDS)):
            with self.subTest(body):
                text = self.rewritten(*body)
                self.assertEqual(re.findall(r"simt_seen_(load\d+|store\d+)@", text), ["load4"] * sum(line.startswith("movl") for line in body))

    def test_a_block_is_entered_once(self):
        """Whatever it was made of after it had been instrumented; but behind a jump, a label or a call of other code it is another one."""
        enter = "call *__sanitizer_cov_trace_pc@GOTPCREL(%rip)"
        for between, again in ((("movl (%rsp), %eax",), True), ((), True), (("call *__tsan_read4@GOTPCREL(%rip)",), True), (("jne .L1",), False), ((".L2:",), False),
                               (("call *other@GOTPCREL(%rip)",), False)):
            with self.subTest(between):
                text = self.rewritten(enter, *between, enter)
                self.assertEqual((text.count("__sanitizer_cov_trace_pc"), text.count("simt_seen_same_block")), (1, 1) if again else (2, 0))

    def test_what_a_thread_has_loaded_or_stored_it_loads_again_only_where_it_may_have_changed(self):
        """By a store that may be to the same place, as nvcc does it (13.0, -arch=sm_90, cuobjdump -sass); one beside it, from the same base, changes nothing."""
        def announced(kind: str, place: str, number: int = 4) -> tuple[str, ...]:
            register = {4: "%eax", 8: "%rax"}[number]
            move = f"mov{'lq'[number // 8]} " + (f"{place}, {register}" if kind == "read" else f"{register}, {place}")
            return f"leaq {place}, %rdi", f"call *__tsan_{kind}{number}@GOTPCREL(%rip)", move

        for before in ("read", "write"):
            for between, again in ((announced("write", "4(%rbx)"), False), (announced("write", "-8(%rbx)", 8), False), (announced("write", "-6(%rbx)", 8), True),
                                   (announced("write", "3(%rbx)"), True), (announced("write", "4(%r12)"), True), (announced("read", "(%r12)"), False),
                                   (announced("write", "4(%rbx)") + announced("write", "(%r12)"), True)):
                with self.subTest(before=before, between=between):
                    text = self.rewritten(*announced(before, "(%rbx)"), *between, *announced("read", "(%rbx)"))
                    reads = sum("tsan_read" in line for line in between) + (before == "read") + again
                    self.assertEqual((text.count("__tsan_read"), text.count("simt_seen_load")), (reads, 0))


if __name__ == "__main__":
    unittest.main()
