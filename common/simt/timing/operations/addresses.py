"""Addresses made of a pointer and an index of 64 bits: the sum is two instructions (LEA, LEA.HI.X). An index of 32 bits is widened, multiplied and added by one (IMAD.WIDE),
and addresses of shared memory have 32 bits."""

from __future__ import annotations

import re

import loops as shapes
from costs import Names


def is_sum_of_64_bits(names: Names, definitions: shapes.Definitions, pointer: str, index: str) -> bool:
    """index: in bytes. A variable's address (&a) may be one of shared memory."""
    if pointer.startswith("&"):
        return False
    base, _ = definitions.linear(index)
    parts = [re.sub(r"^\d+\*", "", part) for part in base.split("+") if part]
    return any(names.is_wide(part) and not names.is_pointer(part) for part in parts)
