"""The submissions of the corpus, what each must get, and whether a grade is that: corpus/*/labs/LAB/KERNEL.cu, and those that are edits of a
solution (corpus/edits.toml). test_corpus.py and test_gpu_corpus.py grade them.

A kernel of the corpus says in its first lines what it must get:

    // Entry: 15                    of corpus/README.md; none: honest work, which must not be punished
    // Expect: fail                 the lab's verdict: pass, fail or needs a person
    // Reason: no kernel was        held by the reason or the details of an item that is not passed
    // Most: 0                      points of the lab at the most; 0 where neither this nor Least is given and Expect is not pass
    // Least: 80                    and at the least
    // Never: root:                 a text that must not be in any report; several such lines
    // GPU: the time is ...         what must be seen on a GPU. Without one this is said and not tried.
    // Speed: fail: never written   the verdict of the speed items there, and a part of the reason (test_gpu_corpus.py)
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
COURSE = HERE.parents[1]
CORPUS = HERE / "corpus"
sys.path[:0] = [str(HERE), str(HERE.parent)]
import corpus_edits  # noqa: E402
from course import labs  # noqa: E402
from ingest import shown  # noqa: E402

FIELDS = ("Entry", "Expect", "Reason", "Most", "Least", "Never", "GPU", "Speed")
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@dataclass
class Case:
    name: str
    lab: str
    expect: str
    entry: int = 0
    reason: str = ""
    most: float | None = None
    least: float | None = None
    never: list[str] = field(default_factory=list)
    gpu: str = ""  # what must be seen on a GPU
    speed: str = ""  # "fail: never written"

    @property
    def needs_gpu(self) -> bool:
        """Only a GPU can tell it from honest work."""
        return bool(self.gpu) and self.expect == "pass" and not self.name.startswith("honest_")


class Malformed(Exception):
    pass


def parse(folder: Path) -> Case:
    files = sorted(folder.rglob("*.cu"))
    if len(files) != 1 or files[0].relative_to(folder).parts[0] != "labs":
        raise Malformed(f"{folder.name}: holds {len(files)} kernels; a submission of the corpus is one file, labs/LAB/KERNEL.cu")
    fields: dict[str, list[str]] = {}
    for line in files[0].read_bytes().decode(errors="replace").lstrip("\ufeff").splitlines():
        if not line.startswith("// "):
            break
        if entry := re.match(r"// ([\w-]+): (.*)$", line.rstrip()):
            if entry[1] not in FIELDS:
                raise Malformed(f"{folder.name}: there is no field {entry[1]}")
            fields.setdefault(entry[1], []).append(entry[2])

    return declared(folder.name, files[0].parent.name,
                    {name.lower(): values if name == "Never" else values[0] for name, values in fields.items()})


def declared(name: str, lab: str, fields: dict) -> Case:
    """By the fields above, in lower case."""
    if fields.get("expect") not in ("pass", "fail", "needs a person"):
        raise Malformed(f"{name}: 'Expect' is missing or is none of pass, fail, needs a person")
    case = Case(name, lab, fields["expect"], int(fields.get("entry", 0)), fields.get("reason", ""), never=fields.get("never", []),
                gpu=fields.get("gpu", ""), speed=fields.get("speed", ""))
    case.most = float(fields["most"]) if "most" in fields else None
    case.least = float(fields["least"]) if "least" in fields else None
    if case.expect != "pass" and case.most is None and case.least is None:
        case.most = 0.0
    if bool(case.gpu) != bool(case.speed):
        raise Malformed(f"{name}: 'GPU' and 'Speed' go together")
    return case


def holds(name: str, only: str) -> bool:
    """only: words with commas between them; "" is in every name."""
    return any(word in name for word in only.split(","))


def in_repository(only: str = "") -> list[Case]:
    """The corpus without what make_hostile.py makes: the submissions whose name holds one of the words."""
    folders = (path for path in CORPUS.iterdir() if path.is_dir() and not path.name.startswith("__"))
    cases = [parse(path) for path in folders if any(path.rglob("*.*"))]  # an older checkout leaves empty folders behind
    cases += [declared(name, made.lab.name, made.declared) for name, made in corpus_edits.load().items()]
    cases += [Case(name, lab.name, "pass") for name, lab in solutions().items()]
    return sorted((case for case in cases if holds(case.name, only)), key=lambda case: case.name)


def solutions() -> dict[str, labs.Lab]:
    """Each lab's own solution, as a student's."""
    return {f"honest_solution_of_{lab.name}": lab for lab in labs.load(COURSE)}


def write(names: list[str], folder: Path) -> None:
    """A submission each."""
    edits, own = corpus_edits.load(), solutions()
    for name in names:
        if name in edits:
            edits[name].write(folder / name)
        elif name in own:
            place = folder / name / own[name].starter
            place.parent.mkdir(parents=True)
            shutil.copyfile(COURSE / own[name].solution, place)
        else:
            shutil.copytree(CORPUS / name, folder / name)


def text_of_reports(folder: Path) -> str:
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in ("feedback.md", "results.json", "grade.json"))


def judge(case: Case, grade: dict, folder: Path) -> str:
    """'' or what is not as declared."""
    lab = next((lab for lab in grade["labs"] if lab["lab"] == case.lab), None)
    if lab is None:
        return f"no lab {case.lab} in the record"
    open_items = [item for item in lab["items"] if item["verdict"] not in ("pass", "not run")]
    reasons = [item["reason"] for item in open_items]
    told = f"; it says: {reasons[0] if reasons else '-'}"
    if open_items and open_items[0]["details"]:  # what the compiler said, for one
        told += " (" + " ".join(open_items[0]["details"].split())[:300] + ")"
    if lab["verdict"] != case.expect:
        return f"{lab['verdict']}, expected: {case.expect}{told}"
    if case.reason and not any(case.reason in item["reason"] + "\n" + item["details"] for item in open_items):
        return f"no item says: {case.reason}{told}"
    if case.most is not None and lab["points"] > case.most:
        return f"{lab['points']:g} points, at the most {case.most:g}{told}"
    if case.least is not None and lab["points"] < case.least:
        return f"{lab['points']:g} points, at the least {case.least:g}{told}"
    if case.expect == "pass" and lab["points"] != lab["out_of"]:
        return f"{lab['points']:g} of {lab['out_of']:g} points"
    reports = text_of_reports(folder)
    if found := CONTROL.search(reports):
        return f"a report holds the character {found[0]!r}"
    for never in case.never:
        if never in reports:
            return f"a report holds {never!r}"
    return ""


def check_entries(cases: list[Case]) -> list[str]:
    """corpus/README.md lists every entry, with the submissions that try it."""
    text = (CORPUS / "README.md").read_text()
    problems = []
    for case in cases:
        # Names with control characters are listed together, as made.
        listed = f"`{case.name}`" in text or (case.entry == 60 and "make_hostile.py" in text)
        if not listed and re.fullmatch(r"[\w]+", case.name):
            problems.append(f"{case.name} is not in corpus/README.md")
    for name in re.findall(r"`((?:\d\d|honest)_\w+)`", text):
        if name not in {case.name for case in cases}:
            problems.append(f"corpus/README.md names {name}, which is not in the corpus")
    return problems


def read_grades(out: Path) -> dict[str, tuple[dict, Path]]:
    """Student -> grade and its folder. Of two students that are shown with one name, one."""
    grades = {}
    for path in sorted((out / "students").glob("*/grade.json")):
        grade = json.loads(path.read_text(encoding="utf-8"))
        grades.setdefault(grade["student"], (grade, path.parent))
    return grades


wrong: list[str] = []  # the lines with FAIL, which are printed again at the end


def report(name: str, problem: str, good: str) -> int:
    """A line that says ok or FAIL. 1 if there is a problem."""
    line = f"{shown(name)[:44]:<44}  {'FAIL' if problem else 'ok':<5} {problem or good}"
    wrong.extend([line] if problem else [])
    print(line, flush=True)
    return int(bool(problem))


def compare(cases: list[Case], grades: dict[str, tuple[dict, Path]]) -> int:
    """How many are not as declared."""
    failed = 0
    for case in cases:
        found = grades.get(shown(case.name))
        failed += report(case.name, judge(case, *found) if found else "has no grade", case.expect + (f": {case.reason}" if case.reason else ""))
    return failed


def compare_graded(out: Path) -> int:
    """What the command of corpus/README.md has graded, without those that make_hostile.py makes."""
    if not (out / "students").is_dir():
        print(f"error: {out} holds no grades; test_corpus.py --write FOLDER and make check SUBMISSIONS=FOLDER OUT={out} make them", file=sys.stderr)
        return 2
    cases = in_repository()
    grades = read_grades(out)
    failed = compare(cases, grades)
    for name in sorted(set(grades) - {case.name for case in cases}):
        failed += report(name, "is no submission of the corpus and has a grade", "")
    print(f"\n{len(cases)} submissions: {len(cases) - failed} as declared, {failed} not")
    return 1 if failed else 0
