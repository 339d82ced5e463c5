"""Inline PTX: what an asm statement becomes in C++, on the functions of include/simt/ptx.h. What is not known raises Unknown,
with the instruction's name; simtcc then refuses the line."""

from __future__ import annotations

import re

from ptx_instructions import Instruction
from ptx_operands import TYPES, Unknown

CONSTRAINTS = {"r": "uint32_t", "l": "uint64_t", "h": "uint16_t", "f": "float", "d": "double", "n": "uint64_t"}


def split(code: str, text: str, separator: str) -> list[tuple[str, str]]:
    """At separators outside of brackets; `code` is `text` with strings blanked."""
    parts, depth, begin = [], 0, 0
    for i, character in enumerate(code):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(character, 0)
        if character == separator and depth == 0:
            parts.append((code[begin:i], text[begin:i]))
            begin = i + 1
    return [*parts, (code[begin:], text[begin:])]


def literal(code: str, text: str) -> str:
    """The strings that stand here, put together; nothing else may."""
    strings = list(re.finditer('"[^"]*"', code))
    if re.sub(r"[\s\\]", "", re.sub('"[^"]*"', "", code)):
        raise Unknown("a text that is put together by macros")
    joined = "".join(text[one.start() + 1:one.end() - 1] for one in strings)
    return re.sub(r"\\(.)", lambda match: {"n": "\n", "t": " ", "r": ""}.get(match[1], match[1]), joined)


class Statement:
    def __init__(self, code: str, text: str):
        sections = split(code, text, ":")
        if len(sections) > 4:
            raise Unknown("asm goto")
        self.lines: list[str] = []
        self.ends: list[str] = []
        self.names: dict[str, str] = {}
        self.count = 0
        for at, section in enumerate(sections[1:3]):
            for part_code, part in split(*section, ","):
                if part.strip(" \t\n\\"):
                    self.operand(part_code, part.strip(" \t\n\\"), at == 0)
        for clobbered in re.findall('"([^"]*)"', sections[3][1] if len(sections) > 3 else ""):
            if clobbered not in ("memory", "cc"):
                raise Unknown(f'the register "{clobbered}": a kernel can name only "memory" there')
        self.template = literal(*sections[0])

    def operand(self, code: str, part: str, is_output: bool) -> None:
        match = re.match(r'"([=+&]*)(\w)"\s*\((.*)\)$', part, re.DOTALL)
        if not match or match[2] not in CONSTRAINTS:
            raise Unknown(f"the operand {part}")
        kind, letter, value = match.groups()
        if is_output and not set(kind) & {"=", "+"}:
            raise Unknown(f"the operand {part}: an output begins with = or +")
        register = f"simt_{self.count}"
        type_ = CONSTRAINTS[letter]
        if is_output:
            # The address is taken once: it may be an expression with an effect.
            self.lines.append(f"auto& simt_at_{self.count} = {value};")
            if "+" in kind:
                self.lines.append(f"{type_} {register} = simt::ptx::in<{type_}>(simt_at_{self.count});")
            else:
                self.lines.append(f"{type_} {register} = {{}};")
            self.ends.append(f"simt::ptx::out(simt_at_{self.count}, {register});")
        elif letter == "n":
            self.lines.append(f"constexpr uint64_t {register} = static_cast<uint64_t>({value});")
        else:
            self.lines.append(f"{type_} {register} = simt::ptx::in<{type_}>({value});")
        self.names[f"%{self.count}"] = register
        self.count += 1

    def translate(self) -> str:
        used = set()
        body: list[str] = []
        steps = list(instructions(self.template))
        labels = {opcode[:-1]: f"simt_to_{re.sub('[^A-Za-z0-9_]', '_', opcode[:-1])}" for opcode, _, _ in steps if opcode.endswith(":")}
        for opcode, predicate, operands in steps:
            if opcode.endswith(":"):
                body.append(f"{labels[opcode[:-1]]}: ;")
                continue
            if opcode.startswith(".reg"):
                type_ = opcode.split(".")[-1]
                if type_ not in TYPES:
                    raise Unknown(opcode)
                for name in [one for operand in operands for one in registers(operand)]:
                    self.names[name] = f"simt_r_{re.sub(r'[^A-Za-z0-9_]', '_', name)}"
                    if self.names[name] not in used:
                        self.lines.append(f"{TYPES[type_]} {self.names[name]} = {{}};")
                    used.add(self.names[name])
                continue
            try:
                if opcode in ("bra", "bra.uni"):
                    line = f"goto {labels[operands[0]]};"
                else:
                    line = Instruction(opcode, operands, self.register).cpp()
            except (IndexError, KeyError, ValueError):  # fewer modifiers or operands than any form of it has
                raise Unknown(opcode) from None
            if predicate:
                negated = "!" if predicate[0] == "!" else ""
                line = f"if ({negated}{self.register(predicate.lstrip('!'))}) {{ {line} }}"
            body.append(line)
        own = f"__label__ {', '.join(labels.values())};" if labels else ""
        return "do { " + " ".join([own, *self.lines, *body, *self.ends]).lstrip() + " } while (0)"

    def register(self, text: str) -> str:
        if text not in self.names:
            raise Unknown(f"the operand {text}")
        return self.names[text]


def registers(declared: str) -> list[str]:
    """`r<3>` declares r0, r1 and r2."""
    match = re.fullmatch(r"([%\w$]+) ?<(\d+)>", declared)
    return [f"{match[1]}{number}" for number in range(int(match[2]))] if match else [declared]


def instructions(template: str):
    """Opcode, predicate, operands; of a label its name with the colon."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", template, flags=re.DOTALL).replace("%%", "%").replace("%=", "_")  # a number of this statement
    at = 0
    while at < len(text):
        if text[at].isspace() or text[at] in "{};":
            at += 1
            continue
        if label := re.compile(r"([%\w$]+)\s*:(?!:)").match(text, at):
            yield label[1] + ":", None, []
            at = label.end()
            continue
        end = text.find(";", at)
        line = re.sub(r"\s+", " ", text[at:end if end >= 0 else len(text)]).strip()
        at = end + 1 if end >= 0 else len(text)
        if end < 0:
            line = line.rstrip("}").rstrip() if line.count("}") > line.count("{") else line
        match = re.match(r"(?:@(!?[%\w]+) )?(\.reg(?: \.v\d)? \.\w+|[A-Za-z_][\w.:]*)(?: (.*)|([\[{].*))?$", line)
        if not match:
            raise Unknown(line.split(" ")[0])
        operands = match[3] or match[4] or ""
        yield match[2].replace(" ", ""), match[1], [part.strip() for _, part in split(operands, operands, ",") if part.strip()]


def translate(code: str, text: str) -> str:
    """C++ for what stands in the parentheses of an asm statement; `code` is it with strings blanked."""
    return Statement(code, text).translate()
