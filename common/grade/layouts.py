"""Who handed in what: the entries of SUBMISSIONS, as the learning platforms lay them out, put together student by student.

    a folder or an archive per student      its name is the student's
    Moodle       Jane Doe_1234_assignsubmission_file_/..., or without folders Jane Doe_1234_assignsubmission_file_kernel.cu
    Canvas       doejane_12_345_kernel.cu, doejane_LATE_12_345_kernel-1.cu (its own number for a file handed in again)
    Blackboard   Lab 2_jdoe_attempt_2026-01-15-10-20-30_kernel.cu, with a text file that has the full name
    Gradescope   submission_123/ with submission_metadata.yml beside them, which has names, ids and times
    GitHub Classroom   lab-2-submissions/lab-2-jdoe/

Everything that belongs to one student is one submission, however many entries it is; what had to be decided is in its notes.
"""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

from archives import IngestError, is_archive, is_closed_archive, shown, why_closed, without_ending
from escape import looks_like_a_number

JUNK = {"__pycache__", "__MACOSX", "Thumbs.db", "desktop.ini"}  # what Python, unpackers and file managers leave; and what begins with a dot
METADATA = "submission_metadata.yml"
MOODLE = re.compile(r"(?P<name>.+?)(?:_(?P<number>\d+))?_assignsubmission_(?P<kind>[a-z]+)(?:_(?P<file>.*))?", re.DOTALL)
CANVAS = re.compile(r"(?P<name>\w+?)(?P<late>_LATE)?_(?P<number>\d+)_\d+_(?P<file>.+)", re.DOTALL)
CANVAS_ANONYMOUS = re.compile(r"(?P<late>LATE_)?(?P<name>anon_[A-Za-z0-9]+)_\d+_(?P<file>.+)", re.DOTALL)
CANVAS_TEXT = re.compile(r"(?P<name>\w+?)(?P<late>_LATE)?_(?P<number>\d+)_(?P<file>(?:text|link)\.html)")
CANVAS_AGAIN = re.compile(r"-(?:\d|[0-9a-f]{8}-[0-9a-f-]{27})(?=\.[A-Za-z0-9.]+$)")
BLACKBOARD = re.compile(r"(?P<task>.+)_(?P<name>[^_]+)_attempt_(?P<when>\d{4}(?:-\d\d){5})(?:_(?P<file>.+)|\.txt)", re.DOTALL)


@dataclass(frozen=True)
class Person:
    """As the platform knows a student, for the file that goes back to it."""

    name: str
    number: str = ""  # Moodle's participant, Canvas's user, a student number in Gradescope
    login: str = ""
    email: str = ""


@dataclass(frozen=True)
class Part:
    """An entry of SUBMISSIONS: a folder, an archive, or a single file and what the student called it."""

    path: Path
    file: str = ""  # a loose file's own name
    when: str = ""  # handed in, in ISO's form, where the platform says so


@dataclass
class HandIn:
    """Everything of one student."""

    name: str
    system: str = ""  # "Moodle", "Canvas", ...
    parts: list[Part] = field(default_factory=list)
    people: list[Person] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    late: bool = False  # the platform says so, and not by how much


def safe_id(name: str) -> str:
    """A file name for a student's name. Different names get different ones, and none looks like a number or a date, which a spreadsheet
    would change."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^A-Za-z0-9_]+", "-", plain).strip("-_")[:60]
    digest = hashlib.sha256(os.fsencode(name)).hexdigest()[:8]
    return slug if slug == name and not looks_like_a_number(slug) else f"{slug or 'student'}-x{digest}"


def local(stamp: str, style: str) -> str:
    """A time without a zone is that of this machine."""
    try:
        return datetime.strptime(stamp, style).astimezone().isoformat(timespec="seconds")
    except ValueError:
        return ""


def settle(folder: Path) -> Path:
    """Where the entries are: unpacking makes a folder of the archive's name, sometimes twice."""
    for _ in range(3):
        try:
            entries = [entry for entry in os.scandir(folder) if not entry.name.startswith(".") and entry.name not in JUNK]
        except OSError as error:
            raise IngestError(f"{folder}: {error.strerror}") from None
        if len(entries) != 1 or not entries[0].is_dir(follow_symlinks=False):
            break
        inner = Path(entries[0].path)
        names = [entry.name for entry in os.scandir(inner)]
        if not (METADATA in names or inner.name == folder.name or any(platform_of(name) for name in names) or inner.name.endswith("-submissions")):
            break
        folder = inner
    return folder


def platform_of(name: str) -> re.Match | None:
    for pattern in (MOODLE, BLACKBOARD, CANVAS, CANVAS_ANONYMOUS, CANVAS_TEXT):
        if found := pattern.fullmatch(name):
            return found
    return None


def hand_ins(folder: Path) -> tuple[list[HandIn], list[str]]:
    """Those of a class, by name, and the names of entries that belong to nobody. Raises IngestError."""
    if folder.is_file():
        raise IngestError(f"{folder} is a file: unpack it first, into an empty folder (unzip '{folder}' -d submissions), and name the folder")
    folder = settle(folder)
    entries = sorted(os.scandir(folder), key=lambda entry: os.fsencode(entry.name))
    metadata = gradescope_metadata(folder / METADATA) if (folder / METADATA).is_file() else {}
    slug = folder.name.removesuffix("-submissions") + "-" if folder.name.endswith("-submissions") else ""
    students: dict[tuple[str, ...], HandIn] = {}
    others: list[str] = []

    def add(key: tuple[str, ...], system: str, person: Person, part: Part | None, late: bool = False) -> HandIn:
        hand_in = students.setdefault(key, HandIn(person.name, system, people=[person]))
        if part:
            hand_in.parts.append(part)
        hand_in.late = hand_in.late or late
        return hand_in

    for entry in entries:
        name, path = unicodedata.normalize("NFC", entry.name), Path(entry.path)
        is_folder = entry.is_dir(follow_symlinks=False)
        if entry.name.startswith(".") or entry.name in JUNK or entry.name == METADATA:
            if entry.name != METADATA:
                others.append(shown(entry.name))
        elif found := MOODLE.fullmatch(name):
            person = Person(shown(found["name"]), found["number"] or "")
            wanted = found["kind"] == "file"  # not the text that was typed beside it
            add(("Moodle", person.name, person.number), "Moodle", person, (Part(path, "" if is_folder else found["file"] or name) if wanted else None))
        elif not is_folder and (found := BLACKBOARD.fullmatch(name)):
            person = Person(shown(found["name"]), login=shown(found["name"]))
            part = Part(path, found["file"], local(found["when"], "%Y-%m-%d-%H-%M-%S")) if found["file"] else None
            hand_in = add(("Blackboard", person.login), "Blackboard", person, part)
            if not found["file"] and (full := full_name(path)):
                hand_in.name, hand_in.people = f"{full} ({person.login})", [Person(full, login=person.login)]
        elif not is_folder and (found := CANVAS_ANONYMOUS.fullmatch(name) or CANVAS.fullmatch(name) or CANVAS_TEXT.fullmatch(name)):
            number = found.groupdict().get("number") or ""
            person = Person(shown("_".join(filter(None, (found["name"], number)))), number)
            own = CANVAS_AGAIN.sub("", found["file"])
            add(("Canvas", person.name), "Canvas", person, Part(path, own) if not own.endswith(".html") else None, bool(found["late"]))
        elif is_folder and entry.name in metadata:
            people, when = metadata[entry.name]
            joined = ", ".join(person.name for person in people) or entry.name
            key = ("Gradescope", *sorted(person.number or person.email or person.name for person in people)) if people else ("Gradescope", entry.name)
            add(key, "Gradescope", Person(joined), Part(path, when=when)).people = people or [Person(joined)]
        elif is_folder or entry.is_symlink() or is_archive(name) or is_closed_archive(name):
            own = name if is_folder else without_ending(name)
            system = ""
            if slug != "-" and slug and own.startswith(slug) and len(own) > len(slug):
                own, system = own[len(slug):], "GitHub Classroom"
            add(("", own), system, Person(shown(own), login=shown(own) if system else ""), Part(path))
        else:
            others.append(shown(entry.name))
    merge_downloads(students)
    for hand_in in students.values():
        finish(hand_in)
    return [students[key] for key in sorted(students, key=lambda key: (students[key].name.casefold(), key))], others


def merge_downloads(students: dict[tuple[str, ...], HandIn]) -> None:
    """"leo (1).zip" beside "leo.zip" is what a browser calls the second download."""
    for key in list(students):
        found = re.fullmatch(r"(?P<name>.+?) ?\(\d{1,2}\)", key[-1]) if key[0] == "" else None
        if found and ("", found["name"]) in students:
            students["", found["name"]].parts += students.pop(key).parts


def finish(hand_in: HandIn) -> None:
    """What had to be decided, in words."""
    whole = [part for part in hand_in.parts if not part.file]
    if len(whole) > 1 and not any(part.when for part in whole):
        hand_in.notes.append("is one student, who is there as " + " and ".join(shown(part.path.name) for part in whole))
    attempts = sorted({part.when for part in hand_in.parts if part.when})
    if len(attempts) > 1:
        hand_in.notes.append(f"handed in {len(attempts)} times; of each file the last one counts")
    if hand_in.late:
        hand_in.notes.append(f"{hand_in.system} says that this is late, and not by how much: say so with make decide LATE_DAYS=...")
    hand_in.notes += [why_closed(part.file or part.path.name) for part in hand_in.parts if is_closed_archive(part.file or part.path.name)]


def full_name(path: Path) -> str:
    """Of the text file that Blackboard adds: "Name: Jane Doe (jdoe)"."""
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            found = re.search(r"(?m)^Name:[ \t]*(.+?)[ \t]*(?:\([^()]*\))?[ \t]*$", file.read(4096))
    except OSError:
        return ""
    return shown(found[1]) if found else ""


def gradescope_metadata(path: Path) -> dict[str, tuple[list[Person], str]]:
    """Folder -> who handed it in, and when. The few lines of the file that this takes are read without a YAML library: keys of Ruby
    symbols, texts plain or quoted."""

    def text(value: str) -> str:
        value = value.strip()
        if len(value) > 1 and value[0] == value[-1] == "'":
            return shown(value[1:-1].replace("''", "'"))
        if len(value) > 1 and value[0] == value[-1] == '"':
            return shown(re.sub(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(.))", lambda m: chr(int(m[1] or m[2], 16)) if m[1] or m[2] else m[3], value[1:-1]))
        return "" if value in ("", "~", "null") else shown(value)

    found: dict[str, tuple[list[Person], str]] = {}
    folder, people, when, inside = "", [], "", ""

    def done() -> None:
        if folder:
            found[folder] = ([Person(p.get("name", "") or p.get("email", "") or p.get("sid", ""), p.get("sid", ""), email=p.get("email", "")) for p in people], when)

    with path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            if top := re.match(r"""(['"]?)(submission_\w+)\1:\s*$""", line):
                done()
                folder, people, when, inside = top[2], [], "", ""
            elif key := re.match(r"  :(\w+):\s*(.*)$", line):
                inside = key[1]
                if inside == "created_at" and (stamp := re.match(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.\d+)? (Z|[+-]\d\d:?\d\d)", key[2].strip("'\""))):
                    zone = "+0000" if stamp[3] == "Z" else stamp[3].replace(":", "")
                    when = datetime.strptime(f"{stamp[1]} {stamp[2]} {zone}", "%Y-%m-%d %H:%M:%S %z").astimezone(timezone.utc).isoformat(timespec="seconds")
            elif inside == "submitters" and (field_ := re.match(r"\s+(- )?:(\w+):\s*(.*)$", line)):
                if field_[1] or not people:
                    people.append({})
                people[-1][field_[2]] = text(field_[3])
    done()
    return found

