"""The program as clang understood it: its tree of syntax, read from the text that -ast-dump prints. Only what stands in the
program's own files; what the headers declare is passed over."""

from __future__ import annotations

import re
from typing import Callable, Iterator

MOST_NODES = 500_000  # a program of more is not judged by its tree: honest ones have a tenth
MARK = "simt_declarations_end"  # the last that declarations.h declares; what follows is the program's

PREFIX = re.compile(r"^([| ]*[|`]-)(\w+)(?: (0x[0-9a-f]+))?")
PLACE = r"(?:<invalid sloc>|<scratch space>(?::\d+){2}|<built-in>(?::\d+){2}|[^<>\n]*?:\d+(?::\d+)?)"
PREVIOUS = re.compile(r"^(?: parent 0x[0-9a-f]+)? prev (0x[0-9a-f]+) ")
RANGE = re.compile(rf"<({PLACE})(?:, ({PLACE}))?>")
NAMED_AT = re.compile(r" ((?:[^\s<>'\"]+:)?\d+:\d+|line:\d+:\d+|col:\d+)(?= |$)")
QUOTED = re.compile(r"'([^']*)'(?::'([^']*)')?")


class Node:
    """begin, end, named: (file, line, column). text: what clang prints after the places: name, type, and remarks. previous: the
    id of a declaration's earlier one."""

    __slots__ = ("kind", "id", "previous", "begin", "end", "named", "text", "parent", "children")

    def __init__(self, kind: str, identity: str | None, parent: "Node | None"):
        self.kind, self.id, self.parent = kind, identity, parent
        self.children: list[Node] = []
        self.begin = self.end = self.named = ("", 0, 0)
        self.text = ""
        self.previous: str | None = None

    def below(self) -> Iterator["Node"]:
        waiting = self.children[::-1]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += node.children[::-1]

    def above(self) -> Iterator["Node"]:
        node = self.parent
        while node:
            yield node
            node = node.parent

    def child(self, kind: str) -> "Node | None":
        return next((child for child in self.children if child.kind == kind), None)

    @property
    def type(self) -> str:
        """Without the names that typedefs gave it."""
        match = QUOTED.search(self.text)
        return (match[2] or match[1]) if match else ""

    @property
    def before_type(self) -> list[str]:
        """Of a declaration: remarks such as "used" and "constexpr", then its name."""
        return self.text.split("'", 1)[0].split()

    @property
    def after_type(self) -> list[str]:
        match = QUOTED.search(self.text)
        return self.text[match.end():].split() if match else []

    @property
    def name(self) -> str:
        words = self.before_type
        return words[-1] if words else ""


class Reader:
    """A place is printed as what differs from the place before it, so all of the text must be read in order."""

    def __init__(self) -> None:
        self.file, self.line = "", 0

    def place(self, text: str) -> tuple[str, int, int]:
        if text.startswith("<"):
            return ("", 0, 0)
        if text.startswith("col:"):
            return (self.file, self.line, int(text[4:]))
        file, line, column = text.rsplit(":", 2)
        if file != "line":
            self.file = file
        self.line = int(line)
        return (self.file, self.line, int(column))

    def places(self, node: Node, rest: str) -> None:
        match = RANGE.search(rest)
        if not match or "'" in rest[:match.start()]:  # that is a remark's
            node.text = rest
            return
        node.begin = node.end = node.named = self.place(match[1])
        if match[2]:
            node.end = self.place(match[2])
        rest = rest[match.end():]
        if node.kind.endswith("Decl") and (named := NAMED_AT.match(rest)):
            node.named = self.place(named[1])
            rest = rest[named.end():]
        node.text = rest


def read(dump: str, is_own: Callable[[str], bool]) -> list[Node]:
    """The declarations of the program's own files. is_own: of a file's name."""
    start = dump.find(f" {MARK}")
    reader, roots, path = Reader(), [], []
    keep, nodes = False, 0
    for line in dump[max(start, 0):].splitlines()[1:]:
        match = PREFIX.match(line)
        if not match:
            continue
        depth = len(match[1]) // 2
        parent = path[depth - 2] if keep and 1 < depth <= len(path) + 1 else None
        node = Node(match[2], match[3], parent)
        nodes += keep
        if nodes > MOST_NODES:
            return []
        rest = line[match.end():]
        if " prev " in rest and (previous := PREVIOUS.match(rest)):
            node.previous = previous[1]
        reader.places(node, rest)
        if depth == 1:
            file = node.named[0] or node.end[0]
            keep, path = is_own(file), []
            if keep:
                roots.append(node)
        elif parent:
            parent.children.append(node)
        if keep:
            path[depth - 1:] = [node]
    return roots
