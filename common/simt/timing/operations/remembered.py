"""An expression that is asked of the same texts again and again: each round of a search for what follows from what reads all statements anew."""

from __future__ import annotations

import functools
import re

KEPT = 1 << 16  # texts: more than the longest functions have; less than a program that is made to be long could ask for


class Remembered:
    def __init__(self, pattern: str):
        expression = re.compile(pattern)
        self.match = functools.lru_cache(KEPT)(expression.match)
        self.fullmatch = functools.lru_cache(KEPT)(expression.fullmatch)
        self.search = functools.lru_cache(KEPT)(expression.search)
        self.findall = functools.lru_cache(KEPT)(lambda text: tuple(expression.findall(text)))  # one that no caller can change for the next
