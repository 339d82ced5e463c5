"""The folders of graders: those of killed ones are removed, and nobody else's."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import stages  # noqa: E402


class Stages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def python(self, *lines: str) -> subprocess.Popen:
        """A process of its own, with folders in self.root."""
        return subprocess.Popen([sys.executable, "-c", "\n".join(("import stages, subprocess, sys", *lines))], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(HERE), "TMPDIR": str(self.root)})

    def grader(self, *lines: str) -> tuple[subprocess.Popen, Path]:
        """A process that has a folder, with a file in it, and waits."""
        process = self.python("folder = stages.make()", "(folder / 'inside').write_text('1')", "print(folder, flush=True)", *lines,
                              "sys.stdin.read()", "stages.remove(folder)")
        folder = Path(process.stdout.readline().strip())
        self.addCleanup(process.wait)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.kill)
        return process, folder

    def removed(self) -> int:
        said, _ = self.python("print(stages.remove_left_behind())").communicate()
        return int(said)

    def test_of_a_killed_grader(self):
        process, folder = self.grader()
        self.assertEqual(folder.parent, self.root)
        self.assertEqual(folder.stat().st_mode & 0o777, 0o711)
        self.assertEqual(self.removed(), 0)
        self.assertTrue((folder / "inside").exists(), "a running grader has lost its folder")
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.assertTrue((folder / "inside").exists())
        self.assertEqual(self.removed(), 1)
        self.assertFalse(folder.exists())

    def test_what_a_killed_grader_has_started_does_not_keep_it(self):
        process, folder = self.grader("child = subprocess.Popen(['sleep', '60'], close_fds=False)", "print(child.pid, flush=True)")
        child = int(process.stdout.readline())
        process.send_signal(signal.SIGKILL)
        process.wait()
        try:
            self.assertEqual(self.removed(), 1)
        finally:
            os.kill(child, signal.SIGKILL)
        self.assertFalse(folder.exists())

    def test_one_that_ends_without_removing_it(self):
        process = self.python("stages.make()", "raise SystemExit(3)")
        process.communicate()
        self.assertEqual((process.returncode, list(self.root.iterdir())), (3, []))

    def test_only_folders_and_only_ones_own(self):
        elsewhere = self.root / "elsewhere"
        elsewhere.mkdir()
        (elsewhere / "work").write_text("of somebody else")
        (self.root / f"{stages.PREFIX}link").symlink_to(elsewhere)
        (self.root / f"{stages.PREFIX}file").write_text("")
        (self.root / "other-folder").mkdir()
        if os.geteuid() == 0:
            (self.root / f"{stages.PREFIX}strange").mkdir()
            os.chown(self.root / f"{stages.PREFIX}strange", 60001, 60001)
        before = sorted(self.root.rglob("*"))
        self.assertEqual(self.removed(), 0)
        self.assertEqual(sorted(self.root.rglob("*")), before)

    def test_a_folder_that_is_just_being_made_is_not_lost(self):
        """Between its making and its lock a folder looks like one that was left behind."""
        cleaner = self.python("while not stages.remove_left_behind(): pass", "while True: stages.remove_left_behind()")
        try:
            maker = self.python("lost = 0", "for _ in range(2000):", "    folder = stages.make()", "    lost += not folder.exists()",
                                "    stages.remove(folder)", "print(lost)")
            self.assertEqual(maker.communicate()[0].strip(), "0")
        finally:
            cleaner.kill()
            cleaner.communicate()


if __name__ == "__main__":
    unittest.main()
