#!/usr/bin/env python3
"""The Dockerfile's steps without a container engine: all of them, in their order, and the command as the image's user."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import image

ROOT = Path(__file__).resolve().parents[2]


class Image(unittest.TestCase):
    def run_script(self, dockerfile, *command):
        """In a folder of its own, with stand-ins for what only root can do."""
        with tempfile.TemporaryDirectory() as folder:
            here = Path(folder)
            (here / "context").mkdir()
            (here / "context/a.sh").write_text("from the context\n")
            (here / "getent").write_text("#!/bin/sh\necho student:x:1000:1000::/home/student:/bin/bash\n")
            (here / "setpriv").write_text('#!/bin/sh\necho "as $1 $2 HOME=$HOME"\nshift 3\nexec "$@"\n')
            for tool in ("getent", "setpriv"):
                (here / tool).chmod(0o755)
            script = image.script(dockerfile).replace("/context", f"{here}/context").replace("/to", f"{here}/to")
            done = subprocess.run(["bash", "-c", script, "image.sh", *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                                  env={"PATH": f"{here}:{os.environ['PATH']}", "HOME": "/root"})
            return done.returncode, done.stdout

    def test_steps_in_their_order_and_the_command_as_the_user(self):
        status, output = self.run_script("# a comment\nARG SYSTEM=debian:12\nFROM ${SYSTEM}\nCOPY a.sh /to/\nRUN cat /to/a.sh \\\n    && echo one\n\n"
                                         "USER 1000\nENV GREETING=hello\nRUN echo two\nCMD [\"bash\"]\n", "sh", "-c", "echo $GREETING $0", "three")
        user = "as --reuid=1000 --regid=1000 HOME=/home/student"
        self.assertEqual((status, output.splitlines()), (0, ["from the context", "one", user, "two", user, "hello three"]))

    def test_a_step_that_fails_ends_it(self):
        status, output = self.run_script("FROM x\nRUN echo one && false\nRUN echo two\n", "echo", "three")
        self.assertEqual((status != 0, output), (True, "one\n"))

    def test_what_is_not_known_is_refused(self):
        for line in ("ADD a /to/", "COPY --from=other a /to/", "COPY a /to/b", "ENTRYPOINT [\"bash\"]"):
            with self.assertRaises(ValueError, msg=line):
                image.script(f"FROM x\n{line}\n")

    def test_the_course_s_own(self):
        script = image.script((ROOT / "Dockerfile").read_text())
        self.assertEqual(subprocess.run(["bash", "-n"], input=script, text=True, check=False).returncode, 0)
        for step in ("setup.sh --docs", "useradd", "--reuid=1000", "cd /course"):
            self.assertIn(step, script)


if __name__ == "__main__":
    unittest.main()
