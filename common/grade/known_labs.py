"""What is known of the course's labs before anything is graded: their kernel files, what each asks for, and what a grade depends on."""

from __future__ import annotations

import hashlib
import sys
from dataclasses import dataclass
from pathlib import Path

import roots

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from course import labs as manifest  # noqa: E402


def labs_of(course: Path) -> dict[str, str]:
    """Lab -> the name of its kernel file."""
    return {lab.name: lab.kernel for lab in manifest.load(course)}


def title_of(course: Path, lab: str) -> str:
    path = course / "labs" / lab / "README.md"
    heading = path.read_text().split("\n", 1)[0] if path.is_file() else ""
    return heading.lstrip("# ").strip() or lab


@dataclass(frozen=True)
class Asks:
    """What a lab asks of those who build and run its kernel."""

    products: bool  # its own solution calls cuBLAS. No other lab has it: a library moves data, too
    timed: bool  # a time, which is predicted


def asks_of(course: Path, lab: str, kernel: str) -> Asks:
    tests = (course / "labs" / lab / "test.cpp").read_text()
    return Asks(b"#include <cublas" in (course / "solutions" / lab / kernel).read_bytes(), "predicted_within" in tests or "keeps_pace" in tests)


def digest_of_files(files: list[Path]) -> str:
    sha = hashlib.sha256()
    for path in filter(Path.is_file, files):
        sha.update(f"{path.name}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return sha.hexdigest()


# What reads a grade, or finds the file that is graded, changes no grade. A new file counts until it is named here.
NOT_IN_A_GRADE = {"archives", "check", "classrun", "corpus_edits", "corpus_entries", "decide", "decided", "decisions", "doctor", "escape",
                  "feedback", "gradebook", "gradescope_results", "histogram", "html_report", "imports", "ingest", "junit", "layouts", "lock",
                  "make_class", "make_similar", "policy", "progress", "record", "reports", "sample_records", "similar", "similar_report",
                  "spreadsheet", "store", "summary", "tokens"}
# Of the executor's Python files those that do not rewrite a source (common/build/rules.mk leaves out the same).
NOT_IN_A_REWRITER = {"profile", "simtcc_testing", "survey"}


def digests_of_course(course: Path) -> dict[str, str]:
    """Lab -> what changes whenever a grade of the lab could, but for the points: the course's programs, headers and flags, and the lab's own
    tests and solution."""
    common = digest_of_files([
        course / "build/cpu/worker", course / "build/cpu/announce", *sorted((course / "common/build").glob("*.mk")),
        *sorted((course / "common/simt/timing/operations").glob("*.py")), course / roots.MACHINE,
        *sorted(path for path in (course / "common/simt").glob("*.py") if path.stem not in NOT_IN_A_REWRITER and not path.name.startswith("test_")),
        *sorted((course / "common/simt/include").rglob("*")), *sorted((course / "common/rung").rglob("*.h")), *sorted((course / "common/ops").rglob("*.h")),
        *sorted((course / "common/grade/speed").glob("*")), *sorted((course / "common/simt/rules").glob("*.[hp]*")),
        *sorted(path for path in (course / "common/grade").glob("*.py") if not path.name.startswith("test_") and path.stem not in NOT_IN_A_GRADE)])
    return {lab: hashlib.sha256((common + digest_of_files([course / "build/cpu/tests" / lab, *sorted(course.glob(f"solutions/{lab}/*.cu"))])).encode()).hexdigest()
            for lab in labs_of(course)}
