"""Inline PTX's integer instructions as C++, on the functions of include/simt/ptx_integers.h."""

from __future__ import annotations

import re

from ptx_operands import TYPES, Operands

WIDER = {"u16": "uint32_t", "s16": "int32_t", "u32": "uint64_t", "s32": "int64_t"}
INTEGERS = ("u16", "s16", "u32", "s32", "u64", "s64", "b16", "b32", "b64")


class Integers(Operands):
    def call(self, function: str, *types: str) -> str:
        """d = function(the operands that follow, as these types)."""
        self.expect(len(types) + 1)
        values = ", ".join(self.value(one, type_) for one, type_ in zip(self.operands[1:], types))
        return self.put(self.operands[0], f"simt::ptx::{function}({values})")

    def is_integer(self) -> bool:
        return bool(self.parts) and self.parts[-1] in INTEGERS

    # --- sums that carry: the flag is the thread's, from one asm statement to the next --------------------------------------

    def with_carry(self, function: str, operands: int, reads: bool) -> str:
        if self.parts[-1] not in ("u32", "s32", "u64", "s64"):
            raise self.unknown()
        self.modifiers("cc", *(("lo", "hi") if operands == 3 else ()))
        flags = f"{str(reads).lower()}, {str('cc' in self.parts).lower()}"
        if operands == 3:
            if len({"lo", "hi"} & set(self.parts)) != 1:
                raise self.unknown()
            flags = f"{str('hi' in self.parts).lower()}, {flags}"
        return self.call(f"{function}<{flags}, {self.type()}>", *[self.type()] * operands)

    def of_addc(self) -> str:
        return self.with_carry("add_with_carry", 2, True)

    def of_subc(self) -> str:
        return self.with_carry("subtract_with_borrow", 2, True)

    def of_madc(self) -> str:
        return self.with_carry("multiply_add_with_carry", 3, True)

    # --- products -----------------------------------------------------------------------------------------------------------

    def product(self, operands: int) -> str:
        """mul and mad: the low half, the high half, or all."""
        part = [one for one in ("lo", "hi", "wide") if one in self.parts]
        self.modifiers("lo", "hi", "wide")
        if len(part) > 1 or not self.is_integer():
            raise self.unknown()
        name = {2: "multiply", 3: "multiply_add"}[operands]
        if part == ["wide"]:
            if self.parts[-1] not in WIDER:
                raise self.unknown()
            wide = WIDER[self.parts[-1]]
            return self.call(f"{name}<false, {wide}>", *[self.type()] * 2, *[wide] * (operands - 2))
        return self.call(f"{name}<{str(part == ['hi']).lower()}, {self.type()}>", *[self.type()] * operands)

    def product24(self, operands: int) -> str:
        self.modifiers("lo", "hi")
        if self.parts[-1] not in ("u32", "s32") or len(self.parts) != 2:
            raise self.unknown()
        name = {2: "multiply24", 3: "multiply_add24"}[operands]
        return self.call(f"{name}<{str(self.parts[0] == 'hi').lower()}, {self.type()}>", *[self.type()] * operands)

    def of_mul24(self) -> str:
        return self.product24(2)

    def of_mad24(self) -> str:
        return self.product24(3)

    def of_sad(self) -> str:
        self.modifiers()
        return self.call(f"sad<{self.type()}>", *[self.type()] * 3)

    def of_rem(self) -> str:
        self.modifiers()
        if not self.is_integer():
            raise self.unknown()
        return self.call(f"remainder<{self.type()}>", *[self.type()] * 2)

    def of_dp4a(self) -> str:
        return self.dot("dot4")

    def of_dp2a(self) -> str:
        if self.parts[0] not in ("lo", "hi"):
            raise self.unknown()
        return self.dot(f"dot2_{self.parts[0]}")

    def dot(self, name: str) -> str:
        types = self.parts[-2:]
        if set(types) - {"u32", "s32"} or len(self.parts) != (2 if name == "dot4" else 3):
            raise self.unknown()
        byte = {"u32": "uint8_t", "s32": "int8_t"}
        result = "uint32_t" if types == ["u32", "u32"] else "int32_t"
        first = byte[types[0]] if name == "dot4" else {"u32": "uint16_t", "s32": "int16_t"}[types[0]]
        return self.call(f"{name}<{first}, {byte[types[1]]}>", "uint32_t", "uint32_t", result)

    # --- bits ---------------------------------------------------------------------------------------------------------------

    def of_bfe(self) -> str:
        if self.parts[0] not in ("u32", "s32", "u64", "s64") or len(self.parts) != 1:
            raise self.unknown()
        return self.call(f"bfe<{self.type()}>", self.type(), "uint32_t", "uint32_t")

    def of_bfi(self) -> str:
        if self.parts not in (["b32"], ["b64"]):
            raise self.unknown()
        return self.call(f"bfi<{self.type()}>", self.type(), self.type(), "uint32_t", "uint32_t")

    def of_bfind(self) -> str:
        self.modifiers("shiftamt")
        if self.parts[-1] not in ("u32", "s32", "u64", "s64"):
            raise self.unknown()
        return self.call(f"bfind<{str('shiftamt' in self.parts).lower()}, {self.type()}>", self.type())

    def of_fns(self) -> str:
        if self.parts != ["b32"]:
            raise self.unknown()
        self.expect(4)
        values = ", ".join(self.value(one, type_) for one, type_ in zip(self.operands[1:], ("uint32_t", "uint32_t", "int32_t")))
        return self.put(self.operands[0], f"__fns({values})")

    def of_cnot(self) -> str:
        self.modifiers()
        return self.call(f"is_zero<{self.type()}>", self.type())

    # --- video instructions: of a word, or of its four bytes or two halves --------------------------------------------------

    def video(self) -> str:
        operation = {"add": "add", "sub": "sub", "absdiff": "absdiff", "min": "min", "max": "max", "avrg": "avrg"}.get(self.name[1:].rstrip("24"))
        lanes = {"4": 4, "2": 2}.get(self.name[-1], 1)
        types, rest = self.parts[:3], self.parts[3:]
        accumulates = rest == ["add"]
        if not operation or len(types) != 3 or set(types) - {"u32", "s32"} or (rest and not accumulates) or \
                (operation == "avrg") > (lanes > 1) or (lanes > 1 and types[1] != types[2]):
            raise self.unknown()
        if len(self.operands) == 3 and not accumulates:
            self.operands.append("0")  # of lanes that are not written; all are
        self.expect(4)
        arguments = ", ".join(TYPES[one] for one in types[1:])
        return self.call(f"video<simt::ptx::Video::{operation}, {lanes}, {str(accumulates).lower()}, {arguments}>", "uint32_t", "uint32_t", "uint32_t")

    def of_vmad(self) -> str:
        match = re.fullmatch(r"vmad\.[us]32\.([us]32)\.([us]32)(?:\.shr(7|15))?", self.opcode)
        if not match:
            raise self.unknown()
        third = "s32" if "s32" in match.groups() else "u32"
        return self.call(f"vmad<{match[3] or 0}>", *(TYPES[one] for one in (match[1], match[2], third)))

    of_vadd = of_vsub = of_vabsdiff = of_vmin = of_vmax = video
    of_vadd4 = of_vsub4 = of_vabsdiff4 = of_vmin4 = of_vmax4 = of_vavrg4 = video
    of_vadd2 = of_vsub2 = of_vabsdiff2 = of_vmin2 = of_vmax2 = of_vavrg2 = video
