"""Text of strangers, made harmless for each place where it is shown.

A student's name, a compiler's message and all that a submission printed are data. `visible` comes first and always: after
it a text holds no control, formatting or invalid characters, whatever program shows it. Then one of the others, for the
format that the text goes into.
"""

from __future__ import annotations

import html
import re
import unicodedata

# Joiners are part of names in several scripts; all other characters without a shape of their own are spelled out.
JOINERS = "\u200c\u200d"
HIDDEN_CATEGORIES = {"Cc", "Cf", "Cs", "Zl", "Zp"}
# What a spreadsheet takes for the beginning of a formula, in ASCII and in full width.
FORMULA = "=+\\-@\uff1d\uff0b\uff0d\uff20"


def _is_hidden(c: str) -> bool:
    if c in JOINERS:
        return False
    code = ord(c)
    not_a_character = code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF
    return not_a_character or unicodedata.category(c) in HIDDEN_CATEGORIES


def _spelled(c: str) -> str:
    code = ord(c)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def visible(text: str, lines: bool = False) -> str:
    """The text with escape sequences, control, direction and invalid characters spelled out, as in \\x1b. With `lines`, newlines
    and tabs stay; a carriage return before a newline is dropped."""
    if lines:
        text = text.replace("\r\n", "\n")
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if (lines and c in "\n\t") or not _is_hidden(c) else _spelled(c) for c in text)


def shortened(text: str, most: int) -> str:
    """At most so many characters, with a mark where something is missing."""
    if len(text) <= most:
        return text
    return text[:most] + f" ... ({len(text) - most} more characters)"


def for_html(text: str) -> str:
    """For the text of an element and for an attribute in double quotes."""
    return html.escape(text, quote=True)


def looks_like_a_number(text: str) -> bool:
    """As spreadsheets see it: 00123, 1e5, 2024-01, 1/2, MAR1, 1-mar, TRUE."""
    months = "jan feb mar apr may jun jul aug sep oct nov dec mrz mai okt dez fev avr juin juil aou ene abr ago set dic gen mag giu lug ott"
    bare = text.strip().lower()
    if bare in ("true", "false", "wahr", "falsch", "vrai", "faux", "verdadero", "falso", "vero"):
        return True
    if any(c.isdigit() for c in bare) and re.fullmatch(r"[\d\s.,:/'%+()$\u20ac\u00a3\u00a5-]*(?:[ed][+-]?\d+)?[\d\s.,:/'%+()$\u20ac\u00a3\u00a5-]*(?:[ap]m)?", bare):
        return True
    words = re.findall(r"[^\W\d_]+", bare)
    return len(words) == 1 and any(words[0].startswith(month) for month in months.split()) and bool(re.fullmatch(
        r"(?:\d{1,4}[\s./-]*)?[^\W\d_]+(?:[\s.,/-]*\d{1,4}){0,2}", bare)) and any(c.isdigit() for c in bare)


def for_csv(text: str) -> str:
    """A cell of text that a spreadsheet neither runs nor changes: an apostrophe before what would be a formula, also where another separator
    than the comma would begin a new cell, and before what it would take for a number or a date (00123, 1e5, 2024-01)."""
    return f"'{text}" if looks_like_a_number(text) else without_formula(text)


def without_formula(text: str) -> str:
    """The same for a program that wants 00123 as it is."""
    return re.sub(rf"(^|[;\t|])(\s*[{FORMULA}])", r"\1'\2", text)


def for_markdown(text: str) -> str:
    """For running text. `<` and `&` become entities, which every dialect knows; the rest is escaped only where it would mean
    something, since many read the file as it is."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = re.sub(r"([\\`*\[\]|~@$])", r"\\\1", text)
    text = re.sub(r"(?<![^\W_])_|_(?![^\W_])", r"\\_", text)  # between two letters it is only an underscore
    text = re.sub(r"^(\s*)([#+\-=!]|\d+[.)])", lambda m: m[1] + m[2][:-1] + "\\" + m[2][-1], text)
    return re.sub(r"://|(?<=www)\.", lambda m: "\\" + m[0], text, flags=re.IGNORECASE)  # no link by itself


def code_span(text: str) -> str:
    """`text`, in more backticks than it holds in a row."""
    fence = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def code_block(text: str, indent: str = "") -> str:
    """The lines as they are, in a fence that they cannot close."""
    fence = "`" * max(3, max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    body = "\n".join((indent + line).rstrip() for line in text.rstrip("\n").split("\n"))
    return f"{indent}{fence}text\n{body}\n{indent}{fence}"
