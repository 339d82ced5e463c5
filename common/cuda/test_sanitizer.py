"""sanitizer.py on logs that compute-sanitizer 2025.3 wrote on an H200 (the first records of each), and the wrapper round the
worker with a stand-in for the tool, which needs no GPU."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(Path(__file__).resolve().parent), str(ROOT / "common/testing")]
import broken  # noqa: E402
import sanitizer  # noqa: E402
from course import runs  # noqa: E402

DATA = ROOT / "common/cuda/testdata"


def parsed(tool: str, source: str) -> list[sanitizer.Finding]:
    findings, trouble = sanitizer.parse((DATA / f"{tool}.log").read_text(), source)
    assert not trouble, trouble
    return findings


class Logs(unittest.TestCase):
    def test_memcheck(self):
        found = parsed("memcheck", "no_bounds_check.cu")
        self.assertEqual([(each.line[1], each.what) for each in found],
                         [(55, "Invalid __global__ read of size 4 bytes"), (55, "Invalid __global__ write of size 4 bytes")])
        self.assertEqual(found[0].count, 2)
        self.assertIn("by thread (132,0,0) in block (3,0,0)", found[0].detail)
        self.assertIn("1 bytes after the nearest allocation", found[0].detail)

    def test_racecheck_names_both_lines(self):
        found = parsed("racecheck", "no_barrier_after_load.cu")
        self.assertEqual([(each.line[1], each.what, each.others) for each in found],
                         [(43, "a race: write here", ["read at line 47"])])

    def test_synccheck(self):
        found = parsed("synccheck", "barrier_for_some.cu")
        self.assertEqual([each.line[1] for each in found], [43])
        self.assertIn("Divergent thread(s) in block", found[0].what)

    def test_initcheck(self):
        found = parsed("initcheck", "common/cuda/testdata/reads_its_output.cu")
        self.assertEqual([(each.line[1], each.count) for each in found], [(7, 2)])

    def test_what_the_worker_copies_is_no_finding(self):
        self.assertEqual(parsed("host_api", "x.cu"), [])

    def test_a_device_that_the_tool_does_not_know(self):
        _, trouble = sanitizer.parse("========= COMPUTE-SANITIZER\n========= Error: Device not supported. Please refer to\n", "x.cu")
        self.assertEqual(len(trouble), 1)

    def printed(self, logs: dict[str, str], source: str) -> tuple[int, str]:
        with tempfile.TemporaryDirectory() as folder:
            for tool, log in logs.items():
                (Path(folder) / tool).mkdir()
                if log:
                    (Path(folder) / tool / "1.log").write_text((DATA / f"{log}.log").read_text())
            with contextlib.redirect_stdout(io.StringIO()) as out:
                status = sanitizer.main(["--source", source, *(str(Path(folder) / tool) for tool in logs)])
        return status, out.getvalue()

    def test_the_line_is_printed_with_its_code(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        source = f"{folder.name}/no_barrier_after_load.cu"
        Path(source).write_text(42 * "\n" + "  for (int c = threadIdx.x; c < cols; c += threads) row[c] = x[c];\n")
        status, text = self.printed({"racecheck": "racecheck", "initcheck": "host_api"}, source)
        self.assertEqual(status, 1)
        self.assertIn(f"{source}:43: a race: write here, with read at line 47", text)
        self.assertIn("row[c] = x[c];", text)
        self.assertIn("initcheck  clean", text)

    def test_a_tool_that_left_no_log_is_not_clean(self):
        status, text = self.printed({"memcheck": "host_api", "racecheck": ""}, "x.cu")
        self.assertEqual(status, 2)
        self.assertIn("racecheck  did not work", text)


def sessions_alive() -> set[str]:
    """The sessions of all processes that have not ended."""
    sessions = set()
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, session = status.read_text().rpartition(")")[2].split()[:4]  # a name may hold anything
        except OSError:
            continue  # ended meanwhile
        if state != "Z":
            sessions.add(session)
    return sessions


@unittest.skipUnless((ROOT / "build/cpu/tests/lab02_smem").exists() and (ROOT / "build/cpu/worker").exists(), "not built")
class Wrapper(unittest.TestCase):
    """The tests of lab 02 on the CPU, the worker under the wrapper with a stand-in for compute-sanitizer."""

    def run_tests(self, rung: str, case: str) -> tuple[str, Path]:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = f"build/cpu/{rung}.so"
        subprocess.run(["make", "-s", "-f", "common/build/rules.mk", path], cwd=ROOT, check=True)
        request = {"rung": path, "file": f"{rung}.cu", "case": case, "worker": "common/cuda/sanitized_worker.sh"}
        done = runs.run("lab02_smem", request, timeout=120, LADDER_SANITIZER="memcheck", LADDER_SANITIZER_LOGS=folder.name,
                        SANITIZED_WORKER="build/cpu/worker", COMPUTE_SANITIZER="common/cuda/testdata/fake_sanitizer.sh")
        subprocess.run(["timeout", "20", "flock", "-x", f"{folder.name}/running", "true"], check=True)
        return done.output, Path(folder.name)

    def test_the_tool_is_left_to_write_its_report(self):
        output, folder = self.run_tests("solutions/lab02_smem/softmax_smem", "normal-7x33")
        self.assertIn("3 passed, 0 failed", output)
        logs = list(folder.glob("*.log"))
        self.assertEqual(len(logs), 1)
        self.assertIn("0 errors", logs[0].read_text())

    def test_a_kernel_that_never_ends_is_ended(self):
        output, folder = self.run_tests(str(broken.write("lab02_smem", "endless_loop", ROOT).with_suffix("")), "normal-7x33")
        self.assertIn("0 passed", output)
        started = set((folder / "started").read_text().split())
        self.assertTrue(started)
        self.assertFalse(sessions_alive() & started)


if __name__ == "__main__":
    unittest.main()
