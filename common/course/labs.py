"""The labs' facts: labs/labs.toml. Whoever needs one asks here.

    [[operator]]
    name = "rms_norm"                 its folder in common/ops; charts keep these in order
    title = "RMSNorm"                 what charts and tables call it; without an entry its name

    [[shape]]
    cols = 4096                       a width of rows that is measured, with normal logits; the first is that of make labNN
    gpu = { rows = 4096, quadratic = 4096 }      how many rows on a GPU, and of a variant whose work grows with cols squared
    cpu = { rows = 64, quadratic = 4 }           so on the executor
    predicted = { rows = 512, quadratic = 4 }    how many of a GPU's rows are run for a prediction; 0: no prediction

    [[lab]]
    name = "lab02_smem"               the folder in labs/ and in solutions/; in ascending order. lab06b_topk: the second part of lab 06
    kernel = "softmax_smem.cu"        the file that students edit
    operator = "softmax"              common/ops has all of them
    variants = [                      what the kernel's table must export
      { name = "tree", types = ["f32"], width = "shared_memory", cost = "quadratic", most_k = 64 },
    ]                                 width, cost, most_k: common/testing/lab.h; without them any width, linear, any number of results
    wrong = ["no_max"]                variants that are there to be wrong: the lab has a test of its own for them, and nobody measures them
    next = "labs/lab09_x/README.md"   what comes after it, if that is not the handout of the lab with the next number
    chapter = "theory/05_warps.md"    the chapter of the book that explains its move
    in_parts = true                   its file takes long to compile for the checks: thirds of its table are compiled side by side (not where g++ then
                                      makes other choices of what to inline, which move the predicted times)

    [[program]]                       a lab whose file is part of a program: it has no rung, no operator and no grade
    name, kernel, next, chapter       as above
    variants = ["packed"]             what the program runs
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MANIFEST = Path("labs/labs.toml")
FIELDS = {"name", "kernel", "operator", "variants"}
OPTIONAL = {"wrong", "next", "chapter", "in_parts"}
CHOICES = {"width": ("any", "shared_memory"), "cost": ("linear", "quadratic")}
TYPES = ("f32", "f16", "bf16")


class Malformed(Exception):
    """The manifest cannot be used; the text says where and why."""


def number_of(name: str) -> str:
    """ "02" of "lab02_smem": what a command ends with. A lab's second part has a letter, too: "06b"."""
    return name.partition("_")[0].removeprefix("lab")


def beginning(wanted: str) -> str:
    """ "lab06b" of "6b", "06b" or "lab6b", as people write it; whatever is no lab's number stays as it is."""
    number = re.fullmatch(r"(?:lab)?(\d{1,2})([a-z]?)", wanted, re.ASCII)
    return f"lab{int(number[1]):02d}{number[2]}" if number else wanted


def chosen(words: str, names: Sequence[str]) -> list[str]:
    """Of these names of labs those that are meant by one of the words, which have commas or blanks between them: a number means that lab
    alone (lab08 is not lab08b), another word all that hold it. No words mean all. Raises Malformed with a word that means none."""
    if not words.strip():
        return list(names)
    meant: set[str] = set()
    for word in re.split(r"\s*,\s*|\s+", words.strip()):
        if not word:
            raise Malformed("it can be labs with commas, for example lab02,lab05; there is nothing before or after one of its commas")
        wanted = beginning(word)
        is_number = re.fullmatch(r"lab\d\d[a-z]?", wanted, re.ASCII)
        found = [name for name in names if (name.partition("_")[0] == wanted if is_number else wanted in name)]
        if not found:
            raise Malformed(f"it can be labs with commas, for example lab02,lab05; no graded lab has '{word}' in its name. They are: {', '.join(names)}")
        meant.update(found)
    return [name for name in names if name in meant]


@dataclass(frozen=True)
class Rows:
    """How many rows; fewer, or none, of a variant whose work grows with the square of the columns."""
    rows: int
    quadratic: int


@dataclass(frozen=True)
class Shape:
    cols: int
    gpu: Rows
    cpu: Rows
    predicted: Rows


@dataclass(frozen=True)
class Variant:
    name: str
    types: tuple[str, ...]
    width: str = "any"
    cost: str = "linear"
    most_k: int = 0


@dataclass(frozen=True)
class Lab:
    name: str
    kernel: str
    operator: str
    variants: tuple[Variant, ...]
    next: str = ""
    wrong: tuple[str, ...] = ()
    chapter: str = ""
    in_parts: bool = False

    @property
    def number(self) -> str:
        return number_of(self.name)

    @property
    def starter(self) -> Path:
        return Path("labs") / self.name / self.kernel

    @property
    def solution(self) -> Path:
        return Path("solutions") / self.name / self.kernel

    @property
    def quadratic(self) -> list[str]:
        """The variants whose work grows with the square of the columns."""
        return [variant.name for variant in self.variants if variant.cost == "quadratic"]


@dataclass(frozen=True)
class Program:
    name: str
    kernel: str
    variants: tuple[str, ...]
    next: str = ""
    chapter: str = ""

    @property
    def number(self) -> str:
        return number_of(self.name)

    @property
    def starter(self) -> Path:
        return Path("labs") / self.name / self.kernel


def variant_of(lab: str, given: dict) -> Variant:
    if not isinstance(given, dict) or not {"name", "types"} <= set(given) <= {"name", "types", "most_k", *CHOICES}:
        raise Malformed(f"{lab}: a variant has a name, types, and may have {', '.join(CHOICES)} and most_k: {given}")
    types = given["types"]
    if not isinstance(types, list) or not types or not all(each in TYPES for each in types):
        raise Malformed(f"{lab}, {given['name']}: types is a list of {', '.join(TYPES)}")
    for field, values in CHOICES.items():
        if given.get(field, values[0]) not in values:
            raise Malformed(f"{lab}, {given['name']}: {field} is {' or '.join(values)}")
    most_k = given.get("most_k", 0)
    if type(most_k) is not int or most_k < 0 or ("most_k" in given and most_k == 0):
        raise Malformed(f"{lab}, {given['name']}: most_k is a number above 0")
    return Variant(**{**given, "types": tuple(types)})


def name_of(given: dict) -> str:
    name = given.get("name", "a lab without a name")
    if not isinstance(name, str) or not re.fullmatch(r"lab\d\d[b-z]?_[a-z][a-z0-9_]*", name, re.ASCII):
        raise Malformed(f"{name}: a lab is called labNN_word, and its second part labNNb_word")
    return name


def program_of(given: dict) -> Program:
    name = name_of(given)
    if not {"name", "kernel", "variants"} <= set(given) <= {"name", "kernel", "variants", "next", "chapter"}:
        raise Malformed(f"{name}: a program has name, kernel, variants, and may have next and chapter")
    if not isinstance(given["variants"], list) or not given["variants"] or not all(isinstance(each, str) and each for each in given["variants"]):
        raise Malformed(f"{name}: variants is a list of names")
    return Program(**{**given, "variants": tuple(given["variants"])})


def operator_of(given: dict) -> tuple[str, str]:
    if set(given) != {"name", "title"} or not all(isinstance(each, str) and each for each in given.values()):
        raise Malformed(f"an operator has a name and a title: {given}")
    return given["name"], given["title"]


def shape_of(given: dict) -> Shape:
    kinds = ("gpu", "cpu", "predicted")
    if set(given) != {"cols", *kinds} or not all(isinstance(given[kind], dict) and set(given[kind]) == {"rows", "quadratic"} for kind in kinds):
        raise Malformed(f"a shape has cols, and rows and quadratic for each of {', '.join(kinds)}: {given}")
    counts = [given["cols"], *(given[kind]["rows"] for kind in kinds)]
    if not all(type(count) is int and count > 0 for count in counts) or not all(
            type(few := given[kind]["quadratic"]) is int and 0 <= few <= given[kind]["rows"] for kind in kinds):
        raise Malformed(f"a shape's cols and rows are numbers above 0, and quadratic is at most rows: {given}")
    if given["gpu"]["rows"] % given["predicted"]["rows"]:
        raise Malformed(f"a shape's rows on a GPU are a multiple of those that are run for a prediction: {given}")
    return Shape(given["cols"], *(Rows(**given[kind]) for kind in kinds))


def lab_of(given: dict) -> Lab:
    name = name_of(given)
    if wrong := (set(given) - FIELDS - OPTIONAL) | (FIELDS - set(given)):
        raise Malformed(f"{name}: has or lacks {', '.join(sorted(wrong))}; the fields are {', '.join(sorted(FIELDS | OPTIONAL))}")
    if not isinstance(given["variants"], list) or not given["variants"]:
        raise Malformed(f"{name}: variants is a list")
    wrong = given.get("wrong", [])
    if not isinstance(wrong, list) or not all(isinstance(each, str) and each for each in wrong):
        raise Malformed(f"{name}: wrong is a list of names")
    if not isinstance(given.get("in_parts", False), bool):
        raise Malformed(f"{name}: in_parts is true or false")
    return Lab(**{**given, "variants": tuple(variant_of(name, each) for each in given["variants"]), "wrong": tuple(wrong)})


def read(root: Path) -> tuple[list[Lab], list[Program], dict[str, str], list[Shape]]:
    """The labs that are rungs, those that are programs, the operators' titles by name, what is measured."""
    try:
        labs, programs, titles, shapes = parsed((root / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError, Malformed) as error:
        raise Malformed(f"{MANIFEST}: {error}") from None
    names = sorted(each.name for each in (*labs, *programs))
    following = dict(zip(names, [f"labs/{name}/README.md" for name in names[1:]] + ["make ladder"]))
    return ([replace(each, next=each.next or following[each.name]) for each in labs],
            [replace(each, next=each.next or following[each.name]) for each in programs], {**titles}, [*shapes])


@functools.lru_cache(maxsize=1)  # one program asks for many labs
def parsed(text: str) -> tuple[list[Lab], list[Program], dict[str, str], list[Shape]]:
    given = tomllib.loads(text)
    if not {"lab"} <= set(given) <= {"operator", "shape", "lab", "program"}:
        raise Malformed("it holds [[operator]], [[shape]], [[lab]] and [[program]] tables and nothing else")
    labs, programs = [lab_of(each) for each in given["lab"]], [program_of(each) for each in given.get("program", [])]
    titles = dict(operator_of(each) for each in given.get("operator", []))
    shapes = [shape_of(each) for each in given.get("shape", [])]
    if len({shape.cols for shape in shapes}) < len(shapes):
        raise Malformed("two shapes have the same cols")
    numbers = [lab.number for lab in (*labs, *programs)]
    in_order = all(these == sorted(these) for these in ([lab.number for lab in labs], [program.number for program in programs]))
    if not in_order or len(set(numbers)) < len(numbers):  # a new lab is added at the end, after the programs
        raise Malformed(f"labs are in ascending order, each number once: {' '.join(numbers)}")
    return labs, programs, titles, shapes


def load(root: Path = ROOT) -> list[Lab]:
    """The labs that are rungs."""
    return read(root)[0]


def programs(root: Path = ROOT) -> list[Program]:
    return read(root)[1]


def operators(root: Path = ROOT) -> dict[str, str]:
    """Their titles by name, in the manifest's order."""
    return read(root)[2]


def shapes(root: Path = ROOT) -> list[Shape]:
    """What is measured; the first is what make labNN measures."""
    return read(root)[3]


def reading_order(root: Path = ROOT) -> list[Lab | Program]:
    """All labs, each before the one that it names as next. To which none leads, such as a new one, come last."""
    labs = [each for kind in read(root)[:2] for each in kind]
    handouts = {f"labs/{each.name}/README.md": each for each in labs}
    order: list[Lab | Program] = []
    following = labs[0] if labs else None
    while following and following not in order:
        order.append(following)
        following = handouts.get(following.next)
    return order + [each for each in labs if each not in order]


def lab(name: str, root: Path = ROOT) -> Lab:
    """By its whole name, or the beginning of it: lab02."""
    return found(name, load(root))


def folder(name: str, root: Path = ROOT) -> Lab | Program:
    """So for any lab, also one that is no rung."""
    return found(name, [*load(root), *programs(root)])


def found(name: str, among: Sequence[Lab | Program]) -> Lab | Program:
    for each in among:
        if name in (each.name, f"lab{each.number}"):
            return each
    raise Malformed(f"{MANIFEST} has no {name}")


def problems(root: Path) -> list[str]:
    """Where the manifest and the folders differ."""
    try:
        labs = [*load(root), *programs(root)]
    except Malformed as error:
        return [str(error)]
    there = {path.name for path in (root / "labs").iterdir() if path.is_dir()}
    named = {each.name for each in labs}
    return ([f"labs/{name}: is not in {MANIFEST}" for name in sorted(there - named)] +
            [f"{MANIFEST}: {name} is in no folder of labs/" for name in sorted(named - there)] +
            [f"{each.starter}: {MANIFEST} says that this is the kernel, and it is missing" for each in labs
             if each.name in there and not (root / each.starter).is_file()])
