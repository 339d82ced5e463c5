"""What an unrolled loop's counters make of its operations: numbers that nvcc knows, whether a counter grows by a sum or doubles each round."""

from __future__ import annotations

import costs
import loops as shapes
from costs import BINARY, CAST, SSA, Cost, Names

DIVISIONS = ("/", "%")


def of_rounds(definitions: shapes.Definitions, names: Names, loop: shapes.Loop) -> dict[str, list[int]]:
    """By name: the numbers that a loop's counters, and what follows from one of them alone, have in its rounds."""
    found: dict[str, list[int]] = {}
    for phi in (name for name in definitions.phi if definitions.block[name] == loop.header):
        step, first = shapes.advance(loop, names, definitions, phi), definitions.first(loop, phi)
        value = shapes.number_of(first) if first else None
        if not step or value is None:
            continue
        seen: list[int] = []
        while value is not None and len(seen) < loop.rounds:
            seen.append(value)
            value = shapes.apply(step[1], value, step[2], 64 if names.is_wide(phi) else 32)
        found[phi] = seen
    grown = bool(found)
    within = definitions.within(loop) if found else []
    while grown:
        grown = False
        for name, text in within:
            if name in found:
                continue
            match, cast = BINARY.match(text), CAST.match(text)
            if cast and cast[2] in found:
                found[name] = found[cast[2]]
            elif match and match[1] in found and (number := shapes.number_of(match[3])) is not None and not names.is_float(name) and not names.is_double(name):
                made = [shapes.apply(match[2], value, number, 64 if names.is_wide(name) else 32) for value in found[match[1]]]
                if None in made:
                    continue
                found[name] = made
            else:
                continue
            grown = True
    return found


def divisors(definitions: shapes.Definitions, names: Names, loops: list[shapes.Loop], decided: set[str]) -> dict[str, Cost]:
    """By name: what a quotient, a remainder or a product costs if its second operand is a number in each round."""
    found: dict[str, Cost] = {}
    for loop in (loop for loop in loops if loop.unroll == 0):  # inner ones first
        known = of_rounds(definitions, names, loop)
        for name, text in definitions.within(loop):
            match = BINARY.match(text)
            if name in found or not match or not SSA.fullmatch(match[3]) or match[3] not in decided and match[3] not in known:
                continue
            powers = match[3] in known and all(costs.power_of_two(str(value)) for value in known[match[3]])
            of_floats = names.is_float(name) or names.is_double(name)
            if match[2] in DIVISIONS and (powers or not of_floats) or match[2] == "*" and powers and not of_floats:
                found[name] = Cost("double" if names.is_double(name) else "float", 1) if of_floats else \
                    costs.of_binary(names, name, match[1], match[2], "2" if powers else "3", "")
    return found


def cheapen(operations: dict[int, list[tuple]], costs_of: dict[str, Cost]) -> None:
    for n, of_block in operations.items():
        operations[n] = [(costs_of.get(one[4], one[0]), *one[1:]) for one in of_block]
