#!/usr/bin/env python3
"""Makes the submissions that cannot be files in git: links, FIFOs, devices, sockets, archives that leave their folder, archives
that unpack to gigabytes, names with control characters. Usage: make_hostile.py FOLDER (new)

Where a way in would work, the file behind it is the solution: points would show it.
"""

from __future__ import annotations

import io
import os
import shutil
import socket
import stat
import sys
import tarfile
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path

COURSE = Path(__file__).resolve().parents[3]
LAB, KERNEL = "lab02_smem", "softmax_smem.cu"
PLACE = f"labs/{LAB}/{KERNEL}"
SOLUTION = COURSE / "solutions" / LAB / KERNEL
MISSING = f"{KERNEL} is not in the submission"


@dataclass
class Declared:
    """What the lab of a submission must get; fields as in the headers of the corpus (corpus_entries.py)."""

    name: str  # how the folder or archive is called, without its ending
    entry: int
    expect: str = "fail"
    reason: str = ""
    most: float | None = 0.0
    lab: str = LAB
    never: list[str] = field(default_factory=list)


class Maker:
    def __init__(self, folder: Path):
        self.folder = folder
        self.solution = SOLUTION.read_bytes()
        self.declared: list[Declared] = []
        self.skipped: list[str] = []

    def says(self, name: str, entry: int, reason: str, **more) -> Path:
        self.declared.append(Declared(name, entry, reason=reason, **more))
        return self.folder / name

    def honest(self, name: str, **more) -> Path:
        return self.says(name, 0, "", expect="pass", most=None, **more)

    def lab_folder(self, name: str, entry: int, reason: str) -> Path:
        folder = self.says(name, entry, reason) / "labs" / LAB
        folder.mkdir(parents=True)
        return folder

    # ---- folders -------------------------------------------------------------------------------------

    def odd_files(self) -> None:
        link = f"{PLACE} is a symbolic link"
        (self.lab_folder("58_link_to_the_solution", 58, link) / KERNEL).symlink_to(SOLUTION)
        (self.lab_folder("58_link_to_passwd", 58, link) / KERNEL).symlink_to("/etc/passwd")
        (self.lab_folder("58_link_up_and_down", 58, link) / KERNEL).symlink_to("../../../../../" + "../" * 12 + str(SOLUTION)[1:])
        (self.lab_folder("58_link_to_itself", 58, link) / KERNEL).symlink_to(KERNEL)
        os.mkfifo(self.lab_folder("58_fifo", 58, f"{PLACE} is a FIFO") / KERNEL)
        (self.lab_folder("58_folder_in_its_place", 58, MISSING) / KERNEL).mkdir()
        place = self.lab_folder("58_socket", 58, f"{PLACE} is a socket")
        before = os.getcwd()
        os.chdir(place)  # a socket's path has at most 107 bytes
        try:
            with socket.socket(socket.AF_UNIX) as made:
                made.bind(KERNEL)
        finally:
            os.chdir(before)
        if os.geteuid() == 0:
            os.mknod(self.lab_folder("58_device", 58, f"{PLACE} is a device") / KERNEL, 0o666 | stat.S_IFCHR, os.makedev(1, 5))
        else:
            self.skipped.append("58_device: only root can make one")
        (self.says("58_link_as_folder", 58, MISSING)).mkdir()
        (self.folder / "58_link_as_folder" / "labs").symlink_to(COURSE / "solutions")
        self.says("58_link_as_submission", 58, "the submission is a symbolic link").symlink_to(COURSE)
        (self.lab_folder("58_not_a_text", 58, f"{PLACE} is not a text file") / KERNEL).write_bytes(self.solution + b"\0\x7fELF")
        (self.lab_folder("58_too_large", 58, "larger than") / KERNEL).write_bytes(self.solution + b"// " + b"x" * (1 << 20))
        (self.lab_folder("58_empty_file", 58, "it exports no variants") / KERNEL).write_bytes(b"")
        deep = self.says("58_deep_folders", 58, MISSING) / Path(*["d"] * 60)
        deep.mkdir(parents=True)
        (deep / KERNEL).write_bytes(self.solution)
        self.says("58_empty_folder", 58, MISSING).mkdir()

    def other_files(self) -> None:
        """Entries 45, 46: only the lab's own kernel file is taken; what else is there has no effect."""
        wrong = b'#include "rung.h"\ncudaError_t f(const float*, float*, int, int, cudaStream_t) { return cudaSuccess; }\n' \
                b'RUNG_EXPORT(rung::softmax("serial", f), rung::softmax("tree", f), rung::softmax("tree_f32x4", f))\n'
        folder = self.lab_folder("45_headers_that_shadow", 45, "")
        (folder / KERNEL).write_bytes(wrong)
        for path in (folder / "rung.h", folder / "cfloat", folder.parents[1] / "common/rung/rung.h",
                     folder.parents[1] / "common/simt/include/cuda_runtime.h"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f'#include "{SOLUTION}"\n')
        folder = self.lab_folder("46_edited_course", 46, "")
        (folder / KERNEL).write_bytes(wrong)
        for name, text in (("Makefile", "check:\n\t@echo 100 of 100 points\n"), ("common/build/rules.mk", "all:\n\ttrue\n"),
                           ("common/grade/points.toml", "[points]\ncorrectness = 0\n"), ("common/grade/check.py", "print('pass')\n"),
                           (f"labs/{LAB}/test.cpp", "int main() { return 0; }\n"), (f"solutions/{LAB}/{KERNEL}", "// none\n"),
                           ("grade.json", '{"points": 500}'), ("results.json", '{"score": 500}')):
            path = folder.parents[1] / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    # ---- archives ------------------------------------------------------------------------------------

    def zip(self, name: str, entry: int, reason: str, members: list[tuple[zipfile.ZipInfo | str, bytes]], **more) -> Path:
        path = self.says(name, entry, reason, **more).with_name(name + ".zip")
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for member, data in members:
                archive.writestr(member, data)
        return path

    def tar(self, name: str, entry: int, reason: str, members: list[tuple[tarfile.TarInfo | str, bytes]], ending: str = ".tar.gz", **more) -> Path:
        path = self.says(name, entry, reason, **more).with_name(name + ending)
        with tarfile.open(path, "w:gz" if ending.endswith("gz") else "w") as archive:
            for member, data in members:
                info = tarfile.TarInfo(member) if isinstance(member, str) else member
                if info.isreg():
                    info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
        return path

    @staticmethod
    def tar_entry(name: str, kind: bytes, target: str = "") -> tuple[tarfile.TarInfo, bytes]:
        info = tarfile.TarInfo(name)
        info.type, info.linkname, info.devmajor, info.devminor = kind, target, 1, 5
        return info, b""

    def paths_that_leave(self) -> None:
        up = "../" * 8 + "tmp/ladder_corpus_was_here/" + PLACE
        for ending, make in ((".zip", self.zip), (".tar.gz", self.tar)):
            kind = ending[1:].replace(".", "_")
            make(f"59_{kind}_leads_up", 59, MISSING, [(up, self.solution)])
            make(f"59_{kind}_absolute", 59, MISSING, [("/tmp/ladder_corpus_was_here/" + PLACE, self.solution)])
        self.zip("59_zip_drive_letter", 59, MISSING, [(f"C:\\temp\\labs\\{LAB}\\{KERNEL}", self.solution)])
        info = zipfile.ZipInfo(PLACE)
        info.create_system, info.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
        self.zip("59_zip_link", 59, "symbolic link", [(info, str(SOLUTION).encode())])
        self.tar("59_tar_link", 59, "a link", [self.tar_entry(PLACE, tarfile.SYMTYPE, str(SOLUTION))])
        self.tar("59_tar_hard_link", 59, "a link", [self.tar_entry(PLACE, tarfile.LNKTYPE, str(SOLUTION))])
        self.tar("59_tar_device", 59, "not a regular file", [self.tar_entry(PLACE, tarfile.CHRTYPE)])
        self.tar("59_tar_link_then_below", 59, MISSING, [self.tar_entry("way", tarfile.SYMTYPE, "/tmp"),
                                                         ("way/ladder_corpus_was_here.cu", self.solution)])

    def bombs(self) -> None:
        zeros = b"/" * (1 << 20)
        path = self.says("48_zip_bomb", 48, "larger than").with_name("48_zip_bomb.zip")
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open(PLACE, "w", force_zip64=True) as file:
            for _ in range(256):
                file.write(zeros)
        path = self.says("48_tar_bomb", 48, "unpacks to more than").with_name("48_tar_bomb.tar.gz")
        with tarfile.open(path, "w:gz", compresslevel=1) as archive:
            info = tarfile.TarInfo("first")
            info.size = 256 << 20
            archive.addfile(info, Repeated(zeros, info.size))
            info = tarfile.TarInfo(PLACE)
            info.size = len(self.solution)
            archive.addfile(info, io.BytesIO(self.solution))
        self.zip("48_zip_many_files", 48, "more than", [(f"f{i}", b"") for i in range(21000)] + [(PLACE, self.solution)])
        folder = self.says("48_folder_many_files", 48, "more than")
        folder.mkdir()
        for i in range(21000):
            (folder / f"f{i}").touch()
        # A size in the directory that is not the file's: what comes out counts.
        path = self.zip("48_zip_false_size", 48, "", [(PLACE, b"/" * (1 << 20))])
        data = bytearray(path.read_bytes())
        at = data.rindex(b"PK\x01\x02")
        data[at + 24: at + 28] = (10).to_bytes(4, "little")
        path.write_bytes(bytes(data))

    def broken_archives(self) -> None:
        path = self.zip("59_zip_cut_off", 59, "the archive cannot be read", [(PLACE, self.solution)])
        path.write_bytes(path.read_bytes()[:-30])
        path = self.tar("59_tar_cut_off", 59, "", [(PLACE, os.urandom(100000).hex().encode())])
        path.write_bytes(path.read_bytes()[:30000])
        self.says("59_zip_that_is_none", 59, "the archive cannot be read").with_name("59_zip_that_is_none.zip").write_bytes(b"no archive")
        self.says("59_tar_that_is_none", 59, "the archive cannot be read").with_name("59_tar_that_is_none.tgz").write_bytes(os.urandom(5000))
        self.says("59_zip_of_nothing", 59, "the archive cannot be read").with_name("59_zip_of_nothing.zip").write_bytes(b"")
        info = zipfile.ZipInfo(PLACE)
        path = self.zip("59_zip_encrypted", 59, "is encrypted", [(info, self.solution)])
        data = bytearray(path.read_bytes())
        for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
            data[data.index(mark) + offset] |= 1
        path.write_bytes(bytes(data))
        path = self.zip("59_zip_twice_the_same", 59, "more than once", [(f"a/{PLACE}", self.solution), (f"b/{PLACE}", b"// other\n")])
        path = self.zip("59_zip_bad_checksum", 59, "cannot be unpacked", [(PLACE, self.solution)])
        data = bytearray(path.read_bytes())
        for mark, offset in ((b"PK\x03\x04", 14), (b"PK\x01\x02", 16)):
            at = data.index(mark) + offset
            data[at: at + 4] = zlib.crc32(b"other").to_bytes(4, "little")
        path.write_bytes(bytes(data))

    # ---- names ---------------------------------------------------------------------------------------

    def names(self) -> None:
        """Entry 60. Folders without a kernel: only the name matters."""
        for name in ("=1+1", "+cmd|'-C calc'!A0", "@SUM(A1)", "<script>alert(1)<", "\x1b[2J\x1b]0;owned\x07", "line\nbreak", "-rf", "--out=x",
                     "$(touch pwned)", "`touch pwned`", "'; touch pwned; '", "%s%n%x", "a;=1+1", "safe\u202egnp.exe", "Zo\u00eb \u5f20\u4f1f", "x" * 250,
                     "Ann", "ann", "Ann ", "con", "students", "~", "a\tb", "a..", "\udcff\udcfe"):
            (self.folder / name).mkdir()
            self.declared.append(Declared(name, 60, reason=MISSING, never=["\x1b", "\u202e"]))

    # ---- honest ones ---------------------------------------------------------------------------------

    def unusual(self) -> None:
        def in_zip(name: str, *members: tuple[str, bytes]) -> None:
            self.zip(name, 0, "", list(members), expect="pass", most=None)

        in_zip("honest_zip", (PLACE, self.solution))
        in_zip("honest_zip_from_a_mac", (f"my work/{PLACE}", self.solution), (f"__MACOSX/my work/labs/{LAB}/._{KERNEL}", b"\0\5\x16\7"),
               (".DS_Store", b"\0"))
        in_zip("honest_zip_from_windows", (f"labs\\{LAB}\\{KERNEL}", self.solution.replace(b"\n", b"\r\n")))
        in_zip("honest_zip_of_one_file", (KERNEL, self.solution))
        self.tar("honest_tar_gz", 0, "", [("./ladder-main/" + PLACE, self.solution)], expect="pass", most=None)
        self.tar("honest_tar", 0, "", [(PLACE, self.solution)], ".tar", expect="pass", most=None)
        folder = self.honest("honest_file_without_folders")
        folder.mkdir()
        (folder / KERNEL).write_bytes(self.solution)
        folder = self.honest("honest_whole_repository")
        for name in ("labs", "solutions"):
            shutil.copytree(COURSE / "solutions" / LAB, folder / name / LAB)
        (folder / "Makefile").write_text("# as handed out\n")
        folder = self.honest("honest_latin_1")
        (folder / "labs" / LAB).mkdir(parents=True)
        (folder / "labs" / LAB / KERNEL).write_bytes("// L\u00f6sung von J\u00fcrgen\n".encode("latin-1") + self.solution)


class Repeated(io.RawIOBase):
    def __init__(self, block: bytes, size: int):
        self.block, self.left = block, size

    def read(self, size: int = -1) -> bytes:
        data = self.block[: min(size, self.left, len(self.block))]
        self.left -= len(data)
        return data


def make(folder: Path) -> Maker:
    """Fills the folder and returns what each submission in it must get."""
    maker = Maker(folder)
    for part in (maker.odd_files, maker.other_files, maker.paths_that_leave, maker.bombs, maker.broken_archives, maker.names, maker.unusual):
        part()
    return maker


if __name__ == "__main__":
    if len(sys.argv) != 2 or Path(sys.argv[1]).exists():
        sys.exit("usage: make_hostile.py FOLDER, one that is not there yet")
    Path(sys.argv[1]).mkdir(parents=True)
    made = make(Path(sys.argv[1]))
    print(f"{len(made.declared)} submissions in {sys.argv[1]}")
    for line in made.skipped:
        print(f"not made: {line}")
