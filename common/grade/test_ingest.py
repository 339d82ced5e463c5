"""What is taken from a submission, and what is not: layouts, archives, links, bombs, names."""

from __future__ import annotations

import io
import os
import stat
import sys
import tarfile
import tempfile
import unittest
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import escape  # noqa: E402
import ingest  # noqa: E402

LIMITS = {"files": 100, "source_kib": 16, "archive_mib": 1}
LABS = {"lab01_naive": "softmax_naive.cu", "lab02_smem": "softmax_smem.cu"}
SMEM, NAIVE = b"// smem\r\n", b"// naive\n"


class Ingest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def folder(self, files: dict[str, bytes]) -> Path:
        place = self.root / "student"
        for name, text in files.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_bytes(text)
        return place

    def zip(self, files: dict[str, bytes]) -> Path:
        with zipfile.ZipFile(self.root / "student.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in files.items():
                archive.writestr(name, text)
        return self.root / "student.zip"

    def tar(self, members: list[tuple[tarfile.TarInfo, bytes]], ending: str = ".tar.gz") -> Path:
        path = self.root / f"student{ending}"
        with tarfile.open(path, "w:gz" if ending != ".tar" else "w") as archive:
            for info, text in members:
                info.size = len(text)
                archive.addfile(info, io.BytesIO(text))
        return path

    def taken(self, path: Path) -> dict[str, ingest.Taken]:
        submission = ingest.Submission("student", "student", path)
        ingest.take(submission, LABS, LIMITS)
        return submission.labs

    def test_layouts(self):
        layouts = ["labs/lab02_smem/softmax_smem.cu", "lab02_smem/softmax_smem.cu", "softmax_smem.cu", "course-main/labs/lab02_smem/softmax_smem.cu",
                   "my answers/softmax_smem.cu"]
        for number, name in enumerate(layouts):
            with self.subTest(name):
                self.root = Path(tempfile.mkdtemp(dir=self.root))
                files = {name: SMEM, "README.md": b"hello"}
                for path in (self.folder(files), self.zip(files), self.tar([(tarfile.TarInfo(n), t) for n, t in files.items()]),
                             self.tar([(tarfile.TarInfo(n), t) for n, t in files.items()], ".tar")):
                    labs = self.taken(path)
                    self.assertEqual(labs["lab02_smem"].source, SMEM, path)
                    self.assertIsNone(labs["lab01_naive"].source)
                    self.assertEqual(labs["lab01_naive"].problem, "softmax_naive.cu is not in the submission")

    def test_a_class(self):
        for name in ("ann", "bob's work", "__pycache__", "__MACOSX", ".git"):
            (self.root / name).mkdir()
        for name in ("carl.zip", "dora.TAR.GZ", "README.md", "make_hostile.py", ".gitattributes", "softmax_smem.cu"):
            (self.root / name).touch()
        submissions, others = ingest.find(self.root)
        self.assertEqual([submission.name for submission in submissions], ["ann", "bob's work", "carl", "dora"])
        self.assertEqual(others, [".git", ".gitattributes", "README.md", "__MACOSX", "__pycache__", "make_hostile.py", "softmax_smem.cu"])

    def test_the_best_place_wins_and_two_equal_ones_are_refused(self):
        labs = self.taken(self.folder({"labs/lab02_smem/softmax_smem.cu": SMEM, "old/softmax_smem.cu": NAIVE, "solutions/softmax_naive.cu": NAIVE,
                                       "labs/lab01_naive/broken/softmax_naive.cu": NAIVE, "lab01_naive/softmax_smem.cu": NAIVE}))
        self.assertEqual(labs["lab02_smem"].source, SMEM)
        self.assertIsNone(labs["lab01_naive"].source, "a solution or a broken kernel was taken for a submission")
        self.root = Path(tempfile.mkdtemp(dir=self.root))
        labs = self.taken(self.folder({"a/softmax_smem.cu": SMEM, "b/softmax_smem.cu": NAIVE}))
        self.assertIsNone(labs["lab02_smem"].source)
        self.assertIn("more than once", labs["lab02_smem"].problem)

    def test_a_file_that_its_place_has_ruled_out_is_mentioned(self):
        place = self.folder({"labs/lab02_smem/softmax_smem.cu": SMEM, "new/softmax_smem.cu": NAIVE, "same/softmax_smem.cu": SMEM,
                             "solutions/lab02_smem/softmax_smem.cu": NAIVE,
                             "common/grade/corpus/07_x/labs/lab02_smem/softmax_smem.cu": NAIVE, "softmax_naive.cu": NAIVE, "copy/softmax_naive.cu": NAIVE})
        for name, when in (("labs/lab02_smem", 1000), ("new", 2000)):
            os.utime(place / name / "softmax_smem.cu", (when, when))
        submission = ingest.Submission("ann", "ann", place)
        ingest.take(submission, LABS, LIMITS)
        self.assertEqual(submission.labs["lab02_smem"].source, SMEM)
        self.assertEqual(submission.notes, ["has softmax_smem.cu more than once: labs/lab02_smem/softmax_smem.cu was taken for its place; "
                                            "new/softmax_smem.cu, which is newer, has another text"])

    def test_what_is_no_regular_file(self):
        place = self.folder({"x/softmax_smem.cu": SMEM})
        os.symlink("/etc/passwd", place / "softmax_smem.cu")
        self.assertIn("symbolic link", self.taken(place)["lab02_smem"].problem)
        (place / "softmax_smem.cu").unlink()
        os.mkfifo(place / "softmax_smem.cu")
        self.assertIn("FIFO", self.taken(place)["lab02_smem"].problem)
        (place / "softmax_smem.cu").unlink()
        os.symlink("/", place / "labs")  # never followed
        self.assertEqual(self.taken(place)["lab02_smem"].source, SMEM)
        os.symlink(place, self.root / "link")
        self.assertIn("symbolic link", self.taken(self.root / "link")["lab02_smem"].problem)

    def test_links_and_devices_in_archives(self):
        for kind, word in ((tarfile.SYMTYPE, "link"), (tarfile.LNKTYPE, "link"), (tarfile.FIFOTYPE, "regular"), (tarfile.CHRTYPE, "regular")):
            info = tarfile.TarInfo("softmax_smem.cu")
            info.type, info.linkname = kind, "/etc/passwd"
            taken = self.taken(self.tar([(info, b"")]))["lab02_smem"]
            self.assertIsNone(taken.source)
            self.assertIn(word, taken.problem)
        link = zipfile.ZipInfo("softmax_smem.cu")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        with zipfile.ZipFile(self.root / "student.zip", "w") as archive:
            archive.writestr(link, "/etc/passwd")
        self.assertIn("symbolic link", self.taken(self.root / "student.zip")["lab02_smem"].problem)

    def test_paths_that_leave_the_archive(self):
        for name in ("../softmax_smem.cu", "/tmp/softmax_smem.cu", "a/../../softmax_smem.cu", "..\\softmax_smem.cu", "C:\\softmax_smem.cu"):
            for path in (self.zip({name: SMEM}), self.tar([(tarfile.TarInfo(name), SMEM)])):
                taken = self.taken(path)["lab02_smem"]
                self.assertIsNone(taken.source, name)
                self.assertIn("is not in the submission; ", taken.problem)
                self.assertIn(f"{name} in the archive has a path that leads out", taken.problem)

    def test_sizes(self):
        zeros = b"\0" * (3 << 20)
        self.assertIn("larger than 16 KiB", self.taken(self.folder({"softmax_smem.cu": b"x" * 20000}))["lab02_smem"].problem)
        self.assertIn("larger than 16 KiB", self.taken(self.zip({"softmax_smem.cu": zeros}))["lab02_smem"].problem)
        self.assertIn("unpacks to more", self.taken(self.tar([(tarfile.TarInfo("zeros"), zeros)]))["lab02_smem"].problem)
        self.assertIn("more than 100 files", self.taken(self.zip({f"{i}.txt": b"" for i in range(101)}))["lab02_smem"].problem)
        self.assertIn("not a text file", self.taken(self.zip({"softmax_smem.cu": b"\x7fELF\0"}))["lab02_smem"].problem)

    def test_broken_archives(self):
        for name, content in (("student.zip", b"PK\x03\x04 and then nothing"), ("student.tar.gz", b"\x1f\x8b\x08\0garbage"),
                              ("student.tgz", b""), ("student.tar", b"x" * 2000)):
            (self.root / name).write_bytes(content)
            self.assertIsNone(self.taken(self.root / name)["lab02_smem"].source)
            self.assertTrue(self.taken(self.root / name)["lab02_smem"].problem)

    def test_names(self):
        names = ["ann", "Ann", "ann b", "ann-b", "../x", "=1+1", "\x1b[2J", "张伟", "a" * 200, "-rf"]
        ids = [ingest.safe_id(name) for name in names]
        self.assertEqual(len(set(ids)), len(names))
        for identity in ids:
            self.assertRegex(identity, r"\A[A-Za-z0-9][A-Za-z0-9_-]{0,99}\Z")
        for name in ("ann", "Ann", "00123", "2024-01", "1e5"):
            (self.root / name).mkdir()
        (self.root / "ann.zip").write_bytes(b"")
        (self.root / "notes.txt").write_text("")
        submissions, others = ingest.find(self.root)
        self.assertEqual(len({submission.id.lower() for submission in submissions}), 5)  # ann/ and ann.zip are one
        self.assertEqual(others, ["notes.txt"])
        for submission in submissions:
            self.assertFalse(escape.looks_like_a_number(submission.id), submission.id)


if __name__ == "__main__":
    unittest.main()
