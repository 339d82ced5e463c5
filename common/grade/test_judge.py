"""The judge end to end, on lab 02: the solution and the starter, honest and dishonest kernels, and a class that is interrupted.

What needs a sandbox is skipped, with the reason, where there is none.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

HERE = Path(__file__).resolve().parent
COURSE = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent)]
import judge  # noqa: E402
import points  # noqa: E402
import sandbox  # noqa: E402
from course.sampling import has_list, in_turn, left_to_rest, sampled  # noqa: E402
from ingest import Submission, Taken  # noqa: E402

LAB = "lab02_smem"
SOLUTION = (COURSE / "solutions/lab02_smem/softmax_smem.cu").read_text()
STARTER = (COURSE / "labs/lab02_smem/softmax_smem.cu").read_text()
try:
    BOX: sandbox.Sandbox | None = sandbox.find()
    WHY_NOT = ""
except sandbox.SandboxError as error:
    BOX, WHY_NOT = None, str(error)

# The same table of variants for a kernel of a few lines.
FRAME = """#include <cmath>
#include <cstdlib>
#include "rung.h"
%s
RUNG_EXPORT(rung::softmax("serial", one), rung::softmax("tree", one), rung::softmax("tree_f32x4", one))
"""
ON_THE_HOST = """
cudaError_t one(const float* x, float* y, int rows, int cols, cudaStream_t) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  for (int r = 0; r < rows; r++, x += cols, y += cols) {
    float max = -3.4e38f;
    double sum = 0;
    for (int c = 0; c < cols; c++) max = fmaxf(max, x[c]);
    for (int c = 0; c < cols; c++) sum += expf(x[c] - max);
    const float scale = sum > 0 ? static_cast<float>(1 / sum) : static_cast<float>(sum);
    for (int c = 0; c < cols; c++) y[c] = expf(x[c] - max) * scale;
  }
  return cudaSuccess;
}
"""
NOTHING = "cudaError_t one(const float*, float*, int, int, cudaStream_t) { %s return cudaSuccess; }"


@unittest.skipUnless(BOX, WHY_NOT)
class Judging(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        table = points.load(HERE / "points.toml", list(judge.labs_of(COURSE)))
        cls.judge = judge.Judge(COURSE, table, BOX, b"a secret of these tests", os.cpu_count() or 1, only=LAB)
        cls.judge.prepare()

    @classmethod
    def tearDownClass(cls):
        cls.judge.close()

    def grade(self, source: str) -> dict:
        """Of the one lab. Nothing may be left of it."""
        submission = Submission("student", "student", Path("student"), {LAB: Taken(source.encode())})
        grade = self.judge.grade(submission)
        self.assertEqual(self.judge.warnings, [])
        self.assertEqual(grade["points"], grade["labs"][0]["points"])
        return grade["labs"][0]

    def item(self, lab: dict, id: str) -> dict:
        return next(item for item in lab["items"] if item["id"] == id)

    def test_the_solution_gets_everything_and_the_starter_nothing(self):
        lab = self.grade(SOLUTION)
        self.assertEqual((lab["verdict"], lab["points"]), ("pass", lab["out_of"]), [i for i in lab["items"] if i["verdict"] != "pass"])
        self.assertEqual(round(lab["out_of"] + lab["not_run"], 2), 100)
        lab = self.grade(STARTER)
        self.assertEqual((lab["verdict"], lab["points"]), ("fail", 0))

    @in_turn(3)
    def test_honest_and_unusual(self):
        odd = "// REQUIRE(false); asm(\"nop\"); system(\"rm\")\n" + SOLUTION.replace("threads = 256", "threads = 128")
        lab = self.grade(odd.replace("\n", "\r\n"))
        self.assertEqual((lab["verdict"], lab["points"]), ("pass", lab["out_of"]), [i for i in lab["items"] if i["verdict"] != "pass"])

    @in_turn(3)
    def test_partial_work_keeps_what_it_has(self):
        lab = self.grade(SOLUTION.replace('rung::softmax("tree", tree)', 'rung::softmax("tree", nothing)').replace(
            "RUNG_EXPORT", "cudaError_t nothing(const float*, float*, int, int, cudaStream_t) { return cudaSuccess; }\nRUNG_EXPORT"))
        self.assertEqual(lab["verdict"], "fail")
        self.assertAlmostEqual(lab["points"] / lab["out_of"], 2 / 3, delta=0.05)

    @in_turn(3)
    def test_a_wrong_kernel_learns_why_but_no_value(self):
        wrong = SOLUTION.replace("row[c] * scale;", "row[c] * scale * 1.01f;")
        self.assertNotEqual(wrong, SOLUTION)
        lab = self.grade(wrong)
        self.assertEqual(self.item(lab, "correctness/serial f32/widths")["verdict"], "fail")
        self.assertIn("slightly off", self.item(lab, "correctness/serial f32/widths")["reason"])
        self.assertNotRegex(json.dumps(lab), r"expected [-0-9.]|sums to")

    @in_turn(3)
    def test_only_on_the_public_shapes(self):
        public = "if (cols != 33 && cols != 31 && cols != 32 && cols != 600 && cols != 1023 && cols != 1024 && cols != 1025 && cols != 4096 && " \
                 "cols > 2 && cols != 96 && cols != 161 && cols != 50257 && cols != 200003 && cols != 512) return cudaErrorInvalidValue;\n  const size_t bytes"
        lab = self.grade(SOLUTION.replace("const size_t bytes", public))
        self.assertEqual(self.item(lab, "correctness/tree f32/widths")["verdict"], "pass")
        self.assertEqual(self.item(lab, "correctness/tree f32/hidden")["verdict"], "fail")

    def test_computed_on_the_host(self):
        lab = self.grade(FRAME % ON_THE_HOST)
        self.assertEqual((lab["verdict"], lab["points"]), ("fail", 0))
        self.assertRegex(self.item(lab, "correctness/tree f32/widths")["reason"], "host code (touches|reads or writes) device memory")

    @in_turn(3)
    def test_rules(self):
        lab = self.grade(FRAME % (NOTHING % 'system("true");'))
        self.assertEqual((lab["verdict"], lab["points"]), ("fail", 0))
        self.assertIn("calls system", self.item(lab, "integrity/source")["reason"])
        lab = self.grade(SOLUTION + 'void pause() { asm volatile("pause"); }\n')
        self.assertEqual((lab["verdict"], lab["points"]), ("needs a person", 0))
        self.assertIn("inline assembly", self.item(lab, "integrity/source")["reason"])
        self.assertAlmostEqual(sum(item.get("waits", 0) for item in lab["items"]), lab["out_of"], places=2)
        lab = self.grade(SOLUTION.replace("float max = lowest;", "float max = lowest;\n#ifdef __SANITIZE_THREAD__\n(void)max;\n#endif\n", 1))
        self.assertEqual(lab["verdict"], "needs a person")

    def test_what_the_headers_offer_may_be_called(self):
        """Some of CUDA's functions are calls of the compiler's own library on this machine."""
        names = re.findall(r"(?m)^inline [\w ]+ (__\w+)\(((?:unsigned|int|long long|unsigned long long) \w+(?:, \w[\w ]*)*)\)",
                           (COURSE / "common/simt/include/simt/bits.h").read_text())
        self.assertGreater(len(names), 5)
        calls = "".join(f"  sum += static_cast<unsigned>({name}({', '.join(['y[0]'] * (arguments.count(',') + 1))}));\n" for name, arguments in names)
        text = f"#include \"rung.h\"\n__global__ void kernel(const unsigned* y, float* to) {{\n  unsigned sum = 0;\n{calls}  to[0] = float(sum);\n}}\n"
        built = self.judge.workshop.build((text + FRAME % (NOTHING % "kernel<<<1, 1>>>(nullptr, nullptr);")).encode(), "labs/x.cu", self.judge.box.new_user())
        self.assertEqual((built.error, built.findings), ("", []), built.details)

    @in_turn(3)
    def test_what_nothing_of_a_rung_leads_to_is_left_out(self):
        debugging = '#include <cstdlib>\nint main() { return system("date"); }\n'
        lab = self.grade(SOLUTION + debugging)
        self.assertEqual((lab["verdict"], lab["points"]), ("pass", lab["out_of"]), [item["reason"] for item in lab["items"]][:3])

    @in_turn(3)
    def test_what_cannot_be_compiled(self):
        for text, word in (('#include "/etc/passwd"\n', "does not compile"), ('#include <eigen3/Eigen/Core>\n', "does not compile"),
                           ("int x[1ull << 40] = {1};\n", "compile"), ('asm(".incbin \\"/etc/passwd\\"");\n', "does not compile"),
                           ("template <int N> struct A { A<N + 1> next; }; A<0> a;\n", "does not compile"),
                           ("#include \"rung.h\"\nfloat f(float x) { return x; }\n__global__ void k(float* x) { *x = f(*x); }\n", "does not compile with nvcc")):
            lab = self.grade(text + FRAME % (NOTHING % ""))
            self.assertEqual((lab["verdict"], lab["points"]), ("fail", 0), text)
            self.assertIn(word, self.item(lab, "integrity/source")["reason"], text)
            self.assertNotIn("root:", json.dumps(lab), "a file of this machine was shown")

    @has_list
    def test_ends_within_its_limits(self):
        texts = ("exit(0);", "abort();", "for (;;) printf(\"PASSED all\\n\");",
                 "for (;;) { char* p = static_cast<char*>(malloc(1 << 20)); for (int i = 0; p && i < 1 << 20; i += 4096) p[i] = 1; }")
        texts = sampled(texts, 2, "submissions that do not end by themselves")
        begun = time.monotonic()
        with ThreadPoolExecutor(len(texts)) as pool:
            labs = pool.map(lambda text: self.grade("#include <cstdio>\n" + FRAME % (NOTHING % text)), texts)
        for text, lab in zip(texts, labs):
            self.assertEqual((lab["verdict"], lab["points"]), ("fail", 0), text)
        self.assertLess(time.monotonic() - begun, 2 * self.judge.limits["lab_seconds"])

    def test_at_load(self):
        lab = self.grade("#include <cstdlib>\nstruct A { A() { exit(0); } } a;\n" + FRAME % (NOTHING % ""))
        self.assertEqual((lab["verdict"], lab["points"]), ("fail", 0))


@unittest.skipUnless(BOX, WHY_NOT)
class Time(unittest.TestCase):
    """A submission's time, without running one."""

    def judge(self, limited: bool) -> judge.Judge:
        one = judge.Judge.__new__(judge.Judge)
        one.memo, one.graded, one.memo_lock, self.runs = {}, {}, threading.Lock(), 0
        one.timed_out, one.remembered = {}, None
        one.key = lambda lab, taken: f"{lab} {taken.source}"

        def grade_file(*_):
            self.runs += 1
            return {"lab": "lab02_smem"}, limited

        one.grade_file = grade_file
        return one

    def test_what_took_all_of_its_time_is_not_run_again(self):
        for limited, runs in ((False, 1), (True, 2)):  # limited: by what says nothing of the file
            one = self.judge(limited)
            for _ in range(2):
                one.grade_lab("lab02_smem", Taken(b"the same"), None)
            self.assertEqual(self.runs, runs)

    def test_what_took_all_of_its_time_is_known_to_later_runs(self):
        with tempfile.TemporaryDirectory() as name:
            one = self.judge(False)
            one.remembered = Path(name) / "timed_out.json"
            one.remember(one.key("lab02_smem", Taken(b"the same")), {"lab": "lab02_smem", "points": 0})
            later = self.judge(False)
            later.timed_out = json.loads(one.remembered.read_text())
            self.assertEqual(later.grade_lab("lab02_smem", Taken(b"the same"), None)["points"], 0)
            self.assertEqual(self.runs, 0)
            later.grade_lab("lab02_smem", Taken(b"another"), None)
            self.assertEqual(self.runs, 1)

    def test_all_labs_draw_from_one_budget(self):
        budget = judge.Budget(10)
        for _ in range(3):
            budget.spend(4)
        self.assertEqual(budget.left(), -2)


class Secrets(unittest.TestCase):
    """Lab 01 has a variant whose cost grows with cols^2: which hidden cases are small enough depends on what is drawn."""

    @in_turn(3)
    def test_points_do_not_depend_on_the_secret(self):
        table = points.load(HERE / "points.toml", list(judge.labs_of(COURSE)))
        a_judge = judge.Judge(COURSE, table, BOX, b"first", os.cpu_count() or 1, only="lab01")
        try:
            a_judge.prepare()
            for secret in (b"second", b"third"):
                a_judge.secret = secret
                grade = a_judge.grade(judge.submission_of_course(COURSE, "solutions", table.limits))
                self.assertEqual(grade["points"], grade["out_of"], [i for i in grade["labs"][0]["items"] if i["verdict"] == "fail"])
        finally:
            a_judge.close()


def processes_of_folder(folder: Path) -> list[str]:
    """Those that have its path in their command or environment."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if os.fsencode(folder) in (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes():
                found.append((entry / "cmdline").read_text().replace("\0", " ")[:200])
        except OSError:
            pass
    return found


def without_seconds(path: Path) -> str:
    """A report without the time that grading took, and without the secret of its run."""
    return re.sub(r'time="[\d.]+"', "", path.read_text())


@unittest.skipUnless(BOX, WHY_NOT)
class Class(unittest.TestCase):
    def run_check(self, out: Path, submissions: Path, **variables: str) -> subprocess.Popen:
        command = [sys.executable, str(HERE / "check.py"), "--submissions", str(submissions), "--out", str(out), "--only", LAB, "--jobs", "2"]
        # Of a shell's background job a process inherits that Ctrl-C is ignored, and make test runs its checks as such.
        return subprocess.Popen(command, cwd=COURSE, env={**os.environ, **variables}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))

    def results(self, out: Path) -> dict[str, tuple]:
        grades = [json.loads(path.read_text()) for path in sorted(out.glob("students/*/grade.json"))]
        return {grade["id"]: (grade["student"], grade["points"], grade["verdict"],
                              tuple((item["id"], item["verdict"], item["points"]) for item in grade["labs"][0]["items"])) for grade in grades}

    @left_to_rest
    def test_interrupted_and_resumed(self):
        with tempfile.TemporaryDirectory() as folder:
            submissions, out, whole = Path(folder) / "in", Path(folder) / "out", Path(folder) / "whole"
            for number in range(4):
                place = submissions / f"student {number}"
                place.mkdir(parents=True)
                (place / "softmax_smem.cu").write_text(f"// {number}\n" + (SOLUTION if number == 1 else STARTER))
            temporary = Path(folder) / "tmp"
            temporary.mkdir()
            Path(folder).chmod(0o711)  # the sandbox's users must reach what is below
            temporary.chmod(0o711)
            before: dict[Path, int] = {}
            # Ctrl-C first: what is being graded at that moment must not be taken for a grade, and nothing is left. Then a kill, of
            # which the next run removes what is left.
            for number, how in ((1, signal.SIGINT), (2, signal.SIGKILL)):
                process = self.run_check(out, submissions, TMPDIR=str(temporary))
                for line in process.stdout:
                    if re.match(rf" *{number}/4 ", line):
                        if number == 1:  # a second one while the first is at work; it still is when that has been refused
                            os.kill(process.pid, signal.SIGSTOP)
                            second = self.run_check(out, submissions)
                            refused = second.communicate()[0]
                            os.kill(process.pid, signal.SIGCONT)
                            self.assertEqual(second.returncode, 2, refused)
                            self.assertIn(f"(process {process.pid}, since", " ".join(refused.split()))
                        process.send_signal(how)
                        break
                said = process.stdout.read()
                self.assertEqual(process.wait(), 130 if how == signal.SIGINT else -signal.SIGKILL, said)
                process.stdout.close()
                until = time.monotonic() + 60
                while (left := processes_of_folder(temporary)) and time.monotonic() < until:
                    time.sleep(0.1)
                self.assertEqual(left, [], how)
                self.assertEqual(len(list(temporary.glob("ladder-*"))), 0 if how == signal.SIGINT else 1)
                for path, when in before.items():
                    self.assertEqual(path.stat().st_mtime_ns, when, "graded again")
                before = {path: path.stat().st_mtime_ns for path in out.glob("students/*/grade.json")}
                self.assertTrue(number <= len(before) < 4, before)
            said = self.run_check(out, submissions, TMPDIR=str(temporary)).communicate()[0]
            self.assertIn("were graded before", said)
            self.assertIn("removed the folder of a grader that had not ended in order", said)
            self.assertIn("a grader that has ended had not given", said)
            self.assertEqual(list(temporary.glob("ladder-*")), [])
            for path, when in before.items():
                self.assertEqual(path.stat().st_mtime_ns, when, "graded again")
            self.run_check(whole, submissions).communicate()
            for name in ("gradebook.csv", "junit.xml"):
                self.assertEqual(without_seconds(out / name), without_seconds(whole / name))
            self.assertEqual(self.results(out), self.results(whole))
            self.assertEqual([r[2] for r in self.results(out).values()].count("pass"), 1)
            # A submission that has changed is graded again, and it alone.
            (submissions / "student 0/softmax_smem.cu").write_text("// another\n" + STARTER)
            said = self.run_check(out, submissions).communicate()[0]
            self.assertIn("3 were graded before", said)

    def test_errors(self):
        with tempfile.TemporaryDirectory() as folder:
            said = self.run_check(Path(folder) / "out", Path(folder) / "missing").communicate()[0]
            self.assertIn("No such file", " ".join(said.split()))
            (Path(folder) / "empty").mkdir()
            said = self.run_check(Path(folder) / "out", Path(folder) / "empty").communicate()[0]
            self.assertIn("no folder and no archive", " ".join(said.split()))

    def test_without_a_sandbox_others_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            tools = Path(folder) / "tools"
            (tools).mkdir()
            for name in ("setpriv", "prlimit", "env", "g++", "make", "sh"):
                if path := next((p for p in (Path("/usr/bin") / name, Path("/bin") / name) if p.exists()), None):
                    (tools / name).symlink_to(path)
            (Path(folder) / "in/ann").mkdir(parents=True)
            process = self.run_check(Path(folder) / "out", Path(folder) / "in", PATH=str(tools))
            said = process.communicate()[0]
            self.assertEqual(process.returncode, 2, said)
            said = " ".join(said.split())
            self.assertIn("there is no sandbox", said)
            self.assertIn("apt-get install bubblewrap", said)
            self.assertFalse((Path(folder) / "out/students").exists())


@unittest.skipUnless(BOX, WHY_NOT)
class Doctor(unittest.TestCase):
    """make check-doctor, with every kind of sandbox that works here."""

    def test_nothing_gets_out(self):
        for kind in ("bwrap", "unshare"):
            try:
                sandbox.find(kind)
            except sandbox.SandboxError as error:
                print(f"skipped: {error}")
                continue
            done = subprocess.run((sys.executable, str(HERE / "check.py"), "--doctor"), cwd=COURSE, env={**os.environ, "SANDBOX": kind},
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertIn("the sandbox holds", done.stdout)

    def patients(self):
        """Of each kind of sandbox that there is here. Whoever gets one closes it."""
        import doctor
        for kind in ("bwrap", "unshare"):
            try:
                box = sandbox.find(kind)
            except sandbox.SandboxError as error:
                print(f"skipped: {error}")
                continue
            yield kind, doctor.Doctor(box)

    def test_what_could_not_be_tried_does_not_hold(self):
        """In a sandbox in which escapes refuses to try anything, for its host name, and in one that cannot be entered."""
        import doctor
        for kind, patient in self.patients():
            with contextlib.closing(patient):
                box = patient.box
                enter = box.options[0] if kind == "unshare" else ""
                good, commands = Path(enter).read_text() if enter else "", box.command
                for bad in ("hostname elsewhere", "hostname --no-such-option"):
                    if enter:
                        Path(enter).write_text(good.replace("hostname sandbox", bad))
                    else:  # bubblewrap's own option, and one that it does not know
                        words = ("--hostname", "elsewhere") if "elsewhere" in bad else ("--no-such-option", "x")
                        box.command = lambda *given: [word for part in ([words[0]] if one == "--hostname" else [words[1]] if one == "sandbox" else [one]
                                                                        for one in commands(*given)) for word in part]
                    for attempt in doctor.attempts(patient, 1, "abstract", os.getpid(), 1):
                        with self.subTest(kind=kind, bad=bad, attempt=attempt.name):
                            self.assertIn(doctor.UNTRIED, "".join(patient.run(attempt)))

    def test_processor_time_is_a_limit_of_its_own(self):
        """Also where unshare says nothing of the signal that ended its child."""
        for kind, patient in self.patients():
            with contextlib.closing(patient):
                limits = sandbox.Limits(cpu_seconds=2, wall_seconds=120, memory_mib=512, processes=40)
                for program, cause in (("spinner", "time"), ("devices", "")):
                    command = patient.box.command(["/escapes", program], patient.root, limits, patient.box.new_user())
                    with self.subTest(kind=kind, program=program):
                        ended = patient.box.run(command, limits)
                        self.assertEqual((ended.cause, ended.seconds < 120), (cause, True), ended)

    def test_the_executor_has_its_share_of_the_cores(self):
        """With 16 of them a process came to its limit of addresses: no course could be graded there."""
        for cores, jobs, share in ((2, 4, 1), (16, 1, 4), (16, 8, 2), (64, 64, 1)):
            with mock.patch("os.sched_getaffinity", return_value=set(range(cores))):
                self.assertEqual(judge.cores_for(jobs), share, (cores, jobs))
        for kind, patient in self.patients():
            with contextlib.closing(patient):
                for cores, held in ((3, True), (0, False)):
                    limits = sandbox.Limits(cpu_seconds=2, wall_seconds=120, memory_mib=512, processes=40, cores=cores)
                    command = patient.box.command(["/escapes", "environment", "x"], patient.root, limits, patient.box.new_user())
                    said = patient.box.run(command, limits).stdout
                    self.assertIn(b"began environment", said)
                    self.assertEqual(b"SIMT_CORES" in said, held, kind)

    def test_a_sandbox_without_its_host_name_is_not_entered(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("hostname", "echo it is not permitted; exit 1"), ("mount", f"touch {folder}/mounted")):
                (Path(folder) / name).write_text(f"#!/bin/sh\n{text}\n")
                (Path(folder) / name).chmod(0o755)
            done = subprocess.run(("/bin/sh", str(HERE / "enter.sh"), folder, "0", "", "--", "true"), env={"PATH": folder}, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True)
            self.assertEqual((done.returncode, done.stderr), (1, "enter.sh: the sandbox cannot be given its host name: it is not permitted\n"))
            self.assertFalse((Path(folder) / "mounted").exists())

    @left_to_rest
    def test_where_only_root_can_write_to_null(self):
        """Then the doctor's attempts are made all the same, and an honest file keeps its points: one with a main, which the linker
        leaves out."""
        with tempfile.TemporaryDirectory() as folder:
            # In mount namespaces of their own, so that the machine's is left alone.
            other_null = 'mount -t tmpfs -o mode=755 none "$0" && mknod -m 644 "$0/null" c 1 3 && mount --bind "$0/null" /dev/null && exec "$@"'

            def run(*command: str, **variables: str) -> subprocess.CompletedProcess:
                return subprocess.run(("unshare", "--mount", "sh", "-c", other_null, folder, *command), env={**os.environ, **variables}, cwd=COURSE,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

            if os.geteuid() or run("test", "-w", "/dev/null").returncode:
                self.skipTest("only root can give a process a /dev/null of its own")
            self.assertNotEqual(run("setpriv", "--reuid", "50000", "--clear-groups", "sh", "-c", ": >/dev/null").returncode, 0)
            said = run(sys.executable, str(HERE / "check.py"), "--doctor", SANDBOX="unshare")
            self.assertEqual(said.returncode, 0, said.stdout)
            said = run(sys.executable, "-m", "unittest", "test_judge.Judging.test_what_nothing_of_a_rung_leads_to_is_left_out", PYTHONPATH=str(HERE))
            self.assertEqual(said.returncode, 0, said.stdout)

    def test_it_sees_an_open_sandbox(self):
        import doctor
        weak = sandbox.find()
        strong = weak.command

        def command(words, root, limits, uid, mounts=None):  # with the network and the host's files
            made = strong(words, root, limits, uid, mounts)
            place = made.index("--hostname")
            return [*made[:place], "--share-net", *made[place: place + 2], *made[place + 2: made.index("--proc")], "--ro-bind", "/etc", "/in",
                    *made[made.index("--proc"):]]

        if weak.kind != "bwrap":
            self.skipTest("needs bubblewrap")
        weak.command = command
        patient = doctor.Doctor(weak)
        try:
            self.assertTrue(patient.run(doctor.Attempt("", "read", ["/in/passwd"])))
            self.assertFalse(patient.run(doctor.Attempt("", "devices", [])))
        finally:
            patient.close()


class Timed(unittest.TextTestResult):
    def startTest(self, test):  # noqa: N802
        self.begun = time.monotonic()
        super().startTest(test)

    def stopTest(self, test):  # noqa: N802
        print(f"{time.monotonic() - self.begun:6.1f} s  {test}")
        super().stopTest(test)


if __name__ == "__main__":
    unittest.main(testRunner=unittest.TextTestRunner(resultclass=Timed))
