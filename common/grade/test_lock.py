"""The lock of an OUT folder: one holder, dead holders give it up, silent ones on other machines too, and a holder notices that it has lost it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import lock  # noqa: E402
from lock import Lock, LockError  # noqa: E402

HOLD = f"import sys, time; sys.path.insert(0, {str(HERE)!r}); from pathlib import Path; from lock import Lock\n" \
       "with Lock(Path(sys.argv[1])):\n    print('held', flush=True); time.sleep(600)"
COUNT = f"""
import sys, time; sys.path.insert(0, {str(HERE)!r})
from pathlib import Path
from lock import Lock, LockError
folder, done = Path(sys.argv[1]), 0
while done < 20:
    try:
        with Lock(folder) as held:
            number = int((folder / 'number').read_text())
            time.sleep(0.001)
            held.check()
            (folder / 'number').write_text(str(number + 1))
            done += 1
    except LockError:
        time.sleep(0.002)
"""


class Locking(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def holder(self) -> subprocess.Popen:
        process = subprocess.Popen((sys.executable, "-c", HOLD, str(self.folder)), stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "held\n")
        return process

    def left(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir())

    def test_the_second_is_told_who_has_it(self):
        process = self.holder()
        with self.assertRaisesRegex(LockError, rf"being graded into by {lock._user()} on .* \(process {process.pid}, since 20.*wait until"):
            with Lock(self.folder):
                pass
        self.assertEqual(self.left(), ["lock"])

    def test_it_is_given_back(self):
        with Lock(self.folder):
            self.assertEqual(self.left(), ["lock"])
        self.assertEqual(self.left(), [])
        with self.assertRaises(KeyError):
            with Lock(self.folder):
                raise KeyError
        self.assertEqual(self.left(), [])

    def test_a_dead_holder_has_given_it_up(self):
        process = self.holder()
        process.send_signal(signal.SIGKILL)
        process.wait()
        with Lock(self.folder) as mine:
            self.assertIn(f"process {process.pid}", mine.taken_over)
        self.assertEqual(self.left(), [])

    def test_a_number_that_is_used_again_is_another_process(self):
        with Lock(self.folder) as mine:
            text = json.loads(mine.path.read_text())
        (self.folder / "lock").write_text(json.dumps({**text, "start": "1", "token": "another"}))  # this process lives, and is not that one
        with Lock(self.folder) as mine:
            self.assertTrue(mine.taken_over)

    def test_another_machine_is_believed_as_long_as_it_gives_signs_of_life(self):
        path = self.folder / "lock"
        for text in (json.dumps({"user": "ann", "host": "far", "pid": 1, "machine": "far", "since": "now", "token": "x"}), "", "not json", "[]"):
            path.write_text(text)
            with self.assertRaises(LockError):
                with Lock(self.folder):
                    pass
            old = time.time() - lock.SILENT - 5
            os.utime(path, (old, old))
            with Lock(self.folder) as mine:
                self.assertTrue(mine.taken_over)
            self.assertEqual(self.left(), [])

    def test_signs_of_life(self):
        signs, lock.SIGN_OF_LIFE = lock.SIGN_OF_LIFE, 0.05
        try:
            with Lock(self.folder) as mine:
                old = time.time() - 1000
                os.utime(mine.path, (old, old))
                until = time.monotonic() + 60
                while mine.path.stat().st_mtime < old + 500 and time.monotonic() < until:
                    time.sleep(0.02)
                self.assertGreater(mine.path.stat().st_mtime, old + 500)
        finally:
            lock.SIGN_OF_LIFE = signs

    def test_who_has_lost_it_may_not_write(self):
        with Lock(self.folder) as mine:
            mine.check()
            mine.path.write_text(json.dumps({"user": "bob", "host": "near", "token": "other"}))
            with self.assertRaisesRegex(LockError, "no longer has.*bob on near"):
                mine.check()
        self.assertEqual(self.left(), ["lock"], "another's lock was removed")
        (self.folder / "lock").unlink()
        with Lock(self.folder) as mine:
            mine.path.unlink()
            with self.assertRaises(LockError):
                mine.check()

    def test_without_hard_links(self):
        link, os.link = os.link, lambda *_: (_ for _ in ()).throw(PermissionError("no links here"))
        try:
            with Lock(self.folder) as mine:
                mine.check()
                with self.assertRaises(LockError):
                    with Lock(self.folder):
                        pass
            self.assertEqual(self.left(), [])
        finally:
            os.link = link

    def test_never_two_at_once(self):
        (self.folder / "number").write_text("0")
        processes = [subprocess.Popen((sys.executable, "-c", COUNT, str(self.folder)), stderr=subprocess.PIPE, text=True) for _ in range(4)]
        for process in processes:
            self.assertEqual(process.communicate()[1], "")
        self.assertEqual((self.folder / "number").read_text(), "80")

    def test_of_many_who_take_over_one_has_it(self):
        for _ in range(20):
            (self.folder / "lock").write_text(json.dumps({"machine": lock._machine(), "pid": 2**22 + 1, "start": "5", "token": "dead"}))
            together, release, held, refused = threading.Barrier(6), threading.Event(), [], []

            def one():
                together.wait()
                try:
                    with Lock(self.folder):
                        held.append(1)
                        release.wait(120)
                except LockError:
                    refused.append(1)

            threads = [threading.Thread(target=one) for _ in range(6)]
            for thread in threads:
                thread.start()
            until = time.monotonic() + 60
            while len(held) + len(refused) < 6 and time.monotonic() < until:
                time.sleep(0.01)
            self.assertEqual((len(held), len(refused)), (1, 5))
            release.set()
            for thread in threads:
                thread.join()
        self.assertEqual(self.left(), [])


if __name__ == "__main__":
    unittest.main()
