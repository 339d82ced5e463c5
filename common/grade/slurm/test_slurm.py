"""A class on a real Slurm of two nodes (cluster.py), with a judge that is made up (stand_in.py): what is graded, where, how often, and what
becomes of it when a node, a task, the command or the scheduler goes away."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import unittest
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import judge  # noqa: E402
import sandbox  # noqa: E402
import store  # noqa: E402
from course.sampling import left_to_rest  # noqa: E402
from slurm.cluster import NODES, Cluster, why_not  # noqa: E402

LABS = judge.labs_of(HERE.parents[2])
WHY_NOT = why_not()


@unittest.skipIf(WHY_NOT, WHY_NOT)
class OnSlurm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = cls.enterClassContext(Cluster())

    def setUp(self):
        self.folder = self.cluster.folder / self.id().rsplit(".", 1)[1]
        for name in ("in", "do", "unfit"):
            (self.folder / name).mkdir(parents=True)
        self.own(self.folder, *self.folder.iterdir())
        self.addCleanup(self.let_go)
        self.commands = 0

    def own(self, *paths: Path) -> None:
        if self.cluster.prefix:
            for path in paths:
                shutil.chown(path, self.cluster.user)

    def hand_in(self, **points: int) -> None:
        for student, number in points.items():
            place = self.folder / "in" / student
            place.mkdir(exist_ok=True)
            (place / LABS["lab01_naive"]).write_text(f"// {number}\n")

    def class_of(self, number: int) -> None:
        self.hand_in(**{f"s{i:02d}": 100 if i % 3 else 10 + i for i in range(number)})

    def when_graded(self, student: str, what: str) -> None:
        (self.folder / "do" / student).write_text(what)

    def let_go(self, but: str = "") -> None:
        for path in (self.folder / "do").iterdir():
            if path.name != but:
                path.unlink()

    def begin(self, **options: object) -> subprocess.Popen:
        self.commands += 1
        given = {"ON": "slurm", "PER_TASK": 3, "MEM": "200", **options}
        command = self.cluster.begin([sys.executable, str(HERE / "stand_in.py"), "check", str(self.folder),
                                      *(f"{name}={value}" for name, value in given.items())], self.folder / f"said{self.commands}")
        self.addCleanup(command.wait)
        self.addCleanup(command.kill)
        return command

    def said(self, number: int = 0) -> str:
        return (self.folder / f"said{number or self.commands}").read_text()

    def check(self, status: int = 1, **options: object) -> str:
        self.assertEqual(self.begin(**options).wait(300), status, self.said())
        return self.said()

    def on_one_machine(self) -> None:
        """Into a folder of its own, from the same submissions."""
        other = self.folder / "one"
        other.mkdir()
        for name in ("in", "do"):
            (other / name).symlink_to(self.folder / name)
        self.own(other)
        done = subprocess.run([*self.cluster.prefix, sys.executable, str(HERE / "stand_in.py"), "check", str(other)], env=self.cluster.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
        self.assertIn("next:", done.stdout)

    def same_as_on_one_machine(self) -> None:
        self.on_one_machine()
        for name in ("gradebook.csv", "gradebook.xlsx", "import/grades.csv"):
            self.assertEqual((self.folder / "one/out" / name).read_bytes(), (self.folder / "out" / name).read_bytes(), name)

    def graded(self) -> list[list[str]]:
        path = self.folder / "graded"
        return [line.split() for line in path.read_text().splitlines()] if path.exists() else []

    def times(self) -> Counter:
        return Counter(student for student, _, _ in self.graded())

    def wait_for(self, is_so, otherwise: str) -> None:
        self.cluster.wait(is_so, f"{otherwise}; the command said:\n{self.said()}")

    def events(self) -> str:
        return "".join(path.read_text() for path in (self.folder / "out/slurm").glob("*/*.events"))

    def wait_until_begun(self, *students: str) -> None:
        self.wait_for(lambda: all(f'"began", "id": "{student}"' in self.events() for student in students), f"{students} are not begun")

    def node_of(self, student: str) -> str:
        for path in (self.folder / "out/slurm").glob("*/*.events"):
            text = path.read_text()
            if f'"began", "id": "{student}"' in text:
                return next(node for node in NODES if f'"node": "{node}"' in text)
        raise AssertionError(f"{student} is not begun")

    def rows(self) -> dict[str, list[str]]:
        lines = (self.folder / "out/gradebook.csv").read_text("utf-8-sig").splitlines()[1:]
        return {cells[1]: cells for cells in (line.strip('"').split('","') for line in lines)}

    def jobs(self) -> list[str]:
        return self.cluster.says("squeue", "-h", "-o", "%j").split()

    def assert_each_graded_once(self, number: int) -> None:
        self.assertEqual(self.times(), Counter({f"s{i:02d}": 1 for i in range(number)}))

    # ---- A class ---------------------------------------------------------------------------------------

    def test_a_class_and_what_is_missing_of_it(self):
        self.class_of(10)
        said = self.check()
        self.assertRegex(said, r"grading 10 submissions on Slurm, up to 3 a task, 1 at a time in each")
        self.assertRegex(said, r"job \d+: 10 submissions, 4 tasks of up to 3")
        self.assertRegex(said, r"(?m)^   [1-9]/10 .* \d running, \S+ s left$")
        self.assert_each_graded_once(10)
        self.assertEqual(len({task for _, task, _ in self.graded()}), 4)
        self.assertFalse((self.folder / "out/slurm").exists())
        self.same_as_on_one_machine()
        self.assertIn("10 were graded before", again := self.check())
        self.assertNotIn("job ", again)
        self.hand_in(s03=55, s10=60)
        self.assertRegex(said := self.check(), r"job \d+: 2 submissions, 1 task of up to 2")
        self.assertIn("changed: s03: 13 points before, 55 now (lab01_naive: another file)", said)
        self.assertEqual(self.times(), Counter({f"s{i:02d}": 2 if i == 3 else 1 for i in range(11)}))

    def test_a_task_that_dies_and_one_that_needs_too_much_memory(self):
        """The others of the task are graded, once; who was at work is graded alone, and then marked."""
        self.class_of(6)
        self.when_graded("s01", "die")
        self.when_graded("s04", "eat")
        said = self.check()
        self.assertEqual(self.times(), Counter({f"s{i:02d}": 1 for i in (0, 2, 3, 5)}))
        self.assertRegex(said, r"job \d+: \d submissions?, each in a task of its own")
        rows = self.rows()
        for student in ("s01", "s04"):
            self.assertEqual(rows[student][2], "needs a person")
            self.assertIn("a task with nothing else to do died", rows[student][-1])
        self.assertRegex(said, r"[12] failed")
        self.let_go()
        self.check()
        self.assert_each_graded_once(6)
        self.same_as_on_one_machine()

    # Slurm looks at the ends of its tasks every 30 s: make test-rest has the time.
    @left_to_rest
    def test_a_task_that_is_killed_by_its_time_limit(self):
        """As one that dies. The shortest limit is a minute; a running task's end can be moved, and is Slurm's to enforce."""
        self.class_of(3)
        self.when_graded("s01", "wait")
        command = self.begin(PER_TASK=3, TIME="10")
        running = lambda: self.cluster.says("squeue", "-h", "-r", "-t", "RUNNING", "-o", "%A").split()
        for killed in range(2):
            self.wait_for(lambda: self.events().count('"began", "id": "s01"') == killed + 1 and len(running()) == 1, "s01 is not at work alone")
            task = running()[0]
            self.wait_for(lambda: not self.cluster.says("scontrol", "update", f"JobId={task}", "EndTime=now+5"), "its end is not moved")
            self.wait_for(lambda: "JobState=TIMEOUT" in self.cluster.says("scontrol", "show", "job", task), "its time does not end")
        self.assertEqual(command.wait(300), 1, self.said())
        self.assertRegex(self.said(), r"job \d+: 1 submission, each in a task of its own")
        self.assertEqual(self.times(), Counter(s00=1, s02=1))
        row = self.rows()["s01"]
        self.assertEqual(row[2], "needs a person")
        self.assertIn("a task with nothing else to do was ended when its time was over; TIME= gives more (TIMEOUT", row[-1])
        self.let_go()
        self.check()
        self.assert_each_graded_once(3)

    def test_a_node_that_is_lost(self):
        """It stands still, Slurm gives it up, others grade what it had; then it goes on, and writes nothing."""
        self.class_of(6)
        for i in range(6):
            self.when_graded(f"s{i:02d}", "wait")
        command = self.begin(PER_TASK=1)
        self.wait_until_begun(*(f"s{i:02d}" for i in range(6)))
        lost = [f"s{i:02d}" for i in range(6) if self.node_of(f"s{i:02d}") == self.node_of("s00")]
        node = self.node_of("s00")
        self.assertLess(len(lost), 6)
        self.cluster.stop(node, signal.SIGKILL)
        self.addCleanup(self.bring_back, node)
        standing = [pid for pid in sandbox.descendants(os.getpid()) if f"SLURMD_NODENAME={node}".encode() in environment_of(pid)]
        for pid in standing:
            os.kill(pid, signal.SIGSTOP)
        self.cluster.says("scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=test")
        self.wait_for(lambda: self.said().count("job ") > 1, "the lost are not submitted again")
        last = next(student for student in (f"s{i:02d}" for i in range(6)) if student not in lost)
        self.let_go(but=last)
        place = store.Store(self.folder / "out")
        self.wait_for(lambda: len(place.ids()) == 5, "the lost are not graded")
        records = {student: place.read(student) for student in lost}
        for pid in standing:
            os.kill(pid, signal.SIGCONT)
        self.wait_for(lambda: self.events().count("not wanted") == len(lost), "the lost do not find out")
        self.let_go()
        self.assertEqual(command.wait(300), 1, self.said())
        self.assertEqual(self.times(), Counter({f"s{i:02d}": 2 if f"s{i:02d}" in lost else 1 for i in range(6)}))
        self.assertEqual(records, {student: place.read(student) for student in lost})
        self.same_as_on_one_machine()

    def bring_back(self, node: str) -> None:
        self.cluster.start(node)
        self.cluster.says("scontrol", "update", f"NodeName={node}", "State=RESUME")
        self.cluster.wait_for_nodes()

    # ---- The command -----------------------------------------------------------------------------------

    def test_the_login_node_goes_away(self):
        """The tasks go on. A second command is refused as long as the first lives, and goes on with the tasks when it does not."""
        self.class_of(6)
        self.when_graded("s01", "wait")
        first = self.begin()
        self.wait_for(lambda: len(self.graded()) == 4 and self.events().count("ended") == 1, "the others are not graded")
        self.assertIn("is being graded into by", self.check(2))
        first.kill()
        first.wait()
        self.assertRegex(self.check(2, ON=""), r"1 task of Slurm job \d+ still grades into .*ON=slurm goes on with them; `scancel \d+` ends them")
        second = self.begin()
        self.wait_for(lambda: "goes on with them" in self.said(), "the second does not go on")
        self.let_go()
        self.assertEqual(second.wait(300), 1, self.said())
        self.assertNotIn("job ", self.said())
        self.assert_each_graded_once(6)
        self.same_as_on_one_machine()

    def test_interrupted(self):
        """SIGTERM leaves the tasks at work; Ctrl-C ends them, and what they were at is no grade."""
        self.class_of(4)
        self.when_graded("s01", "wait")
        for number, words in ((signal.SIGTERM, "the tasks go on"), (signal.SIGINT, "the tasks are cancelled")):
            command = self.begin()
            self.wait_until_begun("s01")
            self.wait_for(lambda: store.Store(self.folder / "out").ids() == ["s00", "s03"], "the others are not graded")
            self.wait_for(lambda: "job " in self.said() or "goes on with them" in self.said(), "the command does not begin")
            command.send_signal(number)
            self.assertEqual(command.wait(300), 130, self.said())
            self.assertIn(words, self.said())
        self.wait_for(lambda: not self.jobs(), "the tasks are not ended")
        self.let_go()
        self.assertEqual(self.times()["s01"], 0)
        self.check(ON="")  # and this machine is not refused
        self.assert_each_graded_once(4)

    def test_another_state_of_the_submissions_while_they_are_graded(self):
        self.class_of(3)
        self.when_graded("s01", "wait")
        command = self.begin()
        taken = self.folder / "taken"
        self.wait_for(lambda: taken.exists() and "s01\n" in taken.read_text(), "s01 is not begun")
        self.hand_in(s01=77)
        self.let_go()
        self.assertEqual(command.wait(300), 1, self.said())
        self.assertEqual(self.rows()["s01"][3], "77")
        self.assertEqual(self.times(), Counter(s00=1, s01=2, s02=1))

    # ---- Nodes and scheduler -----------------------------------------------------------------------------

    def test_a_node_whose_sandbox_does_not_hold(self):
        self.class_of(6)
        (self.folder / "unfit/n1").write_text("ESCAPED network")
        said = self.check(PER_TASK=1)
        self.assertIn("note: node n1 grades nothing: make check-doctor fails there: ESCAPED network", said)
        self.assertEqual({node for _, _, node in self.graded()}, {"n2"})
        self.assert_each_graded_once(6)
        (self.folder / "unfit/n2").write_text("ESCAPED memory")
        self.hand_in(s00=99)
        self.assertRegex(self.check(2, PER_TASK=1), r"error: no node can grade. n1, n2: .*ESCAPED memory")
        self.assert_each_graded_once(6)
        self.assertEqual(self.jobs(), [])

    def test_a_node_that_does_not_see_the_files(self):
        if not sandbox.works(["bwrap", "--dev-bind", "/", "/", "true"]) == "":
            self.skipTest("bubblewrap does not work here")
        self.class_of(2)
        for node in NODES:
            self.cluster.stop(node)
            self.cluster.start(node, ["bwrap", "--dev-bind", "/", "/", "--tmpfs", str(self.folder)])
        try:
            self.cluster.wait_for_nodes()
            said = self.check(2, PER_TASK=1)
            self.assertRegex(said, r"error: no node can grade. n1, n2: its task ended \(FAILED, exit status 3 on n\d.* file system that all nodes share")
            self.assertEqual(self.graded(), [])
        finally:
            for node in NODES:
                self.cluster.stop(node)
                self.cluster.start(node)
            self.cluster.wait_for_nodes()

    def test_a_scheduler_that_refuses(self):
        self.class_of(2)
        self.assertRegex(self.check(2, PARTITION="nowhere"), r"error: Slurm refuses the tasks: sbatch: .*(?i:invalid partition)")
        self.assertRegex(self.check(2, JOBS=100), r"error: Slurm (accepts the tasks but will not begin them: PartitionConfig|refuses the tasks)")
        self.assertRegex(self.check(2, TIME="soon"), r"error: Slurm refuses the tasks: sbatch: .*(?i:time)")
        self.assertEqual((self.graded(), self.jobs()), ([], []))
        self.check()
        self.assert_each_graded_once(2)

    def test_a_scheduler_that_goes_away_and_comes_back(self):
        self.class_of(4)
        self.when_graded("s00", "wait")
        command = self.begin()
        self.wait_until_begun("s00", "s03")
        self.cluster.stop("slurmctld")
        self.let_go()
        self.wait_for(lambda: len(self.graded()) == 4, "the tasks do not go on")
        self.cluster.start("slurmctld")
        self.assertEqual(command.wait(300), 1, self.said())
        self.assert_each_graded_once(4)
        self.same_as_on_one_machine()


def environment_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


if __name__ == "__main__":
    unittest.main()
