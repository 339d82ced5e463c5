"""The notebook runs from its first cell to its last: by nbconvert where Jupyter is installed, else its commands one after another."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "common/commands"), str(ROOT / "common")]
import course_copy  # noqa: E402  (beside the commands)
from course.sampling import in_turn  # noqa: E402

NOTEBOOK = "theory/notebook.ipynb"
SECONDS = 1200  # a machine under load may have to build everything


def cells() -> list[str]:
    """The text of every code cell."""
    notebook = json.loads((ROOT / NOTEBOOK).read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]


def has_jupyter() -> bool:
    """Whether nbconvert can run a Python notebook here."""
    if not shutil.which("jupyter-nbconvert"):
        return False
    return all(subprocess.run(command, capture_output=True).returncode == 0
               for command in (["jupyter-nbconvert", "--version"], [sys.executable, "-c", "import ipykernel, matplotlib"]))


def by_commands(copy: Path) -> str:
    """What the notebook's shell lines print. Files of %%writefile are written; other Python is left out."""
    output = ""
    for text in cells():
        first, _, rest = text.partition("\n")
        if first.startswith("%%writefile "):
            (copy / first.split()[1]).write_text(rest)
            continue
        for line in text.splitlines():
            if line.startswith("!"):
                output += course_copy.run(copy, "bash", "-c", line[1:], timeout=SECONDS).stdout
    return output


def by_nbconvert(copy: Path) -> str:
    """What the cells of the notebook print when Jupyter runs it. Errors: AssertionError with the end of what nbconvert said."""
    done = course_copy.run(copy, "jupyter-nbconvert", "--to", "notebook", "--execute", f"--ExecutePreprocessor.timeout={SECONDS}",
                           "--output", "executed.ipynb", NOTEBOOK, timeout=SECONDS)
    assert done.returncode == 0, done.stdout[-3000:]
    executed = json.loads((copy / "theory/executed.ipynb").read_text(encoding="utf-8"))
    outputs = [output for cell in executed["cells"] for output in cell.get("outputs", [])]
    assert any("image/png" in output.get("data", {}) for output in outputs), "no cell shows the chart"
    return "".join("".join(output.get("text", "")) for output in outputs)


class Notebook(unittest.TestCase):
    def test_form(self):
        notebook = json.loads((ROOT / NOTEBOOK).read_text(encoding="utf-8"))
        self.assertEqual(notebook["nbformat"], 4)
        for cell in notebook["cells"]:
            self.assertIn(cell["cell_type"], ("markdown", "code"))
            if cell["cell_type"] == "code":  # handed out without results
                self.assertEqual((cell["outputs"], cell["execution_count"]), ([], None))
        self.assertTrue(any(text.startswith("%%writefile ") for text in cells()))

    @in_turn(2)
    def test_it_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = course_copy.copy_course(Path(folder), built=True)
            output = by_nbconvert(copy) if has_jupyter() else by_commands(copy)
            self.assertIn("Next: edit labs/lab02_smem/softmax_smem.cu", output)  # the untouched starter
            self.assertIn("move-read-once", output)  # the notebook's kernel is right and reads too often
            self.assertNotIn("command not found", output)
            self.assertTrue((copy / "plots/roofline.png").exists(), output[-3000:])


if __name__ == "__main__":
    unittest.main()
