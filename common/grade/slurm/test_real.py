"""Real submissions, by `make check`'s own command: on Slurm they get the gradebook, byte for byte, that they get on one machine. The doctor,
the sandbox and the judge are the real ones; there are one lab and two submissions."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

HERE = Path(__file__).resolve().parent
COURSE = HERE.parents[2]
sys.path.insert(0, str(HERE.parent))
import judge  # noqa: E402
import points  # noqa: E402
import sandbox  # noqa: E402
import store  # noqa: E402
from slurm import cluster as clusters  # noqa: E402
from slurm.cluster import Cluster, why_not  # noqa: E402

LAB = "lab01_naive"
WHY_NOT = why_not()


def build() -> None:
    """What check.sh builds for a class; and what there is to grade, which is kept below build/."""
    kernel = judge.labs_of(COURSE)
    targets = ["build/cpu/worker", "build/cpu/backend", "build/grade/escapes",
               *(target for lab in kernel for target in (f"build/cpu/tests/{lab}", f"build/cpu/checked/solutions/{lab}/{Path(kernel[lab]).stem}.so"))]
    subprocess.run(["make", "-s", "-f", "common/build/rules.mk", *targets], cwd=COURSE, check=True)
    the_judge = judge.Judge(COURSE, points.load(HERE.parent / "points.toml", list(kernel)), sandbox.find(), os.urandom(32), 1, LAB)
    try:
        the_judge.prepare()
    finally:
        the_judge.close()


@unittest.skipIf(WHY_NOT, WHY_NOT)
class Real(unittest.TestCase):
    def test_the_gradebook_is_that_of_one_machine(self):
        build()
        with Cluster() as cluster:
            folder = cluster.folder / "class"
            kernel = judge.labs_of(COURSE)[LAB]
            good = (COURSE / "solutions" / LAB / kernel).read_text()
            for student, text in (("ann", good), ("bob", (COURSE / "labs" / LAB / kernel).read_text())):
                (folder / "in" / student).mkdir(parents=True)
                (folder / "in" / student / kernel).write_text(text)
            secret = os.urandom(32).hex()
            for out in ("one", "slurm"):
                (folder / out).mkdir()
                (folder / out / "secret").write_text(secret)
                if cluster.prefix:
                    for path in (folder / out, folder / out / "secret"):
                        shutil.chown(path, cluster.user)
            for out, options in (("one", {"JOBS": "1"}), ("slurm", {"ON": "slurm", "PER_TASK": "1", "JOBS": "1"})):
                command = cluster.begin([str(COURSE / "common/commands/check.sh")], folder.parent / f"said-{out}", PREBUILT="1", BACKEND="cpu", LABS=LAB,
                                        SUBMISSIONS=str(folder / "in"), OUT=str(folder / out), **options)
                self.assertEqual(command.wait(600), 1, (folder.parent / f"said-{out}").read_text())
            said = (folder.parent / "said-slurm").read_text()
            self.assertRegex(said, r"job \d+: 2 submissions, 2 tasks of up to 1")
            verdicts = {grade["id"]: grade["verdict"] for grade in map(store.Store(folder / "slurm").read, ("ann", "bob"))}
            self.assertEqual(verdicts, {"ann": "pass", "bob": "fail"}, said)
            for path in ("gradebook.csv", "gradebook.xlsx", "import/grades.csv"):
                self.assertEqual((folder / "one" / path).read_bytes(), (folder / "slurm" / path).read_bytes(), path)
            self.assertFalse((folder / "slurm/slurm").exists())

    def test_nothing_is_left_of_a_cluster(self):
        mine = set(sandbox.descendants(os.getpid()))
        with Cluster() as cluster:
            cluster.says("sbatch", "--output=/dev/null", "--array=0-1", "--wrap=sleep 600")
            cluster.wait(lambda: cluster.says("squeue", "-h", "-r", "-o", "%T").split() == ["RUNNING"] * 2, "the tasks do not begin")
            ports = [int(port) for port in re.findall(r"(?m)(?:^SlurmctldPort=| Port=)(\d+)", (cluster.folder / "slurm.conf").read_text())]
            self.assertTrue(all(is_open(port) for port in ports), ports)
            self.assertGreater(set(sandbox.descendants(os.getpid())), mine)
        self.assertEqual(set(sandbox.descendants(os.getpid())) - mine, set())
        self.assertFalse(any(is_open(port) for port in ports), ports)
        self.assertFalse(cluster.folder.exists())

    def test_nothing_is_left_of_tests_that_are_killed(self):
        script = "from slurm.cluster import Cluster\nwith Cluster() as one:\n one.says('sbatch', '--output=/dev/null', '--wrap=sleep 600')\n" \
                 " one.wait(lambda: 'RUNNING' in one.says('squeue', '-h', '-o', '%T'), 'the task does not begin')\n print(one.folder, flush=True)\n input()"
        killed = subprocess.Popen((sys.executable, "-c", script), env={**os.environ, "PYTHONPATH": str(HERE.parent)}, stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True)
        sandbox.adopt_orphans()
        folder = killed.stdout.readline().strip()
        self.assertTrue(folder and Path(folder).is_dir(), "the cluster did not come up, see above")
        killed.kill()
        killed.communicate()
        until = time.monotonic() + 120
        while (Path(folder).exists() or processes_of(folder)) and time.monotonic() < until:
            reap()
            time.sleep(0.1)
        reap()
        self.assertEqual((Path(folder).exists(), processes_of(folder)), (False, []))


@unittest.skipIf(WHY_NOT, WHY_NOT)
class NoCluster(unittest.TestCase):
    """Where none can be started, that is known at once, and why."""

    def test_a_daemon_that_ends_is_noticed(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder).chmod(0o755)
            fails = Path(folder) / "slurmd"
            fails.write_text("#!/bin/sh\necho 'error: slurmd initialization failed'\nexit 3\n")
            fails.chmod(0o755)
            real, begun = clusters.program, time.monotonic()
            with mock.patch.object(clusters, "program", lambda name: str(fails) if name == "slurmd" else real(name)):
                with self.assertRaisesRegex(clusters.Ended, r"(?s)the nodes do not come up: .*n1 has ended \(status 3\).*slurmd initialization failed"):
                    with Cluster():
                        self.fail("it has come up")
            self.assertLess(time.monotonic() - begun, 60, "it was waited for")

    def test_a_null_that_the_cluster_s_user_cannot_write(self):
        nobody = ("nobody", ["setpriv", "--reuid", "nobody", "--clear-groups", "--"])
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(clusters, "ordinary_user", lambda: nobody if os.geteuid() == 0 else ("me", [])):
            Path(folder).chmod(0o755)
            null = Path(folder) / "null"
            null.touch(0o444)
            self.assertRegex(why_not(str(null)), f"the cluster's user, (nobody|me), cannot open {null} for reading and writing, .*Permission denied")


def reap() -> None:
    """Adopted processes that have ended are this one's to bury."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def processes_of(folder: str) -> list[int]:
    """Those of a cluster that live, found by their environment."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if f"SLURM_CONF={folder}/".encode() in (path / "environ").read_bytes() and sandbox.state_of(int(path.name))[0] not in ("Z", ""):
                found.append(int(path.name))
        except OSError:
            pass
    return found


def is_open(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


if __name__ == "__main__":
    unittest.main()
