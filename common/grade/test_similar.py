"""How alike files are: copies that were renamed, reordered and laid out anew are found, honest different solutions are not."""

from __future__ import annotations

import csv
import html.parser
import io
import random
import re
import sys
import tempfile
import unittest
from functools import lru_cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
COURSE = HERE.parents[1]
sys.path.insert(0, str(HERE))
import escape  # noqa: E402
import similar  # noqa: E402
import similar_report  # noqa: E402
from tokens import tokens  # noqa: E402

LAB, KERNEL = "lab02_smem", "softmax_smem.cu"
STARTER = (COURSE / "labs" / LAB / KERNEL).read_text()


@lru_cache(maxsize=None)
def common(lab: str) -> set[int]:
    return similar.handed_out(COURSE, lab)


def file(name: str, text: str, lab: str = LAB) -> similar.File:
    return similar.file_of(name, name, text.encode(), common(lab))


@lru_cache(maxsize=None)
def honest() -> dict[str, str]:
    parts: dict[str, dict[int, str]] = {}
    for found in re.finditer(r"(?m)^=== (\w+) (\d)\n((?:(?!===).*\n)*)", (HERE / "testdata/honest_lab02.txt").read_text()):
        parts.setdefault(found[1], {})[int(found[2])] = found[3]
    whole = {}
    for name, own in parts.items():
        text = STARTER
        for number, code in own.items():
            text, count = re.subn(rf"(?ms)^ *// TODO {number}:.*?^ *// END {number}\n", lambda _: code, text)
            assert count == 1, (name, number)
        whole[name] = text
    return whole


def renamed(text: str) -> str:
    """Every name of the student's another one."""
    pieces, at, names = [], 0, {}
    for token in tokens(text):
        if token.word == "v" and token.exact not in ("rung", "softmax", "softmax_topk", "swap_ffn"):
            pieces += [text[at:token.begin], names.setdefault(token.exact, f"q{len(names)}_")]
            at = token.end
    return "".join(pieces) + text[at:]


def reordered(text: str) -> str:
    """Functions and structures in another order."""
    parts = re.split(r"(?m)(?<=^\}\n)|(?<=^\};\n)", text)
    random.Random(1).shuffle(parts)
    return "".join(parts)


def laid_out(text: str) -> str:
    """Other blanks, line ends, comments; braces around single statements gone or there."""
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r"(?m)^(?!\s*#)(.*);$", r"\1 ;  /* so */", text)
    text = re.sub(r"(?m)^( *)for \((.*)\) (?!\{)([^{}\n]+)$", r"\1for(\2)\n\1{\n\1\t\3\n\1}", text)
    return re.sub(r"(?m)^((?: {2})+)", lambda found: "\t" * (len(found[1]) // 2), text).replace("\n", "\r\n")


def disguised(text: str) -> str:
    """Other types and numbers, const left out and put in."""
    text = re.sub(r"\bint\b", "unsigned", re.sub(r"\bconst ", "", text))
    return re.sub(r"\b(\d+)\b", lambda found: str(int(found[1]) + 7), text).replace("float ", "const float ")


DISGUISES = {"renamed": renamed, "reordered": reordered, "laid out anew": laid_out, "disguised": disguised,
             "all of it": lambda text: disguised(laid_out(reordered(renamed(text))))}


def alike(a: similar.File, b: similar.File) -> float:
    found = similar.pairs([a, b])
    return found[0].alike if found else 0.0


class Alike(unittest.TestCase):
    def test_copies_are_found(self):
        for name, text in honest().items():
            for how, change in DISGUISES.items():
                with self.subTest(f"{name}, {how}"):
                    copy = change(text)
                    self.assertNotEqual(copy, text)
                    self.assertGreater(alike(file("a", text), file("b", copy)), 0.8)

    def test_copies_of_larger_files_are_found(self):
        for lab in ("lab05_topk", "lab06_limit", "lab07_fusion"):
            text = next((COURSE / "solutions" / lab).glob("*.cu")).read_text()
            for how, change in DISGUISES.items():
                with self.subTest(f"{lab}, {how}"):
                    self.assertGreater(alike(file("a", text, lab), file("b", change(text), lab)), 0.8)

    def test_honest_solutions_are_not(self):
        files = [file(name, text) for name, text in honest().items()]
        for one in files:
            self.assertGreater(one.own_tokens, 100)
        for pair in similar.pairs(files):
            self.assertLess(pair.alike, 0.2, (pair.first.students, pair.second.students))
        for i, a in enumerate(files):  # nor two alone, without a class that says what is common
            for b in files[i + 1:]:
                self.assertLess(alike(a, b), 0.25, (a.students, b.students))

    def test_a_part_that_was_copied(self):
        cy = re.search(r"(?s)=== cy 2\n(.*?)===", (HERE / "testdata/honest_lab02.txt").read_text())[1]
        bob = re.search(r"(?s)=== bob 2\n(.*?)===", (HERE / "testdata/honest_lab02.txt").read_text())[1]
        mixed = honest()["bob"].replace(bob, renamed(cy))
        self.assertNotEqual(mixed, honest()["bob"])
        files = [file("mixed", mixed), *(file(name, text) for name, text in honest().items() if name != "bob")]
        first = similar.pairs(files)[0]
        self.assertEqual({first.first.students[0][0], first.second.students[0][0]}, {"mixed", "cy"})
        longest = {frozenset((a.students[0][0], b.students[0][0])): similar_report.longest(similar.common_runs(a, b))
                   for i, a in enumerate(files) for b in files[i + 1:]}
        self.assertGreater(longest.pop(frozenset(("mixed", "cy"))), similar_report.LONG)
        self.assertLess(max(longest.values()), 0.75 * similar_report.LONG)

    def test_what_was_handed_out_does_not_count(self):
        self.assertEqual(file("a", STARTER).own, [])
        self.assertEqual(file("a", renamed(STARTER).replace("  ", "\t")).prints & file("b", renamed(honest()["cy"])).prints, set())
        for name, text in honest().items():
            words = " ".join(token.exact for begin, end in file(name, text).own for token in file(name, text).tokens[begin:end])
            self.assertNotIn("cudaDeviceGetAttribute", words)
            self.assertNotIn("CompensatedSum", words)

    def test_what_everybody_has_counts_less(self):
        """Of a class in which all have written one loop, two who have copied stand out."""
        draw, files = random.Random(3), []

        def expression(depth: int) -> str:
            return draw.choice("ab") if not depth else f"{draw.choice(['expf', 'fmaxf', ''])}({expression(depth - 1)} {draw.choice('+-*/')} {expression(depth - 1)})"

        for i in range(25):
            own = "".join(f"\n__device__ float own{j}(float a, float b) {{ return {expression(4)}; }}" for j in range(2))
            files.append(file(f"s{i:02}", honest()["ann"] + own))
        files.append(file("copy", DISGUISES["all of it"](files[7].text)))
        best, second, *rest = similar.pairs(files)
        self.assertEqual({best.first.students[0][0], best.second.students[0][0]}, {"s07", "copy"})
        self.assertGreater(best.alike, 2 * second.alike)
        in_class = next(pair.alike for pair in (second, *rest) if {pair.first.students[0][0], pair.second.students[0][0]} == {"s03", "s07"})
        self.assertLess(in_class, 0.7 * alike(files[3], files[7]), "of the two alone nobody knows what is common")

    def test_the_same_in_every_process(self):
        code = f"import sys; sys.path.insert(0, {str(HERE)!r}); import test_similar as t; print(sorted(t.file('a', t.honest()['cy']).prints)[:5])"
        import subprocess
        said = {subprocess.run((sys.executable, "-c", code), stdout=subprocess.PIPE, text=True, check=True, env={"PYTHONHASHSEED": seed, "PATH": ""}).stdout
                for seed in ("1", "2")}
        self.assertEqual(len(said), 1)


class Runs(unittest.TestCase):
    def test_what_is_alike_is_shown_with_its_counterpart(self):
        a, b = file("a", honest()["cy"]), file("b", DISGUISES["all of it"](honest()["cy"]))
        runs = similar.common_runs(a, b)
        self.assertGreater(sum(length for _, _, length in runs), 0.7 * a.own_tokens)
        for i, j, length in runs:
            self.assertEqual([token.word for token in a.tokens[i:i + length]], [token.word for token in b.tokens[j:j + length]])
        for side in (0, 1):
            places = [place for run in runs for place in range(run[side], run[side] + run[2])]
            self.assertEqual(len(places), len(set(places)))
        self.assertEqual(similar.common_runs(a, file("c", STARTER)), [])


class Page(html.parser.HTMLParser):
    def __init__(self, text: str):
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.pre: list[str] = []
        self.inside = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "pre":
            self.inside = True
            self.pre.append("")

    def handle_endtag(self, tag):
        self.inside = self.inside and tag != "pre"

    def handle_data(self, data):
        if self.inside:
            self.pre[-1] += data


class Report(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = Path(folder.name)

    def write(self, texts: dict[str, str]) -> int:
        return similar_report.write(self.out, COURSE, {LAB: KERNEL}, {LAB: [(name, "" if name.startswith("earlier") else f"id{i}", text.encode())
                                                                            for i, (name, text) in enumerate(texts.items())]})

    def rows(self) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO((self.out / "similar/pairs.csv").read_bytes().decode("utf-8-sig"))))

    def test_a_class(self):
        copy = DISGUISES["all of it"](honest()["cy"])
        without_dee = {name: text for name, text in honest().items() if name != "dee"}
        solution = (COURSE / "solutions" / LAB / KERNEL).read_text()
        count = self.write({**without_dee, "copy": copy, "untouched": STARTER, "untouched too": STARTER + "// me\n", "from the solution": renamed(solution),
                            "earlier one": honest()["bob"], "earlier two": honest()["dee"] + "\nint x;", "earlier three": honest()["dee"] + "\nint x, y;", "nothing": "", "rubbish": "\0\1%%%$$$ \u202e" * 50})
        found = {frozenset((row["one"], row["another"])): row for row in self.rows()}
        self.assertEqual(set(found), {frozenset(("cy", "copy")), frozenset(("bob", "earlier one")),
                                      frozenset(("from the solution", "the course's solution"))})
        self.assertEqual(count, 3)
        self.assertIn("token for token", found[frozenset(("bob", "earlier one"))]["remark"])
        index = (self.out / "similar/index.html").read_text()
        self.assertIn("This accuses nobody", index)
        self.assertNotIn("untouched", index)
        [page] = [attributes["href"] for tag, attributes in Page(index).tags if tag == "a"]
        shown = Page((self.out / "similar" / page).read_text())
        self.assertEqual(sorted(shown.pre), sorted(escape.visible(text.replace("\r\n", "\n"), lines=True) for text in (honest()["cy"], copy)))
        links = [(attributes["id"], attributes["href"]) for tag, attributes in shown.tags if "alike" in attributes.get("class", "")]
        self.assertGreater(len(links), 5)
        self.assertEqual({id for id, _ in links}, {href[1:] for _, href in links})

    def test_a_long_part_is_enough(self):
        whole = (HERE / "testdata/honest_lab02.txt").read_text()
        part = {name: re.search(rf"(?s)=== {name} 2\n(.*?)===", whole)[1] for name in ("cy", "bob")}
        copied = "".join(part["cy"].splitlines(keepends=True)[1:6])  # without the first and the last lines
        self.assertEqual(self.write({**honest(), "bob": honest()["bob"].replace(part["bob"], copied)}), 1)
        [row] = self.rows()
        self.assertEqual({row["one"], row["another"]}, {"bob", "cy"})
        self.assertLess(float(row["alike_percent"]), 30)

    def test_nobody(self):
        self.assertEqual(self.write(honest()), 0)
        self.assertIn("No two files are", (self.out / "similar/index.html").read_text())

    def test_strange_names_and_texts_stay_in_their_place(self):
        hostile = "<script>alert(1)</script>\" onmouseover=\"x\n=1+1 \x1b[2J \u202e"
        text = honest()["cy"].replace("// TODO", hostile) + f"\n// {hostile}\nconst char* s = \"</pre><img src=x>\";\n"
        self.write({hostile: text, "=cmd": renamed(text)})
        for path in (self.out / "similar").glob("*.html"):
            page = path.read_text()
            self.assertFalse({"script", "img"} & {tag for tag, _ in Page(page).tags}, path)
            self.assertFalse([a for _, attributes in Page(page).tags for a in attributes if a.startswith("on") or a == "src"])
            self.assertNotIn("\x1b", page)
            self.assertIn("default-src 'none'", page)
        for row in self.rows():
            self.assertNotRegex(row["one"] + row["another"], "^[=+@-]")

    def test_many_of_one_file_are_one_line(self):
        self.write({f"s{i:03}": renamed(honest()["cy"]) + "\n" * i for i in range(120)})
        self.assertEqual(len(self.rows()), 1)
        self.assertIn("and 100 more", (self.out / "similar/index.html").read_text())


if __name__ == "__main__":
    unittest.main()
