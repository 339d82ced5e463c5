"""Takes the kernel files of the labs, and nothing else, out of what a student handed in: a folder, or an archive (.zip, .tar, .tar.gz,
.tgz). Archives are read, never unpacked. Whatever is odd about a file costs that lab alone and is said in one line."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import stat
import tarfile
import unicodedata
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

MIB = 1 << 20
ENDINGS = (".zip", ".tar.gz", ".tgz", ".tar")
DEPTH = 12  # folders in folders
IGNORED = {"solutions", "broken", "__MACOSX", ".git", "build"}  # folders whose files are no submission
NO_STUDENTS = {"__pycache__", "__MACOSX"}  # folders that Python and unpackers leave beside submissions


class IngestError(Exception):
    """Why a submission cannot be read at all."""


@dataclass
class Taken:
    """What was found for one lab: its text, or why there is none."""

    source: bytes | None = None
    path: str = ""  # in the submission
    problem: str = ""


@dataclass
class Submission:
    name: str  # as the folder or archive is called, fit to be shown
    id: str  # letters, digits, '-', '_': a file name anywhere
    path: Path
    labs: dict[str, Taken] = field(default_factory=dict)

    def digest(self) -> str:
        sha = hashlib.sha256(self.name.encode())
        for lab, taken in sorted(self.labs.items()):
            sha.update(f"\0{lab}\0{taken.problem}\0{taken.path}\0".encode())
            sha.update(hashlib.sha256(taken.source or b"").digest())
        return sha.hexdigest()


def shown(text: str) -> str:
    """Text of a submission in one line without control characters or broken code points."""
    return "".join(c if c.isprintable() else "?" for c in text.encode("utf-8", "replace").decode())[:200]


def safe_id(name: str) -> str:
    """A file name for a student's name. Different names get different ones."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^A-Za-z0-9_]+", "-", plain).strip("-_")[:60]
    digest = hashlib.sha256(os.fsencode(name)).hexdigest()[:8]
    return slug if slug == name else f"{slug or 'student'}-{digest}"


def without_ending(name: str) -> str:
    for ending in ENDINGS:
        if name.lower().endswith(ending):
            return name[: -len(ending)]
    return name


def find(folder: Path) -> tuple[list[Submission], list[str]]:
    """The submissions of a class, by name, and the names of entries that are none. Raises IngestError."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: os.fsencode(entry.name))
    except OSError as error:
        raise IngestError(f"{folder}: {error.strerror}") from None
    submissions, others, used = [], [], set()
    for entry in entries:
        archive = entry.name.lower().endswith(ENDINGS)
        if entry.name.startswith(".") or entry.name in NO_STUDENTS or not (archive or entry.is_dir(follow_symlinks=False) or entry.is_symlink()):
            others.append(shown(entry.name))
            continue
        name = without_ending(entry.name) if archive else entry.name
        identity = safe_id(name)
        if identity.lower() in used:  # ann/ and ann.zip: both are graded
            name = entry.name
            identity = f"{identity[:60]}-{hashlib.sha256(os.fsencode(entry.name)).hexdigest()[:8]}"
        used.add(identity.lower())
        submissions.append(Submission(shown(name), identity, Path(entry.path)))
    return submissions, others


# ---- Which file is a lab's? ----------------------------------------------------------------------

def rank(parts: tuple[str, ...], lab: str, kernel: str) -> int | None:
    """How well a path inside a submission fits a lab's kernel, 0 best: labs/<lab>/<kernel>, <lab>/<kernel>, <kernel>, each also below
    other folders. None: not at all."""
    if not parts or parts[-1] != kernel or IGNORED.intersection(parts[:-1]):
        return None
    if parts[-3:-1] == ("labs", lab):
        return 0
    if parts[-2:-1] == (lab,):
        return 1
    return None if len(parts) > 1 and re.fullmatch(r"lab\d\d_\w+", parts[-2]) else 2


def choose(candidates: list[tuple[str, ...]], lab: str, kernel: str) -> tuple[tuple[str, ...] | None, str]:
    """The path to take, or why none."""
    ranked = sorted((rank(parts, lab, kernel), len(parts), parts) for parts in candidates if rank(parts, lab, kernel) is not None)
    if not ranked:
        return None, f"{kernel} is not in the submission"
    best = [parts for place, depth, parts in ranked if (place, depth) == ranked[0][:2]]
    if len(best) > 1:
        names = " and ".join(shown("/".join(parts)) for parts in best[:2])
        return None, f"{kernel} is there more than once, as {names}: hand in one"
    return best[0], ""


def take(submission: Submission, labs: dict[str, str], limits: dict[str, int]) -> None:
    """Fills submission.labs. labs: lab -> name of its kernel file."""
    try:
        reader = open_submission(submission.path, limits)
    except IngestError as error:
        submission.labs = {lab: Taken(problem=str(error)) for lab in labs}
        return
    with reader:
        try:
            names = reader.names()
        except IngestError as error:
            submission.labs = {lab: Taken(problem=str(error)) for lab in labs}
            return
        for lab, kernel in labs.items():
            parts, problem = choose(names, lab, kernel)
            taken = Taken(path=shown("/".join(parts)) if parts else "", problem=problem)
            if parts:
                try:
                    taken.source = checked(reader.read(parts, limits["source_kib"] * 1024), limits["source_kib"], taken.path)
                except IngestError as error:
                    taken.problem = str(error)
            submission.labs[lab] = taken


def checked(source: bytes, most_kib: int, path: str) -> bytes:
    if len(source) > most_kib * 1024:
        raise IngestError(f"{path} is larger than {most_kib} KiB, the limit for a kernel file")
    if b"\0" in source:
        raise IngestError(f"{path} is not a text file")
    return source


# ---- Folders -------------------------------------------------------------------------------------

class Folder:
    def __init__(self, path: Path, limits: dict[str, int]):
        self.path, self.most = path, limits["files"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def names(self) -> list[tuple[str, ...]]:
        found: list[tuple[str, ...]] = []
        todo: list[tuple[str, ...]] = [()]
        looked_at = 0
        while todo:
            below = todo.pop()
            try:
                entries = sorted(os.scandir(self.path.joinpath(*below)), key=lambda entry: os.fsencode(entry.name))
            except OSError:
                continue
            for entry in entries:
                looked_at += 1
                if looked_at > self.most:
                    raise IngestError(f"the submission has more than {self.most} files")
                parts = (*below, entry.name)
                if entry.is_dir(follow_symlinks=False):
                    if len(parts) < DEPTH:
                        todo.append(parts)
                else:
                    found.append(parts)
        return found

    def read(self, parts: tuple[str, ...], most: int) -> bytes:
        name = shown("/".join(parts))
        path = self.path.joinpath(*parts)
        try:
            kind = os.lstat(path).st_mode
            if not stat.S_ISREG(kind):
                what = {stat.S_IFLNK: "a symbolic link", stat.S_IFIFO: "a FIFO", stat.S_IFSOCK: "a socket"}.get(stat.S_IFMT(kind), "a device")
                raise IngestError(f"{name} is {what}: hand in the file itself")
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(descriptor, "rb") as file:
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    raise IngestError(f"{name} is not a regular file")
                return file.read(most + 1)
        except OSError as error:
            raise IngestError(f"{name} cannot be read: {error.strerror}") from None


# ---- Archives ------------------------------------------------------------------------------------

def member_parts(name: str) -> tuple[str, ...] | None:
    """The path of an archive's member; None if it leaves the archive."""
    name = name.replace("\\", "/")
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or re.match(r"[A-Za-z]:", name) or len(path.parts) > DEPTH:
        return None
    return tuple(part for part in path.parts if part != ".")


class Zip:
    def __init__(self, path: Path, limits: dict[str, int]):
        self.limits = limits
        self.file = open_regular(path, limits)
        try:
            self.archive = zipfile.ZipFile(self.file)
        except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError, OverflowError) as error:
            self.file.close()
            raise IngestError(f"the archive cannot be read: {shown(str(error))}") from None
        self.members: dict[tuple[str, ...], zipfile.ZipInfo] = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.archive.close()
        self.file.close()

    def names(self) -> list[tuple[str, ...]]:
        members = self.archive.infolist()
        if len(members) > self.limits["files"]:
            raise IngestError(f"the archive has more than {self.limits['files']} files")
        found = []
        for member in members:
            parts = member_parts(member.filename)
            if parts and not member.is_dir():
                found.append(parts)  # one name twice: choose() sees both
                self.members[parts] = member
        return found

    def read(self, parts: tuple[str, ...], most: int) -> bytes:
        member, name = self.members[parts], shown("/".join(parts))
        kind = member.external_attr >> 16
        if stat.S_IFMT(kind) not in (0, stat.S_IFREG):
            what = "a symbolic link" if stat.S_ISLNK(kind) else "not a regular file"
            raise IngestError(f"{name} is {what}: hand in the file itself")
        if member.flag_bits & 1:
            raise IngestError(f"{name} is encrypted")
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise IngestError(f"{name} is compressed in a way that is not read here: use plain zip")
        try:
            with self.archive.open(member) as file:
                return file.read(most + 1)  # as much as this is unpacked, whatever the archive says about sizes
        except (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError, NotImplementedError, ValueError) as error:
            raise IngestError(f"{name} cannot be unpacked: {shown(str(error))}") from None


class Bounded:
    """A stream that ends with an error after so many bytes: what an archive unpacks to has no limit of its own."""

    def __init__(self, file, most: int):
        self.file, self.left, self.most = file, most, most

    def read(self, size: int = -1) -> bytes:
        data = self.file.read(self.left + 1 if size < 0 else min(size, self.left + 1))
        self.left -= len(data)
        if self.left < 0:
            raise IngestError(f"the archive unpacks to more than {self.most // MIB} MiB")
        return data


class Tar:
    """Read from front to end once, since it may be compressed: what might be a kernel is kept."""

    def __init__(self, path: Path, limits: dict[str, int]):
        self.limits = limits
        self.kept: dict[tuple[str, ...], bytes | str] = {}
        self.found: list[tuple[str, ...]] = []
        most, kernel = limits["archive_mib"] * MIB, limits["source_kib"] * 1024
        try:
            with open_regular(path, limits) as raw:
                packed = raw.read(2) == b"\x1f\x8b"
                raw.seek(0)
                stream = Bounded(gzip.GzipFile(fileobj=raw) if packed else raw, most)
                with tarfile.open(fileobj=stream, mode="r|", ignore_zeros=False) as archive:
                    for number, member in enumerate(archive):
                        if number >= limits["files"]:
                            raise IngestError(f"the archive has more than {limits['files']} files")
                        parts = member_parts(member.name)
                        if not parts or member.isdir() or not parts[-1].endswith(".cu"):
                            continue
                        self.found.append(parts)
                        if member.isreg() and not member.issparse():
                            file = archive.extractfile(member)
                            self.kept[parts] = file.read(kernel + 1) if file else b""
                        else:
                            self.kept[parts] = "a link" if member.issym() or member.islnk() else "not a regular file"
        except IngestError:
            raise
        except (tarfile.TarError, OSError, EOFError, zlib.error, ValueError, OverflowError, MemoryError, RecursionError) as error:
            raise IngestError(f"the archive cannot be read: {shown(str(error))}") from None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def names(self) -> list[tuple[str, ...]]:
        return self.found

    def read(self, parts: tuple[str, ...], most: int) -> bytes:
        kept = self.kept[parts]
        if isinstance(kept, str):
            raise IngestError(f"{shown('/'.join(parts))} is {kept}: hand in the file itself")
        return kept


def open_regular(path: Path, limits: dict[str, int]):
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise IngestError(f"the archive cannot be opened: {error.strerror}") from None
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_size > limits["archive_mib"] * MIB:
        os.close(descriptor)
        raise IngestError("the archive is not a regular file" if not stat.S_ISREG(status.st_mode)
                          else f"the archive is larger than {limits['archive_mib']} MiB")
    return os.fdopen(descriptor, "rb")


def open_submission(path: Path, limits: dict[str, int]) -> Folder | Zip | Tar:
    kind = os.lstat(path).st_mode
    if stat.S_ISLNK(kind):
        raise IngestError("the submission is a symbolic link: hand in the folder or the archive itself")
    if stat.S_ISDIR(kind):
        return Folder(path, limits)
    return Zip(path, limits) if path.name.lower().endswith(".zip") else Tar(path, limits)
