#!/usr/bin/env python3
"""A small language model: the logits that `make ladder` runs on, and what top-K makes of them.

  bigrams.py --output build/bigrams              writes build/bigrams.f32 (V x V) and build/bigrams.words from bigrams.txt
  bigrams.py --predict build/bigrams --k 5       prints lab05's top-K of those logits as words
"""

from __future__ import annotations

import argparse
import array
import math
import re
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from results import UserError  # noqa: E402  (beside this file)

COUNTS = Path(__file__).resolve().parent / "bigrams.txt"
ALPHA = 0.01  # added to every count. At V = 600 all unseen successors of a word weigh as much as 6 seen bigrams.
COMMON_WORDS = 30  # the most frequent words are taken for stop words: the, a, of, ...
LINES = 5  # contexts that --predict shows

LINE = re.compile(r"(?P<word>\S+):(?P<successors>( \S+ [1-9]\d*(,(?=.)|$))*)")


def read_counts(path: Path) -> tuple[list[str], dict[tuple[int, int], int]]:
    """The words, most frequent first, and how often word i is followed by word j. UserError names a line that is none."""
    try:
        lines = list(enumerate(read_bytes(path, "it comes with the course").decode("utf-8").splitlines(), start=1))
    except UnicodeDecodeError:
        raise UserError(f"{path}: not UTF-8 text") from None
    found = [(number, LINE.fullmatch(line)) for number, line in lines if line and not line.startswith("#")]
    bad = next((number for number, match in found if not match), None)
    if bad:
        raise UserError(f"{path}:{bad}: expected `word: successor count, successor count`")
    words = [match["word"] for _, match in found]
    if len(set(words)) < max(2, len(words)):
        raise UserError(f"{path}: {len(set(words))} different words on {len(words)} lines; expected two or more, each once")
    index = {word: i for i, word in enumerate(words)}
    pairs = {}
    for first, (number, match) in enumerate(found):
        for successor, count in (pair.split() for pair in match["successors"].split(",") if pair):
            if successor not in index:
                raise UserError(f"{path}:{number}: `{successor}` has no line of its own")
            pairs[first, index[successor]] = int(count)
    return words, pairs


def logits_of(pairs: dict[tuple[int, int], int], size: int) -> array.array:
    """size x size, row-major: log((count(a, b) + alpha) / (count(a) + alpha * size)). exp of a row sums to 1."""
    starts = [0] * size
    for (first, _), count in pairs.items():
        starts[first] += count
    logits = array.array("f")
    for first in range(size):
        total = math.log(starts[first] + ALPHA * size)
        row = [math.log(ALPHA) - total] * size
        logits.extend(row)
    for (first, second), count in pairs.items():
        logits[first * size + second] = math.log(count + ALPHA) - math.log(starts[first] + ALPHA * size)
    return logits


def write_model(output: Path, words: list[str], logits: array.array) -> None:
    if sys.byteorder == "big":
        logits.byteswap()
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        matrix = beside(output, ".f32")
        if not matrix.exists() or matrix.read_bytes() != logits.tobytes():  # if its file were newer, make would predict all of it again
            matrix.write_bytes(logits.tobytes())
        beside(output, ".words").write_text("".join(word + "\n" for word in words), encoding="utf-8")
    except OSError as error:
        raise UserError(f"{output}.f32: cannot be written: {error.strerror}") from None


def beside(base: Path, suffix: str) -> Path:
    return base.with_name(base.name + suffix)


def read_bytes(path: Path, hint: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}; {hint}") from None


def build(output: Path, counts: Path) -> str:
    """Writes the model and returns the line that describes it."""
    words, pairs = read_counts(counts)
    write_model(output, words, logits_of(pairs, len(words)))
    return f"bigrams: {len(words)} words, {sum(pairs.values())} bigrams ({len(pairs)} different), add-alpha {ALPHA}"


def read_array(path: Path, kind: str, count: int, hint: str) -> array.array:
    data = read_bytes(path, hint)
    if len(data) != 4 * count:
        raise UserError(f"{path}: {len(data)} bytes, expected {4 * count}: another vocabulary or another k; {hint}")
    values = array.array(kind)
    values.frombytes(data)
    if sys.byteorder == "big":
        values.byteswap()
    return values


def predict(base: Path, k: int) -> list[str]:
    """Lines such as "after `shared`: memory 0.41, bytes 0.08" from base.topk.i32 and base.topk.f32, both (V, k)."""
    words = read_bytes(beside(base, ".words"), "run bigrams.py --output first").decode("utf-8").split("\n")[:-1]
    size = len(words)
    rerun = "run `make ladder` again"
    if not 1 <= k <= size:
        raise UserError(f"k is {k}, expected 1 to {size}, the size of the vocabulary")
    logits = read_array(beside(base, ".f32"), "f", size * size, rerun)
    index = read_array(beside(base, ".topk.i32"), "i", size * k, rerun)
    prob = read_array(beside(base, ".topk.f32"), "f", size * k, rerun)
    if any(not 0 <= i < size for i in index):
        raise UserError(f"{base}.topk.i32: an index outside 0..{size - 1}; the top-K kernel that wrote it is wrong")
    guesses = {row: seen_successors(row, index[row * k:(row + 1) * k], prob[row * k:(row + 1) * k],
                                    logits[row * size:(row + 1) * size]) for row in range(size)}
    return [f"after `{words[row]}`: " + ", ".join(f"{words[i]} {p:.2f}" for i, p in guesses[row])
            for row in choose_contexts(guesses)]


def seen_successors(row: int, index: array.array, prob: array.array, logits: array.array) -> list[tuple[int, float]]:
    """The (word, probability) pairs that the text really holds: unseen successors share the lowest logit of the row."""
    unseen = min(logits)
    return [(i, p) for i, p in zip(index, prob) if logits[i] > unseen + 0.1]


def choose_contexts(guesses: dict[int, list[tuple[int, float]]]) -> list[int]:
    """Of the most frequent third without its stop words, the words whose best guess is surest, most frequent first.

    Words with three guesses or more, the best of which is no stop word, come before others.
    """
    size = len(guesses)
    frequent = range(min(COMMON_WORDS, size // 4), max(size // 3, min(size, 2 * COMMON_WORDS)))
    candidates = [row for row in frequent if guesses[row]]

    def rank(row: int) -> tuple:
        first, p = guesses[row][0]
        telling = first >= min(COMMON_WORDS, size // 4) and len(guesses[row]) > min(2, size - 1)
        return (not telling, -p, row)

    return sorted(sorted(candidates, key=rank)[:LINES])


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--output", type=Path, metavar="BASE", help="write BASE.f32 and BASE.words")
    mode.add_argument("--predict", type=Path, metavar="BASE", help="read BASE.topk.i32 and BASE.topk.f32 too")
    parser.add_argument("--k", type=int, default=5, help="the k of the top-K files (default 5)")
    parser.add_argument("--counts", type=Path, default=COUNTS, help="another file of counts")
    options = parser.parse_args(argv)
    try:
        if options.predict:
            print("\n".join(predict(options.predict, options.k)))
        else:
            print(build(options.output, options.counts))
    except UserError as error:
        print(f"bigrams.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `... | head` ends it without a traceback
    sys.exit(main(sys.argv[1:]))
