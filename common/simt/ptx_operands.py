"""The operands and the type of one instruction of inline PTX, as C++ on the functions of include/simt/ptx.h."""

from __future__ import annotations

import re


class Unknown(Exception):
    pass


TYPES = {"u8": "uint8_t", "s8": "int8_t", "b8": "uint8_t", "u16": "uint16_t", "s16": "int16_t", "b16": "uint16_t", "f16": "uint16_t",
         "bf16": "uint16_t", "u32": "uint32_t", "s32": "int32_t", "b32": "uint32_t", "f16x2": "uint32_t", "bf16x2": "uint32_t",
         "u64": "uint64_t", "s64": "int64_t", "b64": "uint64_t", "f32": "float", "f64": "double", "pred": "bool"}
SPECIAL = {"laneid": "simt::lane()", "warpid": "simt::thread_rank() / 32", "nwarpid": "2048 / 32", "smid": "0u", "nsmid": "132u",
           "clock": "static_cast<uint32_t>(clock64())", "clock64": "static_cast<uint64_t>(clock64())",
           "clock_hi": "static_cast<uint32_t>(static_cast<uint64_t>(clock64()) >> 32)", "globaltimer": "static_cast<uint64_t>(clock64())",
           "globaltimer_lo": "static_cast<uint32_t>(clock64())", "globaltimer_hi": "static_cast<uint32_t>(static_cast<uint64_t>(clock64()) >> 32)",
           "cluster_ctarank": "simt::cluster_rank()", "cluster_nctarank": "simt::ptx::cluster_blocks()",
           **{f"{name}.{axis}": value.format(axis) for name, value in [("cluster_nctaid", "simt::cluster_size().{0}"), ("clusterid", "simt::cluster_index().{0}"),
                                                                       ("cluster_ctaid", "blockIdx.{0} % simt::cluster_size().{0}")] for axis in "xyz"},
           "lanemask_eq": "1u << simt::lane()", "lanemask_lt": "(1u << simt::lane()) - 1", "lanemask_le": "~0u >> (31 - simt::lane())",
           "lanemask_gt": "~(~0u >> (31 - simt::lane()))", "lanemask_ge": "~((1u << simt::lane()) - 1)",
           **{f"{name}.{axis}": f"{of}.{axis}" for name, of in [("tid", "threadIdx"), ("ntid", "blockDim"), ("ctaid", "blockIdx"),
                                                                ("nctaid", "gridDim")] for axis in "xyz"}}


class Operands:
    def __init__(self, opcode: str, operands: list[str], register):
        """register(name): the C++ variable of a PTX register."""
        self.opcode, self.operands, self.register = opcode, operands, register
        self.name, *self.parts = re.sub(r"::", "__", opcode).split(".")

    def value(self, text: str, type_: str) -> str:
        """An operand to be read."""
        if match := re.fullmatch(r"0[dD]([0-9a-fA-F]{16})", text):
            return f"simt::ptx::as<{type_}>(uint64_t{{0x{match[1]}}})"
        if match := re.fullmatch(r"0[fF]([0-9a-fA-F]{8})", text):
            return f"simt::ptx::as<{type_}>(0x{match[1]}u)"
        if re.fullmatch(r"-?(0[xX][0-9a-fA-F]+|\d+)U?", text):
            return f"static_cast<{type_}>({text})"
        if re.fullmatch(r"-?\d+\.\d*(e-?\d+)?", text):
            return f"static_cast<{type_}>({text})"
        if text.startswith("%") and text[1:] in SPECIAL:
            return f"simt::ptx::as<{type_}>({SPECIAL[text[1:]]})"
        if text.startswith("!"):
            return f"!{self.value(text[1:], type_)}"
        return f"simt::ptx::as<{type_}>({self.register(text)})"

    def apply(self, type_: str, expression: str, *names: str) -> str:
        """d = expression of the operands that follow, by these names."""
        self.expect(len(names) + 1)
        values = ", ".join(self.value(one, type_) for one in self.operands[1:])
        parameters = ", ".join(f"{type_} {name}" for name in names)
        return self.put(self.operands[0], f"static_cast<{type_}>([&]({parameters}) {{ return {expression}; }}({values}))")

    def put(self, text: str, expression: str) -> str:
        return "" if text == "_" else f"simt::ptx::put({self.register(text)}, {expression});"

    def vector(self, text: str) -> list[str]:
        return [one.strip() for one in text[1:-1].split(",")] if text.startswith("{") else [text]

    def address(self, text: str, shared: bool) -> str:
        match = re.fullmatch(r"\[ ?([%\w\[\]]+?) ?(?:\+ ?(-?\w+))? ?\]", text)
        if not match:
            raise self.unknown()
        base = self.value(match[1], "uint32_t" if shared else "uint64_t")
        return f"simt::ptx::{'shared' if shared else 'generic'}({base} + {match[2] or 0})"

    def unknown(self) -> Unknown:
        return Unknown(self.opcode)

    def expect(self, count: int) -> None:
        if len(self.operands) != count:
            raise self.unknown()

    def type(self, at: int = -1) -> str:
        if not self.parts or self.parts[at] not in TYPES:
            raise self.unknown()
        return TYPES[self.parts[at]]

    def modifiers(self, *allowed: str) -> None:
        """All others change what the instruction does, and are not known."""
        if set(self.parts[:-1]) - set(allowed):
            raise self.unknown()
