"""Takes the kernel files of the labs, and nothing else, out of what a student handed in (layouts.py, archives.py). Whatever is odd about
a file costs that lab alone and is said in one line, with the name of what comes near to it."""

from __future__ import annotations

import difflib
import hashlib
import os
import re
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import layouts
from archives import ENDINGS, Found, IngestError, Member, Reader, is_archive, shown
from layouts import Part, Person, safe_id

IGNORED = {"solutions", "broken", "__MACOSX", ".git", "build"}  # folders whose files are no submission
SAME_TIME = 2.0  # seconds: the least that an archive can tell apart
TRIED = 8  # files of one name that are looked at


@dataclass
class Taken:
    """What was found for one lab: its text, or why there is none."""

    source: bytes | None = None
    path: str = ""  # in the submission
    problem: str = ""
    handed_in: str = ""  # when, as the platform says
    file_time: str = ""  # when the file was last changed, as far as one can believe it


@dataclass
class Submission:
    name: str  # of the student, fit to be shown
    id: str  # letters, digits, '-', '_': a file name anywhere
    path: Path
    labs: dict[str, Taken] = field(default_factory=dict)
    parts: list[Part] = field(default_factory=list)  # what it consists of; none: `path` alone
    people: list[Person] = field(default_factory=list)
    system: str = ""  # the platform that it comes from, if it is known
    notes: list[str] = field(default_factory=list)  # for the instructor: what had to be decided, a sentence without its subject each
    problem: str = ""  # why nothing of it can be graded


def find(folder: Path) -> tuple[list[Submission], list[str]]:
    """The submissions of a class, by name, and the names of entries that are none. Raises IngestError."""
    found, others = layouts.hand_ins(folder)
    names = [hand_in.name for hand_in in found]
    submissions, used = [], set()
    for hand_in in found:
        name = hand_in.name
        if names.count(name) > 1:  # two of one name: a platform's number tells them apart, or what they are called in the folder
            name = f"{name} ({hand_in.people[0].number or hand_in.people[0].login or hand_in.parts[0].path.name if hand_in.parts else '?'})"
        identity = safe_id(name)
        if identity.lower() in used:
            identity = f"{identity[:60]}-x{hashlib.sha256(os.fsencode(f'{name}/{hand_in.parts[0].path.name if hand_in.parts else 0}')).hexdigest()[:8]}"
        used.add(identity.lower())
        path = hand_in.parts[0].path if hand_in.parts else folder
        submissions.append(Submission(shown(name), identity, path, parts=hand_in.parts, people=hand_in.people, system=hand_in.system,
                                      notes=list(hand_in.notes), problem="" if hand_in.parts else "no file was handed in"))
    return submissions, others


# ---- Which file is a lab's? ----------------------------------------------------------------------

def ignored(parts: tuple[str, ...]) -> bool:
    """Whether a path of a submission is of no interest: of the course's own files, or what tools leave behind."""
    return bool(IGNORED.intersection(parts[:-1])) or ("grade", "corpus") in zip(parts, parts[1:])


def rank(parts: tuple[str, ...], lab: str, kernel: str) -> int | None:
    """How well a path inside a submission fits a lab's kernel, 0 best: labs/<lab>/<kernel>, <lab>/<kernel>, <kernel>, each also below
    other folders. None: not at all."""
    if not parts or parts[-1] != kernel or ignored(parts):
        return None
    if parts[-3:-1] == ("labs", lab):
        return 0
    if parts[-2:-1] == (lab,):
        return 1
    return None if len(parts) > 1 and re.fullmatch(r"lab\d\d[b-z]?_\w+", parts[-2]) else 2


def best(members: list[Member], lab: str, kernel: str) -> list[Member]:
    """Those that fit best; several if they fit equally well."""
    ranked = [((place, len(member.parts)), member) for member in members if (place := rank(member.parts, lab, kernel)) is not None]
    least = min((key for key, _ in ranked), default=None)
    return [member for key, member in ranked if key == least]


def bare(name: str) -> str:
    """A file's name without what browsers, file managers and students add to it."""
    text = name.lower()
    while True:
        shorter = re.sub(r"(?:\.(?:txt|cu|cuh|cpp|cxx|cc|c|h|hpp|bak|orig|old|rtf|docx?|pdf)|~|[ _.-]*\(\d+\)|[ _-]+(?:copy|kopie|final|new|v?\d+|fixed|solution))$", "", text)
        if shorter == text:
            return re.sub(r"[ _.-]", "", text)
        text = shorter


def near(members: list[Member], kernel: str, kernels: set[str]) -> list[str]:
    """Paths that may be meant by the kernel's name."""
    names: dict[str, list[Member]] = {}
    for member in members:
        name = member.parts[-1]
        if name not in kernels and not name.startswith("._") and not ignored(member.parts):
            names.setdefault(bare(name), []).append(member)
    wanted = bare(kernel)
    likely = [name for name in names if name == wanted or name.endswith(wanted)] or difflib.get_close_matches(wanted, list(names), 1, 0.9)
    return [member.path for name in likely for member in names[name]]


# ---- Taking --------------------------------------------------------------------------------------

def take(submission: Submission, labs: dict[str, str], limits: dict[str, int]) -> None:
    """Fills submission.labs, and adds to its notes. labs: lab -> name of its kernel file."""
    reader = Reader(limits)
    found: list[tuple[Part, Found]] = []
    errors: list[str] = []
    for part in submission.parts or ([] if submission.problem else [Part(submission.path)]):
        try:
            if part.file:
                member = reader.file(part.path, part.file)
                inner = Found([member])
                reader.inside(member, inner)
            else:
                inner = reader.look_into(part.path)
            found.append((part, inner))
        except IngestError as error:
            errors.append(str(error))
    members = [member for _, inner in found for member in inner.members]
    closed = [text for _, inner in found for text in inner.closed]
    outside = [text for _, inner in found for text in inner.outside][:3]
    for lab, kernel in labs.items():
        taken = submission.labs[lab] = Taken()
        candidates = candidates_of(found, lab, kernel)
        if candidates:
            decide(taken, submission, kernel, candidates, limits["source_kib"])
            mention(taken, submission, kernel, passed_over(candidates, lab, kernel, found), limits["source_kib"])
        elif not members and (errors or closed or submission.problem):
            taken.problem = (errors or closed or [submission.problem])[0]
        else:
            taken.problem = f"{kernel} is not in the submission"
            if like := near(members, kernel, set(labs.values())):
                taken.problem += f"; is it {' or '.join(like[:2])}? Its name must be {kernel}"
            elif extra := closed + errors + outside:
                taken.problem += f"; {extra[0]}"
    if labs and not any(taken.source is not None for taken in submission.labs.values()):
        submission.problem = submission.problem or (errors + closed + outside + [""])[0] or nothing(submission, members)
    else:
        submission.notes += [text for text in errors + closed + outside if text not in submission.notes]


def nothing(submission: Submission, members: list[Member]) -> str:
    """Why nothing can be graded, if the submission could be read."""
    if problems := [taken.problem for taken in submission.labs.values() if "is not in the submission" not in taken.problem or "; is it" in taken.problem]:
        return problems[0]
    names = list(dict.fromkeys(shown(member.parts[-1]) for member in members if not member.parts[-1].startswith(".")))
    holds = f"it holds {', '.join(names[:4])}{' ...' if len(names) > 4 else ''}" if names else "it is empty"
    return f"no kernel file of a lab is in the submission; {holds}"


def candidates_of(found: list[tuple[Part, Found]], lab: str, kernel: str) -> list[tuple[Part, Member]]:
    """What may be the lab's file: of several attempts the last that has one, of entries without a time all."""
    if any(part.when for part, _ in found):
        for when in sorted({part.when for part, _ in found}, reverse=True):
            if mine := [(part, member) for part, inner in found if part.when == when for member in best(inner.members, lab, kernel)]:
                return mine
        return []
    return [(part, member) for part, inner in found for member in best(inner.members, lab, kernel)]


def decide(taken: Taken, submission: Submission, kernel: str, candidates: list[tuple[Part, Member]], most_kib: int) -> None:
    """Takes the file. Equal ones are one; of others the newest counts, if the times say which it is."""
    several = len({part.path for part, _ in candidates}) > 1
    readable: list[tuple[Part, Member, bytes, str]] = []
    for part, member in candidates[:TRIED]:
        where = spelled(part, member, several)
        try:
            readable.append((part, member, checked(member.read(most_kib * 1024), most_kib, where), where))
        except IngestError as error:
            taken.problem = str(error)
    if not readable:
        return
    readable.sort(key=lambda entry: -entry[1].when)
    part, member, source, where = readable[0]
    if len({text for _, _, text, _ in readable}) > 1:
        second = next(entry for entry in readable if entry[2] != source)
        if member.when - second[1].when <= SAME_TIME or len(candidates) > TRIED:
            taken.problem = f"{kernel} is there more than once, as {where} and {second[3]}: hand in one"
            return
        submission.notes.append(f"has {kernel} more than once: {where} was taken, which is newer than {second[3]}")
    taken.source, taken.path, taken.problem = source, where, ""
    taken.handed_in = part.when
    if member.when > 0:
        taken.file_time = datetime.fromtimestamp(member.when).astimezone().isoformat(timespec="seconds")


def spelled(part: Part, member: Member, several: bool) -> str:
    """A file's path, with its entry of the folder where a student has several."""
    return f"{shown(part.path.name)}: {member.path}" if several and not part.file else member.path


def passed_over(candidates: list[tuple[Part, Member]], lab: str, kernel: str, found: list[tuple[Part, Found]]) -> list[tuple[Part, Member]]:
    """What else has the lab's name in the parts that the candidates come from: files whose place fits less well."""
    parts, chosen = {id(part) for part, _ in candidates}, {id(member) for _, member in candidates}
    return [(part, member) for part, inner in found if id(part) in parts for member in inner.members
            if id(member) not in chosen and rank(member.parts, lab, kernel) is not None]


def mention(taken: Taken, submission: Submission, kernel: str, others: list[tuple[Part, Member]], most_kib: int) -> None:
    """Says of the file that was taken that there are others with other text, which only their place has ruled out."""
    if taken.source is None:
        return
    differ = []
    for part, member in others[:TRIED]:
        try:
            if member.read(most_kib * 1024) == taken.source:
                continue
        except IngestError:
            pass
        differ.append((part, member))
    if differ:
        part, newest = max(differ, key=lambda entry: entry[1].when)
        newer = taken.file_time and newest.when - datetime.fromisoformat(taken.file_time).timestamp() > SAME_TIME
        other = spelled(part, newest, len(submission.parts) > 1) + (", which is newer," if newer else "")
        submission.notes.append(f"has {kernel} more than once: {taken.path} was taken for its place; {other} has another text"
                                + (f", and so have {len(differ) - 1} more" if len(differ) > 1 else ""))


def checked(source: bytes, most_kib: int, path: str) -> bytes:
    if len(source) > most_kib * 1024:
        raise IngestError(f"{path} is larger than {most_kib} KiB, the limit for a kernel file")
    if b"\0" in source:
        raise IngestError(f"{path} is not a text file" + (" in UTF-8 but in UTF-16: save it as UTF-8" if source[:2] in (b"\xff\xfe", b"\xfe\xff") else ""))
    return source


__all__ = ["ENDINGS", "IngestError", "Submission", "Taken", "checked", "find", "is_archive", "safe_id", "shown", "take"]
