"""Functions of doubles, of which a third of the instructions are of the units of doubles: in the table they are two operations, one after the other."""

from __future__ import annotations

from costs import Cost
from values import Values


def parts(values: Values, cost: Cost, name: str, writes: tuple, reads: tuple) -> list[tuple[Cost, tuple, tuple]]:
    """The operations that an operation is: costs, and what they write and read."""
    if not cost.beside:
        return [(cost, writes, reads)]
    half = (values.of(f"half of {name}"),)
    return [(cost, half, reads), (Cost("integer", cost.beside), writes, half)]
