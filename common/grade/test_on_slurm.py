"""What grading on Slurm does that needs no Slurm: the words of its commands, limits, and who is let into OUT. (slurm/test_slurm.py has the rest.)"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import progress  # noqa: E402
from slurm import board, controller, scheduler, task  # noqa: E402
from slurm.board import Board, NotWanted, Voice  # noqa: E402
from slurm.scheduler import Job, NoAnswer, Refused, Slurm, options_from  # noqa: E402


def row(name: str, index: str, state: str, code: int | str = 0, nodes: str = "", reason: str = "None") -> str:
    cells = ((name, 80), ("7", 20), (index, 20), (state, 20), (reason, 60), (nodes, 120), (str(code), 20))
    return "".join(text.ljust(width) for text, width in cells) + "\n"


def says(text: str, status: int = 0, error: str = ""):
    return mock.patch.object(scheduler.subprocess, "run", lambda *_, **__: subprocess.CompletedProcess((), status, text, error))


class Commands(unittest.TestCase):
    def test_the_queue(self):
        text = (row("ladder-ab-w1", "0", "RUNNING", nodes="n1") + row("ladder-ab-w1", "1", "TIMEOUT", 9, "n2") + row("ladder-cd-w1", "0", "RUNNING") +
                row("other", "N/A", "RUNNING") + row("ladder-ab-w1", "2", "COMPLETED") + row("ladder-ab-w1", "2", "PENDING", reason="Priority"))
        with says(text):
            jobs = Slurm().jobs("ab")
        self.assertEqual(sorted(jobs), ["w1-0", "w1-1", "w1-2"])
        self.assertEqual((jobs["w1-0"].lives, jobs["w1-2"].lives, jobs["w1-1"].lives), (True, True, False))
        self.assertEqual((jobs["w1-1"].cause, jobs["w1-1"].words()), ("time", "TIMEOUT, signal 9 on n2"))

    def test_the_exit_status_of_every_version(self):
        for code, words in ((3 << 8, "FAILED, exit status 3"), ("3:0", "FAILED, exit status 3"), (9, "FAILED, signal 9"), ("0:9", "FAILED, signal 9"), ("0:0", "FAILED"),
                            ("", "FAILED"), ("3:", "FAILED"), ("N/A", "FAILED")):
            with self.subTest(code), says(row("ladder-ab-w1", "0", "FAILED", code)):
                self.assertEqual(Slurm().jobs("ab")["w1-0"].words(), words)

    def test_causes(self):
        causes = {"NODE_FAIL": "node", "PREEMPTED": "node", "BOOT_FAIL": "node", "TIMEOUT": "time", "DEADLINE": "time", "OUT_OF_MEMORY": "memory",
                  "FAILED": "killed", "COMPLETED": "killed", "CANCELLED": "cancelled"}
        self.assertEqual({state: Job("1", state).cause for state in causes}, causes)
        self.assertFalse(any(Job("1", state).lives for state in causes))

    def test_refused_or_not_answered(self):
        for text, kind in (("sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified", Refused),
                           ("sbatch: error: QOSMaxSubmitJobPerUserLimit\nsbatch: error: Batch job submission failed: Job violates QOS policy", Refused),
                           ("sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)", NoAnswer),
                           ("sbatch: error: Batch job submission failed: Socket timed out on send/recv operation", NoAnswer)):
            with says("", 1, text), self.assertRaises(kind) as caught:
                Slurm().submit("n", 1, "", [])
            self.assertNotIn("error:", str(caught.exception))
        with says("17;cluster\n"):
            self.assertEqual(Slurm().submit("n", 1, "", []), "17")
        with says("", 1, "slurm_load_jobs error: Unable to contact slurm controller"), self.assertRaises(NoAnswer):
            Slurm().jobs("ab")

    def test_options(self):
        def given(**variables: str) -> str:
            return " ".join(options_from(variables, 2, 3072).arguments())

        with mock.patch.dict(os.environ, {}, clear=True):
            self.assertIn("--cpus-per-task=2", given())
            self.assertIn("--mem=7168M", given())
            self.assertNotIn("--time", given())
            self.assertNotIn("--exclusive", given())
            for option in ("--partition=p", "--account=a", "--qos=q", "--time=1:00:00", "--mem=9G"):
                self.assertIn(option, given(PARTITION="p", ACCOUNT="a", QOS="q", TIME="1:00:00", MEM="9G"))
            self.assertRegex(given(GPUS="1"), r"--mem=0 --gres=gpu:1 --exclusive")
            self.assertNotIn("--exclusive", given(GPUS="1", EXCLUSIVE="0"))
            for name, text in (("PER_TASK", "51"), ("PER_TASK", "0"), ("GPUS", "x"), ("EXCLUSIVE", "yes")):
                with self.assertRaisesRegex(ValueError, f"{name}={text}: it can be "):
                    given(**{name: text})
        with mock.patch.dict(os.environ, {"SBATCH_MEM_PER_NODE": "5G"}, clear=True):
            self.assertNotIn("--mem", given())

    def test_a_machine_without_slurm(self):
        on = controller.OnSlurm(Slurm(), Path("in"), Path("points"))
        with mock.patch.object(controller.shutil, "which", lambda _: None), self.assertRaisesRegex(controller.ClassError, "sbatch is not installed here"):
            on.box(None)

    def test_tasks_are_told_none_of_the_command_s_options(self):
        with mock.patch.dict(os.environ, {"KNOWN_OPTIONS": "LABS TIME", "LABS": "lab01", "TIME": "5", "MAKEFLAGS": "x", "SBATCH_QOS": "q"}, clear=True):
            self.assertEqual(scheduler._environment(), {"SBATCH_QOS": "q"})


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = Path(folder.name)
        self.board = Board.new(self.out, {"jobs": ["7"]})

    def test_no_task_begins_twice(self):
        self.board.add("w1-0", ["ann"], False)
        Voice(self.board, "w1-0").end()
        with self.assertRaises(FileExistsError):
            Voice(self.board, "w1-0")

    def test_who_is_not_wanted_may_not_write(self):
        for name, ends in (("w1-0", lambda: self.board.give_up("w1-0", cause="node")), ("w1-1", self.board.end)):
            voice = Voice(self.board, name)
            voice.check()
            ends()
            with self.assertRaises(NotWanted):
                voice.check()
            voice.end()

    def test_what_a_task_says(self):
        self.board.add("w1-0", ["ann", "bob", "cy"], False)
        self.assertFalse(self.board.tasks()[0].begun)
        voice = Voice(self.board, "w1-0", 0.02)
        voice.say("started", node="n1")
        for student in ("ann", "bob"):
            voice.say("began", id=student)
        voice.say("graded", id="ann")
        with voice.path.open("a") as file:
            file.write('{"event": "graded", "id": "bo')  # still being written
        told = self.board.tasks()[0]
        self.assertEqual((told.node, told.unfinished, list(told.finished), told.ended), ("n1", ["bob"], ["ann"], None))
        old = time.time() - 1000
        os.utime(voice.path, (old, old))
        until = time.monotonic() + 60
        while self.board.tasks()[0].age > 500 and time.monotonic() < until:
            time.sleep(0.02)
        self.assertLess(self.board.tasks()[0].age, 500)
        voice.end()

    def test_this_machine_is_refused_beside_living_tasks(self):
        self.board.add("w1-0", ["ann"], False)
        voice = Voice(self.board, "w1-0")
        with self.assertRaisesRegex(RuntimeError, "1 task of Slurm job 7 still grades into"):
            board.refuse_beside_tasks(self.out, RuntimeError)
        voice.check()  # and nothing has become of the task
        old = time.time() - board.SILENT - 5
        os.utime(voice.path, (old, old))
        board.refuse_beside_tasks(self.out, RuntimeError)
        with self.assertRaises(NotWanted):
            voice.check()
        voice.end()
        board.refuse_beside_tasks(self.out, RuntimeError)

    def test_files_that_took_too_long_are_remembered(self):
        run = controller.SlurmRun.__new__(controller.SlurmRun)
        run.board, run.store = self.board, controller.store.Store(self.out)
        for name, known in (("w1-0", {"a": 1, "b": 2}), ("w1-1", {"a": 1, "c": 3})):
            (self.board.folder / f"{name}.timed_out").write_text(json.dumps(known))
            run.remember_timed_out(board.Task(name, [], False))
        self.assertEqual(json.loads((self.out / "timed_out.json").read_text()), {"a": 1, "b": 2, "c": 3})


class Memory(unittest.TestCase):
    def test_what_the_kernel_has_killed(self):
        """By the limits of a task, its step and its job, in both kinds of control groups."""
        with tempfile.TemporaryDirectory() as name:
            top = Path(name)
            for kind, group, file, text in (("0::", "job_1/step_0", "memory.events", "low 0\noom 3\noom_kill 2\noom_group_kill 0\n"),
                                            ("4:memory:", "memory/job_1/step_0", "memory.oom_control", "oom_kill_disable 0\noom_kill 2\n")):
                place = top / "sys" / group
                place.mkdir(parents=True)
                (place / file).write_text(text)
                (place.parent / file).write_text(text.replace("2\n", "1\n"))
                (top / "cgroup").write_text(f"9:cpu:/else\n{kind}/job_1/step_0\n")
                self.assertEqual(task.kills_for_memory(top / "cgroup", top / "sys"), 3, kind)
            self.assertEqual(task.kills_for_memory(top / "none", top / "sys"), 0)

    def test_a_grade_of_that_moment_is_none(self):
        box, voice, killed = mock.Mock(), mock.Mock(), [0, 0, 1]
        fence = task.Fence(voice, box, lambda: killed.pop(0))
        with mock.patch.object(task, "SETTLE", 0.0):
            fence.check()
            voice.check.assert_called_once()
            with self.assertRaises(task.KilledForMemory):
                fence.check()
        voice.check.assert_called_once()


class Line(unittest.TestCase):
    def test_done_running_failed_and_time_left(self):
        class Terminal(io.StringIO):
            def isatty(self) -> bool:
                return True

        shown = progress.Progress(10, Terminal())
        for name in ("ann", "bob", "cy"):
            shown.begins(name)
        shown.ends("ann", "pass")
        shown.ends("bob", "could not be graded", failed=True)
        shown.where = "in 2 tasks on 1 node, 3 tasks in the queue (Priority)"
        shown.begins("dan")
        self.assertRegex(shown.stream.getvalue().split("\r\033[K")[-1],
                         r"^2 of 10 done, 2 running, 1 failed, \S+ s left \(in 2 tasks on 1 node, 3 tasks in the queue \(Priority\)\)$")
        shown.stops("dan")
        self.assertRegex(shown.stream.getvalue().split("\r\033[K")[-1], "^2 of 10 done, 1 running")
        shown.close()


if __name__ == "__main__":
    unittest.main()
