"""Text for a terminal: paragraphs are wrapped to its width. In a log or a pipe they stay as they are, so that grep finds them."""

from __future__ import annotations

import os
import re
import sys
import textwrap
from typing import TextIO

VERBATIM = re.compile(r"(?: {4}|\||#|```|- |\d+\. )")  # code, tables, headings, lists


def width_of(stream: TextIO) -> int:
    """Columns of the terminal that a stream goes to; 0 if it goes elsewhere."""
    try:
        return (os.get_terminal_size(stream.fileno()).columns or 80) if stream.isatty() else 0
    except (OSError, ValueError):
        return 0


def fitted(text: str, width: int) -> str:
    """Paragraphs that are wider than `width` are wrapped anew; a single line keeps its indentation."""
    def fit(paragraph: str) -> str:
        lines = paragraph.split("\n")
        if not width or all(len(line) <= width for line in lines) or any(VERBATIM.match(line) for line in lines):
            return paragraph
        indent = re.match(r" *", lines[0])[0]
        return textwrap.fill(" ".join(line.strip() for line in lines), width, initial_indent=indent, subsequent_indent=indent,
                             break_long_words=False, break_on_hyphens=False)
    return "\n\n".join(fit(paragraph) for paragraph in text.split("\n\n"))


def say(text: str, stream: TextIO | None = None) -> None:
    stream = stream or sys.stdout
    print(fitted(text, width_of(stream)), file=stream)
