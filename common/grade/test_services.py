"""Tries the scripts for Gradescope and GitHub as far as a machine without these services can.

Gradescope's folders are made as its specification lays them out, below AUTOGRADER_ROOT. The grader is stood in for by a
Makefile that hands in a made-up record, so that this tests the scripts and nothing else.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))
import sample_records as sample  # noqa: E402

# What `make check` is to do, seen from outside: a record and its reports for each folder in SUBMISSIONS; failing, as points miss.
STAND_IN = """
check:
\t@python3 {stand_in} "$(SUBMISSIONS)" "$(OUT)" "$(LABS)"
"""
STAND_IN_SCRIPT = """
import json, sys
from pathlib import Path
sys.path.insert(0, {grade!r})
import reports, sample_records as sample
for number, folder in enumerate(sorted(Path(sys.argv[1]).iterdir())):
    files = sorted(path.name for path in folder.rglob("*") if path.is_file())
    if "break_the_grader" in files:
        sys.exit("the grader broke")
    item = sample.item("correctness/tree", "fail", 40, 100, "saw " + " ".join(files) + " labs=" + sys.argv[3])
    sample.write(Path(sys.argv[2]), sample.record(f"s{{number}}", folder.name, [sample.lab("lab02_smem", [item], "fail")]))
reports.write_class(sys.argv[2])
sys.exit(1)
"""


def run(*command: str | Path, **variables: str) -> subprocess.CompletedProcess:
    environment = {**os.environ, **variables}
    return subprocess.run([str(c) for c in command], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=120)


class Gradescope(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name) / "autograder"
        course = self.root / "source" / "course"
        course.mkdir(parents=True)
        (self.root / "submission").mkdir()
        (self.root / "results").mkdir()
        (self.root / "submission" / "softmax_smem.cu").write_text("// a kernel\n")
        script = self.root / "stand_in.py"
        script.write_text(STAND_IN_SCRIPT.format(grade=str(HERE)))
        (course / "Makefile").write_text(STAND_IN.format(stand_in=script))

    def autograder(self, **variables: str) -> subprocess.CompletedProcess:
        return run(HERE / "gradescope" / "run_autograder", AUTOGRADER_ROOT=str(self.root), **variables)

    def results(self) -> dict:
        return json.loads((self.root / "results" / "results.json").read_text())

    def test_results_are_handed_over(self) -> None:
        done = self.autograder()
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(self.results()["score"], 40)
        self.assertEqual(self.results()["extra_data"]["student"], "submission")
        self.assertIn("saw softmax_smem.cu", self.results()["tests"][0]["output"])

    def test_names_come_from_the_service(self) -> None:
        users = [{"name": "Ada ../../x\n$(id)", "id": 1}, {"name": "Bo", "id": 2}]
        (self.root / "submission_metadata.json").write_text(json.dumps({"users": users}))
        done = self.autograder(LABS="lab02")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(self.results()["extra_data"]["student"], "Ada ....x$(id), Bo")
        self.assertIn("labs=lab02", self.results()["tests"][0]["output"])

    def test_a_broken_grader_costs_nobody_points(self) -> None:
        (self.root / "submission" / "break_the_grader").touch()
        (self.root / "results" / "results.json").write_text("{\"score\": 100}")  # of an earlier run
        done = self.autograder()
        self.assertEqual(done.returncode, 1)
        self.assertIn("no fault of the submission", done.stdout)
        self.assertFalse((self.root / "results" / "results.json").exists())

    @unittest.skipUnless((ROOT / ".git").exists(), "not a git checkout")
    def test_the_zip_holds_what_gradescope_looks_for(self) -> None:
        file = self.root / "autograder.zip"
        done = run(HERE / "gradescope" / "make_zip.sh", file)
        self.assertEqual(done.returncode, 0, done.stdout)
        with zipfile.ZipFile(file) as archive:
            names = archive.namelist()
            for name in ("setup.sh", "run_autograder", "course/Makefile", "course/solutions/lab02_smem/softmax_smem.cu"):
                self.assertIn(name, names)
            self.assertTrue(archive.getinfo("run_autograder").external_attr >> 16 & 0o111, "is not executable")


class GitHub(unittest.TestCase):
    def setUp(self) -> None:
        try:
            import yaml
        except ImportError:
            self.skipTest("python3-yaml is not installed")
        self.workflow = yaml.safe_load((HERE / "github" / "grade.yml").read_text())

    def test_is_a_workflow(self) -> None:
        triggers = self.workflow.get("on", self.workflow.get(True))  # YAML 1.1 takes `on` for true
        self.assertIn("push", triggers)
        self.assertEqual(self.workflow["permissions"], {"contents": "read"})
        for step in self.workflow["jobs"]["grade"]["steps"]:
            self.assertEqual(sum(key in step for key in ("uses", "run")), 1, step)
            if "uses" in step:
                self.assertRegex(step["uses"], r"^actions/[a-z-]+@v\d+$")
            else:
                checked = run("bash", "-n", "-c", step["run"])
                self.assertEqual(checked.returncode, 0, checked.stdout)

    def test_its_commands_show_the_feedback(self) -> None:
        steps = {step["name"]: step for step in self.workflow["jobs"]["grade"]["steps"]}
        with tempfile.TemporaryDirectory() as folder:
            work = Path(folder)
            (work / "course").mkdir()
            (work / "submissions" / "student").mkdir(parents=True)
            (work / "stand_in.py").write_text(STAND_IN_SCRIPT.format(grade=str(HERE)))
            (work / "course" / "Makefile").write_text(STAND_IN.format(stand_in=work / "stand_in.py"))
            variables = {"GITHUB_WORKSPACE": folder, "GITHUB_STEP_SUMMARY": str(work / "summary.md"), "LABS": ""}
            graded = run("bash", "-e", "-c", f"cd {folder}\n" + steps["Grade"]["run"], **variables)
            self.assertEqual(graded.returncode, 2, graded.stdout)  # make's word for a failed command: points are missing
            shown = run("bash", "-e", "-c", f"cd {folder}\n" + steps["Show the feedback"]["run"], **variables)
            self.assertEqual(shown.returncode, 0, shown.stdout)
            self.assertIn("# Feedback for student", (work / "summary.md").read_text())


if __name__ == "__main__":
    unittest.main()
