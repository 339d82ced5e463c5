"""Reads GCC's dump of its last GIMPLE form (-fdump-tree-optimized-lineno): functions, basic blocks, statements.

GIMPLE at this point is close to PTX: three operands, single assignment, addresses computed. Nothing of the CPU is in it yet.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

HEAD = re.compile(r"^;; Function .*?\(([\w.$]+), funcdef_no=")
BLOCK = re.compile(r"^  <bb (\d+)>")
PLACE = re.compile(r"^\[(?:([^\]\s]+?):)?(\d+):(\d+)(?: discrim \d+)?\] ")  # [0:0] where the compiler knows no file
ANY_PLACE = re.compile(r"\[[^\[\]\s]+:\d+:\d+(?: discrim \d+)?\] ?")
GOTO = re.compile(r"goto <bb (\d+)>")
CASE = re.compile(r"<(L\d+)>")
LABEL = re.compile(r"^<?(L\d+|[\w.]+)>?:(?: \[.*\])?$")
PHI = re.compile(r"^# (\S+) = PHI <(.*)>$")
PHI_ARGUMENT = re.compile(r"(\S+?)\((\d+)\)(?:,|$)")
ARGUMENTS = re.compile(r"(?:<.*>)? \(")
NAME = r"(?:[A-Za-z_][\w.]*)?_\d+(?:\(D\))?"
DECLARED = re.compile(r"([\w.$]+)(?:\[[^\]]*\])*;$")


@dataclass
class Statement:
    text: str
    file: str  # "" where the compiler does not know
    line: int = 0


@dataclass
class Block:
    number: int
    statements: list[Statement] = field(default_factory=list)
    phis: list[tuple[str, dict[int, str]]] = field(default_factory=list)
    next: list[int] = field(default_factory=list)  # successors
    labels: list[str] = field(default_factory=list)
    ends: bool = False  # by a jump, a return or a call that does not return


@dataclass
class Function:
    symbol: str
    kernel: bool
    head: str = ""
    variables: dict[str, str] = field(default_factory=dict)  # name -> declaration
    blocks: dict[int, Block] = field(default_factory=dict)


def functions(path: str) -> list[Function]:
    """Those that are instrumented, with their kernels marked: `noipa` is what __global__ says in an instrumented build."""
    found: list[Function] = []
    now, block, waits_for_head, kernel = None, None, False, False
    symbol = ""
    for raw in open(path, errors="replace"):
        line = raw.rstrip("\n")
        if line.startswith(";; Function "):
            head = HEAD.match(line)
            symbol, now, block, kernel = (head[1] if head else ""), None, None, False
            waits_for_head = bool(head)
            continue
        if waits_for_head:
            if line.startswith("__attribute__") and "noipa" in line:
                kernel = True
            elif line == "{":
                waits_for_head = False
                now = Function(symbol, kernel, previous)
                found.append(now)
            previous = line
            continue
        if now is None:
            continue
        if line == "}":
            now = block = None
            continue
        match = BLOCK.match(line) if line.startswith("  <bb") else None
        if match:
            block = now.blocks[int(match[1])] = Block(int(match[1]))
            continue
        if block is None:
            declared = DECLARED.search(line)
            if declared:
                now.variables[declared[1]] = line.strip()
            continue
        read_line(line.strip(), block)
    for function in found:
        join(function)
    return found


def read_line(line: str, block: Block) -> None:
    if not line or line == "else":
        return
    place = PLACE.match(line)
    file, number, text = (place[1] or "", int(place[2]), line[place.end():]) if place else ("", 0, line)
    if text.startswith("# "):
        phi = PHI.match(text)
        if phi:
            arguments = ANY_PLACE.sub("", phi[2])
            block.phis.append((phi[1], {int(n): name for name, n in PHI_ARGUMENT.findall(arguments)}))
        return
    jump = GOTO.match(text) if text.startswith("goto ") else None
    if jump:
        block.next.append(int(jump[1]))
        block.ends = True
        return
    label = LABEL.match(text) if text.endswith((":", "]")) else None
    if label:
        block.labels.append(label[1])
        return
    text = (ANY_PLACE.sub("", text) if "[" in text else text).replace(" {ref-all}", "")  # which is no variable's name
    if "CLOBBER" in text:
        return
    text = text.replace(" ={v} ", " = ", 1)  # of something volatile: its hook says so
    block.statements.append(Statement(text, file, number))
    if text.startswith("return") or text.startswith("switch ") or "__builtin_unreachable" in text or "__builtin_trap" in text:
        block.ends = True


def join(function: Function) -> None:
    """Switches by their labels, and blocks that fall through to the next."""
    labels = {label: number for number, block in function.blocks.items() for label in block.labels}
    numbers = list(function.blocks)
    for number, following in zip(numbers, [*numbers[1:], None]):
        block = function.blocks[number]
        for statement in block.statements:
            if statement.text.startswith("switch "):
                block.next += [labels[name] for name in CASE.findall(statement.text) if name in labels]
        if not block.ends and following is not None:
            block.next.append(following)
        block.next = list(dict.fromkeys(block.next))


# By a value, or a virtual function.
INDIRECT_CALL = re.compile(r"^(?:[^=;]+ = )?(?:\w*_\d+(?:\(D\))?|OBJ_TYPE_REF\s*\(.*\)) \(", re.MULTILINE)


def reached(functions: list[Function], kernels: set[str] | None = None) -> list[Function]:
    """The kernels, or those of these symbols, and what they call. What is called by its address may be any function that is no kernel."""
    by_name = {}
    for function in functions:
        by_name.setdefault(function.symbol, function)
    texts = {function.symbol: "\n".join(s.text for b in function.blocks.values() for s in b.statements) for function in functions}
    short = {symbol: short_name(function) for symbol, function in by_name.items()}
    found, todo = {}, [f for f in functions if f.kernel and (kernels is None or f.symbol in kernels)]
    while todo:
        function = todo.pop()
        if function.symbol in found:
            continue
        found[function.symbol] = function
        if INDIRECT_CALL.search(texts[function.symbol]):
            todo += [other for other in functions if not other.kernel]
        for symbol, name in short.items():
            if symbol not in found and name and is_called(name, texts[function.symbol]):
                todo.append(by_name[symbol])
    return [function for function in functions if function.symbol in found]


def is_called(name: str, text: str) -> bool:
    """Looked for as a word, which is many times quicker than an expression that begins with what must not stand before it."""
    at = text.find(name)
    while at >= 0:
        before = text[at - 1:at]
        if not (before.isalnum() or before == "_") and ARGUMENTS.match(text, at + len(name)):
            return True
        at = text.find(name, at + 1)
    return False


def short_name(function: Function) -> str:
    match = re.search(r"([\w:~]+)(?:<.*>)? \(", function.head)
    return match[1] if match else ""
