"""What is in a folder or an archive that a stranger handed in: names, times, and on demand the bytes of a file. Archives are read, never
unpacked; one inside another counts as a folder of its name. All sizes are bounded, whatever an archive says about itself."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import stat
import tarfile
import time
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

MIB = 1 << 20
ENDINGS = (".zip", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".tar")
NOT_READ = (".7z", ".rar", ".zipx", ".gz", ".bz2", ".xz", ".zst", ".lz", ".lzma", ".cab", ".iso", ".dmg", ".jar")
HAND_IN = "hand in a .zip or a .tar.gz"
MAGIC = ((b"7z\xbc\xaf\x27\x1c", "a 7z archive"), (b"Rar!\x1a\x07", "a RAR archive"), (b"%PDF", "a PDF"), (b"\xd0\xcf\x11\xe0", "an Office document"),
         (b"<!DOCTYPE", "a web page"), (b"<html", "a web page"))
DEPTH = 12  # folders in folders
NESTED_DEPTH, NESTED = 2, 20  # archives in archives, and how many of them are looked into
BROKEN = (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, OSError, EOFError, ValueError, OverflowError, MemoryError,
          RecursionError, NotImplementedError, RuntimeError)


class IngestError(Exception):
    """Why a submission, or a file of it, cannot be read."""


@dataclass(frozen=True)
class Member:
    """A file."""

    parts: tuple[str, ...]  # its path
    when: float  # its last change, in seconds since 1970; 0 if that is not known
    read: Callable[[int], bytes]  # at most so many bytes and one more; raises IngestError

    @property
    def path(self) -> str:
        return shown("/".join(self.parts))


@dataclass
class Found:
    """What a folder or archive holds."""

    members: list[Member] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)  # archives in it that could not be looked into, each with the reason
    outside: list[str] = field(default_factory=list)  # what was left out for its path, in words

    def leads_out(self, name: str) -> None:
        self.outside.append(f"{shown(name)} in the archive has a path that leads out of it, or is too deep, and was left out: pack the folder itself again")


def shown(text: str) -> str:
    """Text of a submission in one line without control characters or broken code points."""
    return "".join(c if c.isprintable() else "?" for c in text.encode("utf-8", "replace").decode())[:200]


def is_archive(name: str) -> bool:
    return name.lower().endswith(ENDINGS)


def is_closed_archive(name: str) -> bool:
    return name.lower().endswith(NOT_READ) and not is_archive(name)


def without_ending(name: str) -> str:
    for ending in (*ENDINGS, *NOT_READ):
        if name.lower().endswith(ending) and len(name) > len(ending):
            return name[: -len(ending)]
    return name


def why_closed(name: str) -> str:
    return f"{shown(name)} is an archive of a kind that is not read here: {HAND_IN}"


class Reader:
    """Looks into one submission within its limits: `files` entries, `archive_mib` of archives, kernels of `source_kib`."""

    def __init__(self, limits: dict[str, int]):
        self.limits = limits
        self.entries_left, self.archives_left = limits["files"], NESTED
        self.most = self.nested_left = limits["archive_mib"] * MIB

    def look_into(self, path: Path) -> Found:
        """A folder or an archive. Raises IngestError."""
        try:
            kind = os.lstat(path).st_mode
        except OSError as error:
            raise IngestError(f"the submission cannot be read: {error.strerror}") from None
        if stat.S_ISLNK(kind):
            raise IngestError("the submission is a symbolic link: hand in the folder or the archive itself")
        if stat.S_ISDIR(kind):
            return self._folder(path)
        if is_closed_archive(path.name):
            raise IngestError(why_closed(path.name))
        found = Found()
        self._archive(path.name, read_regular(path, self.most, "the archive", whole=True), (), found, 0)
        return found

    def file(self, path: Path, name: str) -> Member:
        """A loose file, under the name that the student gave it."""
        try:
            when = os.lstat(path).st_mtime
        except OSError:
            when = 0.0
        return Member((name,), when, lambda most: read_regular(path, most + 1, name)[: most + 1])

    def inside(self, member: Member, found: Found, depth: int = 1) -> None:
        """Adds what an archive among the members holds; if it cannot be read, the reason to found.closed."""
        name = member.parts[-1]
        if is_closed_archive(name):
            found.closed.append(why_closed(member.path))
        elif is_archive(name) and depth <= NESTED_DEPTH and not name.startswith("._"):
            self.archives_left -= 1
            try:
                if self.archives_left < 0:
                    raise IngestError(f"more than {NESTED} archives are in the submission")
                data = member.read(self.nested_left)
                if len(data) > self.nested_left:
                    raise IngestError(f"the archives in the submission are larger than {self.most // MIB} MiB together")
                self.nested_left -= len(data)
                self._archive(name, data, member.parts, found, depth)
            except IngestError as error:
                found.closed.append(f"{member.path}: {error}")

    def _count(self, what: str) -> None:
        self.entries_left -= 1
        if self.entries_left < 0:
            raise IngestError(f"{what} has more than {self.limits['files']} files")

    # ---- Folders -----------------------------------------------------------------------------------

    def _folder(self, root: Path) -> Found:
        found = Found()
        todo: list[tuple[str, ...]] = [()]
        while todo:
            below = todo.pop()
            try:
                entries = sorted(os.scandir(root.joinpath(*below)), key=lambda entry: os.fsencode(entry.name))
            except OSError:
                continue
            for entry in entries:
                self._count("the submission")
                parts = (*below, entry.name)
                if entry.is_dir(follow_symlinks=False):
                    if len(parts) < DEPTH:
                        todo.append(parts)
                    continue
                try:
                    when = entry.stat(follow_symlinks=False).st_mtime
                except OSError:
                    when = 0.0
                path, name = root.joinpath(*parts), shown("/".join(parts))
                found.members.append(Member(parts, when, lambda most, path=path, name=name: read_regular(path, most + 1, name)[: most + 1]))
        for member in list(found.members):
            self.inside(member, found)
        return found

    # ---- Archives ----------------------------------------------------------------------------------

    def _archive(self, name: str, data: bytes, below: tuple[str, ...], found: Found, depth: int) -> None:
        for magic, what in MAGIC:
            if data.startswith(magic):
                raise IngestError(f"{shown(name)} is {what}, whatever its name says: {HAND_IN}")
        try:
            inner = self._zip(data, below, found) if name.lower().endswith(".zip") else self._tar(data, below, found)
        except IngestError:
            raise
        except BROKEN as error:
            raise IngestError(f"the archive cannot be read: {shown(str(error) or type(error).__name__)}") from None
        found.members += inner
        for member in inner:
            self.inside(member, found, depth + 1)

    def _zip(self, data: bytes, below: tuple[str, ...], found: Found) -> list[Member]:
        archive = zipfile.ZipFile(io.BytesIO(data))
        members = []
        for entry in archive.infolist():
            self._count("the archive")
            parts = member_parts(zip_name(entry))
            if parts is None:
                found.leads_out(zip_name(entry))
            if not parts or entry.is_dir():
                continue
            try:
                when = time.mktime((*entry.date_time, 0, 0, -1))
            except (ValueError, OverflowError):
                when = 0.0
            where = (*below, *parts)
            members.append(Member(where, when, lambda most, entry=entry, where=where: read_zipped(archive, entry, shown("/".join(where)), most)))
        return members

    def _tar(self, data: bytes, below: tuple[str, ...], found: Found) -> list[Member]:
        """Read from front to end once, since it may be compressed: what might be wanted is kept."""
        raw = io.BytesIO(data)
        opened = (gzip.GzipFile(fileobj=raw) if data[:2] == b"\x1f\x8b" else bz2.BZ2File(raw) if data[:3] == b"BZh"
                  else lzma.LZMAFile(raw) if data[:6] == b"\xfd7zXZ\0" else raw)
        members = []
        with tarfile.open(fileobj=Bounded(opened, self.most), mode="r|", ignore_zeros=False) as archive:
            for entry in archive:
                self._count("the archive")
                parts = member_parts(entry.name)
                if parts is None:
                    found.leads_out(entry.name)
                if not parts or entry.isdir():
                    continue
                where = (*below, *parts)
                name, kept = shown("/".join(where)), b""
                if entry.isreg() and not entry.issparse():
                    file = archive.extractfile(entry)
                    most = self.most if is_archive(parts[-1]) else self.limits["source_kib"] * 1024
                    kept = file.read(most + 1) if file and (is_archive(parts[-1]) or ".cu" in parts[-1].lower()) else b""
                    members.append(Member(where, float(entry.mtime), lambda most, kept=kept: kept[: most + 1]))
                else:
                    why = f"{name} is {'a link' if entry.issym() or entry.islnk() else 'not a regular file'}: hand in the file itself"
                    members.append(Member(where, float(entry.mtime), lambda most, why=why: refuse(why)))
        return members


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


def refuse(why: str) -> bytes:
    raise IngestError(why)


def zip_name(entry: zipfile.ZipInfo) -> str:
    """Without the flag for UTF-8 a name is in an old code page by the standard; macOS and many servers write UTF-8 all the same."""
    if entry.flag_bits & 0x800:
        return entry.filename
    try:
        return entry.orig_filename.split("\0")[0].encode("cp437").decode("utf-8")
    except (UnicodeEncodeError, UnicodeDecodeError):
        return entry.filename


def member_parts(name: str) -> tuple[str, ...] | None:
    """The path of an archive's member; None if it leaves the archive. Windows writes some with backslashes."""
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or re.match(r"[A-Za-z]:", name) or len(path.parts) > DEPTH:
        return None
    return tuple(part for part in path.parts if part != ".")


def read_zipped(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str, most: int) -> bytes:
    kind = entry.external_attr >> 16
    if stat.S_IFMT(kind) not in (0, stat.S_IFREG):
        raise IngestError(f"{name} is {'a symbolic link' if stat.S_ISLNK(kind) else 'not a regular file'}: hand in the file itself")
    if entry.flag_bits & 1:
        raise IngestError(f"{name} is encrypted: hand in an archive without a password")
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise IngestError(f"{name} is compressed in a way that is not read here: use plain zip")
    try:
        with archive.open(entry) as file:
            return file.read(most + 1)  # as much as this is unpacked, whatever the archive says about sizes
    except BROKEN as error:
        raise IngestError(f"{name} cannot be unpacked: {shown(str(error))}") from None


def read_regular(path: Path, most: int, name: str, whole: bool = False) -> bytes:
    """At most so many bytes of a regular file; if it must be whole, all or none. Raises IngestError."""
    try:
        kind = os.lstat(path).st_mode
        if not stat.S_ISREG(kind):
            what = {stat.S_IFLNK: "a symbolic link", stat.S_IFIFO: "a FIFO", stat.S_IFSOCK: "a socket"}.get(stat.S_IFMT(kind), "a device")
            raise IngestError(f"{name} is {what}: hand in the file itself")
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise IngestError(f"{name} is not a regular file")
            if whole and status.st_size > most:
                raise IngestError(f"{name} is larger than {most // MIB} MiB")
            return file.read(most)
    except OSError as error:
        raise IngestError(f"{name} cannot be read: {error.strerror}") from None
