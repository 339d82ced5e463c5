"""A function's values, by number."""

from __future__ import annotations

import re

import costs
from costs import SSA, Names
from gimple import Function


BY_ADDRESS = re.compile(rf"(?:\bMEM(?: <[^;=]*?>)? ?\[\([^()]*\)|\*)({costs.NAME})(?![\w.])")


class Values:
    """Numbers for what an operation reads and writes. What costs nothing passes on what it was made of."""

    def __init__(self, function: Function, names: Names):
        self.names = names
        self.number: dict[str, int] = {}
        self.made_of: dict[str, tuple[int, ...]] = {}
        self.members: dict[str, set[str]] = {}
        self.loaded_from: set[str] = set()
        copies = []
        for block in function.blocks.values():
            for statement in block.statements:
                for name, path in costs.LOCAL.findall(statement.text):
                    if name in names.variables and path:
                        self.members.setdefault(name, set()).add(path)
                copy = re.fullmatch(f"{costs.VARIABLE} = {costs.VARIABLE};", statement.text)
                if copy:
                    copies.append(copy.groups())
        for _ in range(3):
            for a, b in copies:
                both = self.members.get(a, set()) | self.members.get(b, set())
                if both:
                    self.members[a] = self.members[b] = both

    def of(self, name: str) -> int:
        return self.number.setdefault(name, len(self.number))

    def parts(self, name: str) -> list[str]:
        """A variable's members, where it is used as a whole."""
        members = self.members.get(name)
        return [name + path for path in sorted(members)] if members and "." not in name.removeprefix("D.") else [name]

    def read(self, text: str) -> tuple[int, ...]:
        found: list[int] = []
        for name in self.names.read(text):
            if SSA.fullmatch(name):
                if name.endswith("(D)"):
                    continue
                found += self.made_of.get(name, (self.of(name),))
            else:
                found += [self.of(part) for part in self.parts(name)]
        found += [self.of(f"loaded from {name}") for name in BY_ADDRESS.findall(text) if name in self.loaded_from]
        return tuple(dict.fromkeys(found))

    def loaded(self, address: str) -> int:
        """What was loaded from an address in one block and is taken from there in another."""
        self.loaded_from.add(address)
        return self.of(f"loaded from {address}")
