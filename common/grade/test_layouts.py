"""Who handed in what, as the learning platforms lay it out, and as archives of several programs look. Names and forms are those of Moodle's
mod/assign/classes/downloader.php, Canvas's lib/content_zipper.rb, and the scripts that people use for Blackboard's and Gradescope's."""

from __future__ import annotations

import io
import os
import sys
import tarfile
import tempfile
import unittest
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import escape  # noqa: E402
import ingest  # noqa: E402
import layouts  # noqa: E402

LIMITS = {"files": 200, "source_kib": 16, "archive_mib": 1}
LABS = {"lab01_naive": "softmax_naive.cu", "lab02_smem": "softmax_smem.cu"}
SMEM, NEWER = b"// smem\n", b"// newer\n"


def zipped(files: dict[str, bytes], when: int = 2020) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, text in files.items():
            archive.writestr(zipfile.ZipInfo(name, (when, 1, 2, 3, 4, 6)), text)
    return stream.getvalue()


class Layouts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name) / "in"
        self.root.mkdir()

    def put(self, files: dict[str, bytes]) -> None:
        for name, data in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)

    def taken(self) -> dict[str, ingest.Submission]:
        submissions, self.others = ingest.find(self.root)
        self.assertEqual(len({s.id.lower() for s in submissions}), len(submissions))
        for submission in submissions:
            ingest.take(submission, LABS, LIMITS)
        self.assertEqual(len({s.name for s in submissions}), len(submissions))
        return {submission.name: submission for submission in submissions}

    def source(self, submission: ingest.Submission) -> bytes | None:
        return submission.labs["lab02_smem"].source

    def test_moodle_with_folders(self):
        self.put({"Jane Doe_1234_assignsubmission_file/softmax_smem.cu": SMEM,
                  "Zo\u00eb O'Brien_1235_assignsubmission_file_/work.zip": zipped({"work/labs/lab02_smem/softmax_smem.cu": SMEM}),
                  "Zo\u00eb O'Brien_1235_assignsubmission_onlinetext_/onlinetext.html": b"see my zip",
                  "Ali Khan_1236_assignsubmission_onlinetext/onlinetext.html": b"I could not upload",
                  "Team 7_88_assignsubmission_file/a/b/softmax_smem.cu": SMEM, "Default group_assignsubmission_file/softmax_smem.cu": SMEM,
                  "Participant_99_assignsubmission_file/softmax_smem.cu": SMEM})
        found = self.taken()
        self.assertEqual(list(found), ["Ali Khan", "Default group", "Jane Doe", "Participant", "Team 7", "Zo\u00eb O'Brien"])
        for name, submission in found.items():
            self.assertEqual(self.source(submission), None if name == "Ali Khan" else SMEM, name)
            self.assertEqual(submission.system, "Moodle")
        self.assertEqual(found["Ali Khan"].problem, "no file was handed in")
        self.assertEqual(found["Jane Doe"].people[0].number, "1234")
        self.assertEqual(self.others, [])

    def test_moodle_without_folders_and_two_of_one_name(self):
        self.put({"Jane Doe_1234_assignsubmission_file_softmax_smem.cu": SMEM, "Jane Doe_77_assignsubmission_file_softmax_smem.cu": NEWER,
                  "Bo_3_assignsubmission_file_all.zip": zipped({"softmax_smem.cu": SMEM}), "Bo_3_assignsubmission_onlinetext_onlinetext.html": b""})
        found = self.taken()
        self.assertEqual(list(found), ["Bo", "Jane Doe (1234)", "Jane Doe (77)"])
        self.assertEqual([self.source(s) for s in found.values()], [SMEM, SMEM, NEWER])

    def test_canvas(self):
        self.put({"doejane_12_345_softmax_smem.cu": SMEM, "doejane_12_346_softmax_naive-2.cu": SMEM, "obrienzo\u00eb_LATE_13_350_softmax_smem-1.cu": NEWER,
                  "khanali_14_351_text.html": b"", "khan_15_text.html": b"see above", "anon_aB3xY_77_softmax_smem.cu": SMEM, "poe_16_360_lab 2.7z": b"7z",
                  "ray_17_361_my_lab_2.zip": zipped({"softmax_smem.cu": SMEM})})
        found = self.taken()
        self.assertEqual(list(found), ["anon_aB3xY", "doejane_12", "khan_15", "khanali_14", "obrienzo\u00eb_13", "poe_16", "ray_17"])
        self.assertEqual(found["doejane_12"].labs["lab01_naive"].source, SMEM)
        self.assertEqual(self.source(found["obrienzo\u00eb_13"]), NEWER)
        self.assertIn("late", " ".join(found["obrienzo\u00eb_13"].notes))
        self.assertEqual(self.source(found["ray_17"]), SMEM)
        self.assertIn("not read here", found["poe_16"].problem)
        self.assertEqual(found["khan_15"].problem, "no file was handed in")
        self.assertEqual(found["doejane_12"].id, "doejane_12")

    def test_blackboard(self):
        first, last = "Lab 2_jdoe_attempt_2026-01-15-10-20-30", "Lab 2_jdoe_attempt_2026-01-17-08-00-00"
        self.put({f"{first}_softmax_smem.cu": NEWER, f"{first}.txt": b"Name: Jane Doe (jdoe)\nAssignment: Lab 2\n", f"{first}_softmax_naive.cu": SMEM,
                  f"{last}_softmax_smem.cu": SMEM, f"{last}.txt": b"Name: Jane Doe (jdoe)\n", "Lab 2_bob_attempt_2026-01-15-11-00-00.txt": b"Name: Bob\n"})
        os.utime(self.root / f"{last}_softmax_smem.cu", (0, 0))  # the platform's time counts, not the file's
        found = self.taken()
        self.assertEqual(list(found), ["Bob (bob)", "Jane Doe (jdoe)"])
        jane = found["Jane Doe (jdoe)"]
        self.assertEqual((self.source(jane), jane.labs["lab01_naive"].source), (SMEM, SMEM))
        self.assertTrue(jane.labs["lab02_smem"].handed_in.startswith("2026-01-17T08:00:00"))
        self.assertTrue(jane.labs["lab01_naive"].handed_in.startswith("2026-01-15T10:20:30"))
        self.assertIn("handed in 2 times", " ".join(jane.notes))
        self.assertEqual(found["Bob (bob)"].problem, "no file was handed in")

    def test_gradescope(self):
        self.put({"assignment_9_export/submission_1/softmax_smem.cu": SMEM, "assignment_9_export/submission_2/softmax_smem.cu": NEWER,
                  "assignment_9_export/submission_3/notes.pdf": b"%PDF", "assignment_9_export/.DS_Store": b"",
                  "assignment_9_export/submission_metadata.yml": (
                      "---\nsubmission_1:\n  :submitters:\n  - :name: Jane Doe\n    :sid: '00123'\n    :email: jane@x.edu\n"
                      "  :created_at: 2026-01-15 10:20:30.123456000 Z\n  :score: 1.0\n  :results:\n    output: |\n      submission_9:\n        :submitters:\n"
                      "submission_2:\n  :submitters:\n  - :name: \"Zo\\xEB \\\"Z\\\" Lee\"\n    :sid: 1e5\n    :email: \n  - :name: O''Neil\n    :sid: '7'\n"
                      "    :email: o@x.edu\n  :created_at: 2026-01-16 10:00:00 -0800\nsubmission_3:\n  :submitters:\n  - :name: Poe\n    :sid: \n    :email: p@x.edu\n").encode()})
        found = self.taken()
        self.assertEqual(list(found), ["Jane Doe", "Poe", "Zo\u00eb \"Z\" Lee, O''Neil"])
        self.assertEqual(found["Jane Doe"].people, [layouts.Person("Jane Doe", "00123", email="jane@x.edu")])
        self.assertEqual(found["Jane Doe"].labs["lab02_smem"].handed_in, "2026-01-15T10:20:30+00:00")
        self.assertEqual([p.number for p in found["Zo\u00eb \"Z\" Lee, O''Neil"].people], ["1e5", "7"])
        self.assertIn("it holds notes.pdf", found["Poe"].problem)

    def test_github_classroom(self):
        self.put({"lab-2-submissions/lab-2-jdoe/labs/lab02_smem/softmax_smem.cu": SMEM, "lab-2-submissions/lab-2-jdoe/.git/config": b"",
                  "lab-2-submissions/lab-2-ann-b/softmax_smem.cu": NEWER, "lab-2-submissions/grades.csv": b""})
        found = self.taken()
        self.assertEqual({name: (s.id, self.source(s)) for name, s in found.items()}, {"ann-b": ("ann-b", NEWER), "jdoe": ("jdoe", SMEM)})
        self.assertEqual(self.others, ["grades.csv"])

    def test_a_plain_class_is_not_taken_for_a_wrapper(self):
        self.put({"leo/labs/lab02_smem/softmax_smem.cu": SMEM, "leo/README.md": b""})
        self.assertEqual(list(self.taken()), ["leo"])
        self.root = self.root / "leo" / "in"
        self.put({"in/ann/softmax_smem.cu": SMEM, "in/bob/softmax_smem.cu": SMEM})  # unpacked into a folder of the same name
        self.assertEqual(list(self.taken()), ["ann", "bob"])

    def test_archives_of_macos_and_windows(self):
        apple = zipped({"Archive/softmax_smem.cu": SMEM, "__MACOSX/Archive/._softmax_smem.cu": b"\0\5\26\7", "Archive/.DS_Store": b"\0"})
        windows = zipped({"lab02\\lab02\\labs\\lab02_smem\\softmax_smem.cu": SMEM, "lab02\\lab02\\labs\\": b""})
        self.put({"ann.zip": apple, "bob.ZIP": windows, "leo.zip": zipped({"leo/leo/softmax_smem.cu": SMEM}),
                  "Jose\u0301.zip": zipped({"softmax_smem.cu": SMEM}), "mia.zip": zipped({"mia.tar.zip": zipped({"a/softmax_smem.cu": SMEM})})})
        found = self.taken()
        self.assertEqual(list(found), ["ann", "bob", "Jos\u00e9", "leo", "mia"])
        for name, submission in found.items():
            self.assertEqual(self.source(submission), SMEM, name)
            self.assertEqual(submission.notes, [], name)
        self.assertEqual(found["mia"].labs["lab02_smem"].path, "mia.tar.zip/a/softmax_smem.cu")

    def test_names_in_a_zip_without_the_flag(self):
        """macOS writes UTF-8 and does not say so; the standard's code page would give rubbish."""
        data = bytearray(zipped({"Zo\u00eb/softmax_smem.CU": SMEM}))
        for place in (data.find(b"PK\x03\x04") + 7, data.find(b"PK\x01\x02") + 9):
            self.assertEqual(data[place], 8)
            data[place] = 0
        self.put({"zoe.zip": bytes(data)})
        self.assertIn("is it Zo\u00eb/softmax_smem.CU?", self.taken()["zoe"].labs["lab02_smem"].problem)

    def test_other_archives(self):
        for ending, mode in ((".tar.bz2", "w:bz2"), (".txz", "w:xz"), (".tgz", "w:gz")):
            with tarfile.open(self.root / f"a{ending[-3:]}{ending}", mode) as archive:
                info = tarfile.TarInfo("x/softmax_smem.cu")
                info.size = len(SMEM)
                archive.addfile(info, io.BytesIO(SMEM))
        self.put({"rar.rar": b"Rar!\x1a\x07", "liar.zip": b"7z\xbc\xaf\x27\x1c..", "seven.7z": b"7z\xbc\xaf\x27\x1c", "page.zip": b"<!DOCTYPE html><html>",
                  "folder/all.7z": b"7z\xbc\xaf\x27\x1c", "empty.zip": b""})
        found = self.taken()
        for name in ("abz2", "atxz", "atgz"):
            self.assertEqual(self.source(found[name]), SMEM, name)
        for name, words in (("rar", "of a kind that is not read here"), ("seven", "of a kind that is not read here"), ("liar", "a 7z archive"),
                            ("page", "a web page"), ("folder", "all.7z is an archive of a kind"), ("empty", "cannot be read")):
            self.assertIn(words, found[name].problem, name)
            self.assertIsNone(self.source(found[name]))

    def test_a_folder_and_an_archive_of_one_student(self):
        self.put({"pia/softmax_smem.cu": SMEM, "pia.zip": zipped({"x/softmax_smem.cu": NEWER}, 2037),
                  "leo/softmax_smem.cu": SMEM, "leo.zip": zipped({"softmax_smem.cu": SMEM}),  # the archive was unpacked by hand
                  "mia/softmax_smem.cu": NEWER, "mia.zip": zipped({"softmax_smem.cu": SMEM}),
                  "ned.zip": zipped({"softmax_smem.cu": SMEM}), "ned (1).zip": zipped({"softmax_smem.cu": NEWER}),
                  "ann (2).zip": zipped({"softmax_smem.cu": SMEM}),
                  "kim/softmax_smem.cu": SMEM, "kim.zip": zipped({"softmax_naive.cu": NEWER})})
        found = self.taken()
        self.assertEqual(list(found), ["ann (2)", "kim", "leo", "mia", "ned", "pia"])
        self.assertEqual(self.source(found["pia"]), NEWER)
        self.assertEqual((self.source(found["leo"]), self.source(found["mia"])), (SMEM, NEWER))
        self.assertEqual((self.source(found["kim"]), found["kim"].labs["lab01_naive"].source), (SMEM, NEWER))
        for name in ("leo", "mia", "ned", "kim"):
            self.assertIn("is one student, who is there as", " ".join(found[name].notes))
        self.assertIn("has softmax_smem.cu more than once: mia: softmax_smem.cu was taken, which is newer than mia.zip", " ".join(found["mia"].notes))
        self.assertIn("hand in one", found["ned"].labs["lab02_smem"].problem, "two of the same time: nobody knows which")
        self.assertIn("hand in one", found["ned"].problem)

    def test_near_misses_are_named(self):
        for name in ("softmax_smem (1).cu", "Softmax_Smem.cu", "softmax_smem.cu.txt", "softmax_smem - Copy.cu", "softmax_smem_final.cu", "softmax_smem.CU",
                     "softmax_smem.cpp", "softmax-smem.cu", "jdoe_softmax_smem.cu", "softmax_sme.cu", "softmax smem v2.cu", "softmax_smem.cu~"):
            with self.subTest(name):
                self.root = Path(tempfile.mkdtemp(dir=self.root))
                self.put({f"ann/x/{name}": SMEM, "ann/softmax_naive.cu": SMEM, "bob/softmax_naive.cu": SMEM, "bob/._softmax_smem.cu": b"", "bob/main.cu": SMEM})
                found = self.taken()
                self.assertEqual(found["ann"].labs["lab02_smem"].problem, f"softmax_smem.cu is not in the submission; is it x/{name}? Its name must be softmax_smem.cu")
                self.assertEqual(found["bob"].labs["lab02_smem"].problem, "softmax_smem.cu is not in the submission")

    def test_nothing_to_grade_has_a_reason(self):
        self.put({"ann/report.pdf": b"%PDF", "bob/.keep": b"", "cy/softmax_smem.cu.txt": SMEM, "utf16/softmax_smem.cu": "// x\n".encode("utf-16")})
        found = self.taken()
        self.assertEqual(found["ann"].problem, "no kernel file of a lab is in the submission; it holds report.pdf")
        self.assertEqual(found["bob"].problem, "no kernel file of a lab is in the submission; it is empty")
        self.assertIn("is it softmax_smem.cu.txt?", found["cy"].problem)
        self.assertIn("save it as UTF-8", found["utf16"].problem)

    def test_bombs_in_archives_in_archives(self):
        deep = zipped({"softmax_smem.cu": SMEM})
        for _ in range(6):
            deep = zipped({"inner.zip": deep})
        many = zipped({**{f"{i:02}.zip": zipped({"a.txt": b""}) for i in range(25)}, "99.zip": zipped({"softmax_smem.cu": SMEM})})
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("zeros.zip", b"\0" * (50 << 20))
        wide = io.BytesIO()
        with zipfile.ZipFile(wide, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in ("a.txt", "softmax_smem.cu"):
                archive.writestr(f"{name}.zip", zipped({name: SMEM, "pad": b"\0" * 700000}))
        self.put({"deep.zip": deep, "many.zip": many, "zeros.zip": stream.getvalue(), "wide.zip": wide.getvalue()})
        found = self.taken()
        for name, submission in found.items():
            self.assertIsNone(self.source(submission), name)
            self.assertTrue(submission.problem, name)

    def test_an_archive_in_place_of_the_folder(self):
        path = self.root / "class.zip"
        path.write_bytes(zipped({"a/softmax_smem.cu": SMEM}))
        with self.assertRaisesRegex(ingest.IngestError, "unpack it first"):
            ingest.find(path)


class Numbers(unittest.TestCase):
    def test_what_a_spreadsheet_would_change(self):
        for text in ("00123", "1e5", "2024-01", "1/2", "12:30", "1.5", "5%", "1,000", "(5)", "$5", "TRUE", "falsch", "MAR1", "1-mar", "SEPT 2", "3 Mai 2024",
                     "+49 123", "-5", "1E-3", "12:30 pm", "2024-01-02 10:00:00"):
            self.assertTrue(escape.looks_like_a_number(text), text)
        for text in ("ann", "jdoe12", "student-1", "march", "doejane_12", "x1e5", "A-1", "2024-ann", "lab02", ""):
            self.assertFalse(escape.looks_like_a_number(text), text)


if __name__ == "__main__":
    unittest.main()
