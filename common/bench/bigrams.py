#!/usr/bin/env python3
"""A small language model out of Markdown: the logits that `make ladder` runs on, and what top-K makes of them.

  bigrams.py --output build/bigrams FILE.md...   counts; writes build/bigrams.f32 (V x V) and build/bigrams.words
  bigrams.py --predict build/bigrams --k 5       prints lab05's top-K of those logits as words
"""

from __future__ import annotations

import argparse
import array
import math
import re
import signal
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from results import UserError  # noqa: E402  (beside this file)

VOCABULARY = 600  # words, at most
SEEN_AT_LEAST = 2  # times; a word seen once has one successor and teaches nothing
ALPHA = 0.01  # added to every count. At V = 600 all unseen successors of a word weigh as much as 6 seen bigrams.
COMMON_WORDS = 30  # the most frequent words are taken for stop words: the, a, of, ...
LINES = 5  # contexts that --predict shows

FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
NEW_BLOCK = re.compile(r"^\s*(#{1,6}\s|[-*+]\s|\d+[.)]\s|>|\||$)")
WORD = re.compile(r"[a-z][a-z0-9_]*(?:'[a-z]+)?")
BREAK = "\n"  # ends a run of words: no bigram crosses it


def prose_lines(markdown: str) -> list[str]:
    """The lines outside fenced code; an empty line stands where a block ends, as before a heading or a list item."""
    lines: list[str] = []
    fence = ""
    for line in markdown.splitlines():
        mark = FENCE.match(line)
        if fence:
            closes = mark and mark[1].startswith(fence) and not line.strip().strip(fence[0])
            fence = "" if closes else fence
            continue
        if mark:
            fence = mark[1]
            lines.append("")
            continue
        if NEW_BLOCK.match(line) or (lines and lines[-1].lstrip().startswith("#")):
            lines.append("")
        lines.append(line)
    return lines


def strip_inline(text: str) -> str:
    """Markup out, words in. Formulas and code of more than one word break the sentence; `one_word` stays."""
    text = re.sub(r"<!--.*?-->", BREAK, text, flags=re.S)
    text = re.sub(r"\$\$.*?\$\$", BREAK, text, flags=re.S)
    text = re.sub(r"``.*?``", BREAK, text)
    text = re.sub(r"`([^`\n]*)`", lambda code: code[1] if re.fullmatch(r"\w+", code[1]) else BREAK, text)
    text = re.sub(r"(?<![\w$])\$[^$\n]+\$(?!\w)", BREAK, text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"</?[a-zA-Z][^>\n]*>", " ", text)
    return re.sub(r"https?://\S+|[\w./-]*/[\w./-]+|\b\w+\.\w{1,4}\b", BREAK, text)  # addresses, paths, file names


def runs_of_words(markdown: str) -> list[list[str]]:
    """Runs of adjacent lower-case words; punctuation, a block's end and table cells end a run."""
    blocks = re.split(r"\n\s*\n", "\n".join(prose_lines(markdown)))
    runs = []
    for block in blocks:
        joined = re.sub(r"\s*\n\s*", " ", block)
        for piece in re.split(r"[^\w\s'*\-]|\s-+\s", strip_inline(joined).lower().replace("\u2019", "'")
                              .replace(BREAK, ".")):
            words = WORD.findall(re.sub(r"\b[\d.]+\w*", "", piece))
            if words:
                runs.append(words)
    return runs


def choose_vocabulary(counts: Counter) -> list[str]:
    """The most frequent words, most frequent first; equal counts in alphabetical order."""
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [word for word, count in ranked[:VOCABULARY] if count >= SEEN_AT_LEAST]


def count_bigrams(runs: list[list[str]], words: list[str]) -> Counter:
    index = {word: i for i, word in enumerate(words)}
    pairs: Counter = Counter()
    for run in runs:
        for first, second in zip(run, run[1:]):
            if first in index and second in index:
                pairs[index[first], index[second]] += 1
    return pairs


def logits_of(pairs: Counter, size: int) -> array.array:
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
        beside(output, ".f32").write_bytes(logits.tobytes())
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


def build(output: Path, files: list[Path]) -> str:
    """Writes the model and returns the line that describes it."""
    runs = []
    for file in files:
        try:
            runs += runs_of_words(read_bytes(file, "give Markdown files").decode("utf-8"))
        except UnicodeDecodeError:
            raise UserError(f"{file}: not UTF-8 text") from None
    counts = Counter(word for run in runs for word in run)
    words = choose_vocabulary(counts)
    if len(words) < 2:
        raise UserError(f"{len(files)} files with {counts.total()} words hold too little text: "
                        f"fewer than two words are seen {SEEN_AT_LEAST} times")
    pairs = count_bigrams(runs, words)
    write_model(output, words, logits_of(pairs, len(words)))
    short = f" (not {VOCABULARY}: no other word is seen {SEEN_AT_LEAST} times)" if len(words) < VOCABULARY else ""
    return (f"bigrams: {len(files)} files, {counts.total()} words, vocabulary {len(words)}{short}, "
            f"{pairs.total()} bigrams ({len(pairs)} different), add-alpha {ALPHA}")


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
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE.md")
    options = parser.parse_args(argv)
    try:
        if options.predict:
            print("\n".join(predict(options.predict, options.k)))
        elif not options.files:
            raise UserError("no Markdown files given")
        else:
            print(build(options.output, options.files))
    except UserError as error:
        print(f"bigrams.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `... | head` ends it without a traceback
    sys.exit(main(sys.argv[1:]))
