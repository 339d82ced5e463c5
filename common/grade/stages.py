"""Folders for what is being graded: reachable but not listable for the sandbox's users, wherever the course lies.

The folder of a grader that is killed stays behind. Whoever grades next removes it: a folder is held by a lock as long as its
process lives, and the kernel gives up the lock of a process however it ends.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import shutil
import stat
import tempfile
from pathlib import Path

PREFIX = "ladder-grading-"
_held: dict[Path, int] = {}  # folder -> descriptor with its lock, until it is removed


def _lock(folder: Path) -> int | None:
    """A descriptor of the folder that holds its lock; None if the folder is gone, is none, or belongs to a process that lives."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # What has this name may have been removed, and made anew, since it was opened.
        if os.path.samestat(os.fstat(descriptor), os.lstat(folder)):
            return descriptor
    except OSError:
        pass
    os.close(descriptor)
    return None


def make() -> Path:
    """A new folder. The caller gives it to remove()."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        # Before it is locked another grader may take it for one that was left behind.
        if (descriptor := _lock(folder)) is not None:
            _held[folder] = descriptor
            folder.chmod(0o711)
            return folder


def remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    if (descriptor := _held.pop(folder, None)) is not None:
        os.close(descriptor)


@atexit.register
def _remove_all() -> None:
    for folder in list(_held):
        remove(folder)


def remove_left_behind() -> int:
    """Removes the folders of this user's graders that have ended without doing so, and says how many there were."""
    removed = 0
    for folder in sorted(Path(tempfile.gettempdir()).glob(f"{PREFIX}*")):
        try:
            status = os.lstat(folder)
        except OSError:
            continue
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
            continue
        if (descriptor := _lock(folder)) is not None:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(descriptor)
            removed += 1
    return removed
