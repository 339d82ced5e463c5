"""Where in the object file a function calls the executor's hooks. The compiler lays code out in the order of its last GIMPLE form
(-fno-reorder-blocks), so that the n-th call in a function's dump is the n-th in its object code. But announce/ may take an
announcement out of a block and put one of its own to the access itself.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

CALLS = re.compile(r"^(?:__tsan_(?:unaligned_)?(?:volatile_)?(?:read|write|read_write)(?:\d+|_range)|__sanitizer_cov_trace_pc|"
                   r"simt_seen_(?:tls_)?(?:load|store|atomic)\d+|simt_seen_same_block|"
                   r"_ZN4simt(?:13before_atomic|19before_atomic_store|13warp_exchange|13block_barrier|12grid_barrier|12active_lanes)E\w*)$")


def plain(symbol: str) -> str:
    """A hook by one name, in the object file and in the dump."""
    if symbol == "simt_seen_same_block":
        return "__sanitizer_cov_trace_pc"
    own = re.match(r"_ZN4simt\d+([a-z_]+)E", symbol)
    return own[1] if own else symbol


def listed(obj: str, what: str) -> list[str]:
    """What readelf says of the object; or, where that is a folder, has said."""
    if Path(obj).is_dir():
        return (Path(obj) / what).read_text(errors="replace").splitlines()
    option = {"symbols": "-sW", "sections": "-SW", "relocations": "-rW"}[what]
    return subprocess.run(["readelf", option, obj], stdout=subprocess.PIPE, text=True, errors="replace", check=True).stdout.splitlines()


def calls_of(obj: str) -> dict[str, list[tuple[int, str]]]:
    """By function: (return address from its beginning, hook), in order. Raises RuntimeError where the object cannot be read."""
    by_section: dict[int, list[tuple[int, int, str]]] = {}
    for line in listed(obj, "symbols"):
        words = line.split()
        if len(words) >= 8 and words[3] == "FUNC" and words[6].isdigit() and words[2] != "0":
            by_section.setdefault(int(words[6]), []).append((int(words[1], 16), int(words[2], 0), words[7]))
    sections = {}
    for line in listed(obj, "sections"):
        match = re.match(r"\s*\[\s*(\d+)\] (\S+)\s+PROGBITS", line)
        if match:
            sections.setdefault(match[2], []).append(int(match[1]))
    found: dict[str, list[tuple[int, str]]] = {}
    used: dict[str, int] = {}
    numbers: list[int] = []
    functions: list[tuple[int, int, str]] = []
    at = 0
    for line in listed(obj, "relocations"):
        head = re.match(r"Relocation section '\.rela(\S+)'", line)
        if head:
            # COMDAT functions have sections of their own, all with different names.
            name = head[1]
            numbers = sections.get(name, [])[used.get(name, 0):][:1]
            used[name] = used.get(name, 0) + 1
            functions, at = sorted(by_section.get(numbers[0], []) if numbers else []), 0
            continue
        words = line.split()
        if not functions or len(words) < 5 or not CALLS.match(words[4]):
            continue
        offset = int(words[0], 16)
        while at < len(functions) and offset >= functions[at][0] + functions[at][1]:
            at += 1
        if at < len(functions) and offset >= functions[at][0]:
            found.setdefault(functions[at][2], []).append((offset + 4 - functions[at][0], plain(words[4])))
    return found


OWN = "own_load", "own_store"  # in a dump's list of hooks: an element of the thread's own array, which announce/ may announce or not


def direction(hook: str) -> str:
    return "load" if "read" in hook or "load" in hook else "store"


def size(hook: str) -> str:
    return re.findall(r"\d*$", hook)[0]


def is_access(hook: str) -> bool:
    return hook.startswith(("__tsan", "simt_seen", "own_"))


def places(wanted: list[str], calls: list[tuple[int, str]]) -> list[int] | None:
    """The return address of each hook of a function's dump but OWN, -1 where its access is none that the executor sees. None: they do
    not fit."""
    found: list[int] = []
    at = 0
    for begin, end in stretches(wanted):
        stop = at
        while stop < len(calls) and is_access(calls[stop][1]):
            stop += 1
        found += accesses(wanted[begin:end], calls[at:stop])
        at = stop
        if end < len(wanted):
            if at == len(calls) or calls[at][1] != wanted[end]:
                return None
            found.append(calls[at][0])
            at += 1
    return found if all(is_access(hook) for _, hook in calls[at:]) else None


def in_order(wanted: list[str], calls: list[tuple[int, str]]) -> list[int] | None:
    """If there is a call for each access, own ones too."""
    found = [-1] * len(wanted)
    for way in ("load", "store"):
        there = [number for number, hook in enumerate(wanted) if direction(hook) == way]
        made = [call for call in calls if direction(call[1]) == way]
        if len(there) != len(made) or any(wanted[number] not in OWN and size(wanted[number]) != size(hook) for number, (_, hook) in zip(there, made)):
            return None
        for number, call in zip(there, made):
            found[number] = call[0]
    return found


def stretches(wanted: list[str]) -> list[tuple[int, int]]:
    """Announcements of accesses between two hooks of another kind, which are always there."""
    ends = [number for number, hook in enumerate(wanted) if not is_access(hook)] + [len(wanted)]
    return list(zip([0, *(end + 1 for end in ends[:-1])], ends))


def accesses(wanted: list[str], calls: list[tuple[int, str]]) -> list[int]:
    if any(hook in OWN for hook in wanted):
        found = in_order(wanted, calls)
        if found:
            return [place for hook, place in zip(wanted, found) if hook not in OWN]
        wanted = [hook for hook in wanted if hook not in OWN]
    found = [-1] * len(wanted)
    own = [call for call in calls if call[1].startswith("__tsan")]
    if [hook for _, hook in own] == wanted:
        return [offset for offset, _ in own]
    # Calls of the executor let no access pass: as many as there are announcements of a kind, they stand in their order.
    for way in ("load", "store"):
        announced = [number for number, hook in enumerate(wanted) if direction(hook) == way]
        made = [call for call in calls if direction(call[1]) == way]
        if [size(wanted[number]) for number in announced] == [size(hook) for _, hook in made]:
            for number, call in zip(announced, made):
                found[number] = call[0]
    if -1 not in found:
        return found
    found = [-1] * len(wanted)
    # The longest common sequence of the announcements that stayed.
    best = [[0] * (len(own) + 1) for _ in range(len(wanted) + 1)]
    for i in range(len(wanted) - 1, -1, -1):
        for j in range(len(own) - 1, -1, -1):
            best[i][j] = best[i + 1][j + 1] + 1 if wanted[i] == own[j][1] else max(best[i + 1][j], best[i][j + 1])
    i = j = 0
    while i < len(wanted) and j < len(own):
        if wanted[i] == own[j][1] and best[i][j] == best[i + 1][j + 1] + 1:
            found[i] = own[j][0]
            i, j = i + 1, j + 1
        elif best[i + 1][j] >= best[i][j + 1]:
            i += 1
        else:
            j += 1
    # The others in the order of what stands in their places; first those of shared memory.
    rest = [call for call in calls if not call[1].startswith("__tsan")]
    rest.sort(key=lambda call: "_tls_" not in call[1])
    for number, hook in enumerate(wanted):
        if found[number] < 0:
            same = next((call for call in rest if direction(call[1]) == direction(hook)), None)
            if same:
                found[number] = same[0]
                rest.remove(same)
    return found
