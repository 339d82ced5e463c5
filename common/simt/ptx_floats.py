"""Inline PTX's floating-point instructions, comparisons and conversions as C++."""

from __future__ import annotations

import re

from ptx_operands import TYPES, Operands

INTEGER = re.compile(r"[us](8|16|32|64)$")
# PTX's names of roundings, and CUDA's.
ROUNDINGS = {"rn": "rn", "rz": "rz", "rm": "rd", "rp": "ru"}
TO_INTEGER = {"rni": "std::nearbyint", "rzi": "std::trunc", "rmi": "std::floor", "rpi": "std::ceil"}
HALVES = {"f16": "__half", "bf16": "__nv_bfloat16", "f16x2": "__half2", "bf16x2": "__nv_bfloat162"}
TO_HALF = {"f16": "__float2half", "bf16": "__float2bfloat16"}
FP8 = {"e4m3x2": "__NV_E4M3", "e5m2x2": "__NV_E5M2"}


class Floats(Operands):
    HALF = {"add": "__hadd", "sub": "__hsub", "mul": "__hmul", "fma": "__hfma", "min": "__hmin", "max": "__hmax", "neg": "__hneg",
            "abs": "__habs"}
    APPROX = {"ex2": "std::exp2(x)", "lg2": "std::log2(x)", "rcp": "1 / x", "rsqrt": "1 / std::sqrt(x)", "sqrt": "std::sqrt(x)", "sin": "std::sin(x)",
              "cos": "std::cos(x)", "tanh": "std::tanh(x)"}
    EXACT = {"add": "x + y", "sub": "x - y", "mul": "x * y", "fma": "std::fma(x, y, z)", "mad": "std::fma(x, y, z)", "div": "x / y", "min": "simt::ptx::least(x, y)",
             "max": "simt::ptx::most(x, y)", "neg": "-x", "abs": "std::fabs(x)", "copysign": "std::copysign(y, x)"}
    ROUNDED = {"add": "add", "sub": "sub", "mul": "mul", "fma": "maf", "div": "div", "sqrt": "sqrt", "rcp": "rcp"}

    def is_float(self) -> bool:
        return bool(self.parts) and self.parts[-1] in ("f32", "f64", *HALVES)

    def floating(self) -> str:
        if self.parts[-1] in HALVES:
            return self.halves()
        type_, name, parts = self.type(), self.name, self.parts[:-1]
        is_float = type_ == "float"
        rounding = [one for one in parts if one in ROUNDINGS]
        if name in self.APPROX and ("approx" in parts or name not in self.ROUNDED):
            self.modifiers("approx", "ftz")
            expression = self.APPROX[name]
        elif name in self.ROUNDED and rounding and rounding != ["rn"]:
            self.modifiers(*rounding, "ftz", "sat")
            if len(rounding) > 1 or (name == "fma" and not is_float):
                raise self.unknown()
            arguments = {"fma": "x, y, z", "sqrt": "x", "rcp": "x"}.get(name, "x, y")
            expression = f"__{'f' if is_float else 'd'}{self.ROUNDED[name]}_{ROUNDINGS[rounding[0]]}({arguments})"
        elif name in self.EXACT or name in ("sqrt", "rcp"):
            exact = {"min": ("NaN",), "max": ("NaN",), "div": ("rn", "approx", "full"), "neg": (), "abs": (), "copysign": ()}.get(name, ("rn", "sat"))
            self.modifiers("ftz", *exact)
            expression = self.EXACT.get(name) or self.APPROX[name]
            if "NaN" in parts:
                expression = f"x != x || y != y ? std::numeric_limits<{type_}>::quiet_NaN() : {expression}"
        else:
            raise self.unknown()
        names = [one for one in "xyz" if re.search(rf"\b{one}\b", expression)]
        if "sat" in parts:
            expression = f"simt::ptx::saturate_to_one({expression})"
        if "ftz" in parts and is_float:
            flushed = ", ".join(f"simt::ptx::flush({one})" for one in names)
            parameters = ", ".join(f"float {one}" for one in names)
            expression = f"simt::ptx::flush([]({parameters}) -> float {{ return {expression}; }}({flushed}))"
        return self.apply(type_, expression, *names)

    def halves(self) -> str:
        """Of one 16-bit number, or of two in a word."""
        last, name, parts = self.parts[-1], self.name, self.parts[:-1]
        type_ = HALVES[last]
        count = {"neg": 1, "abs": 1, "fma": 3}.get(name, 2)
        if name in self.HALF:
            self.modifiers("rn", "relu", "NaN") if name in ("fma", "min", "max") else self.modifiers("rn")
            function = self.HALF[name] + ("_nan" if "NaN" in parts else "") + ("2" if last.endswith("x2") else "") + ("_relu" if "relu" in parts else "")
            if "NaN" in parts:
                function = f"{self.HALF[name]}{'2' if last.endswith('x2') else ''}_nan"
            if "relu" in parts and name != "fma":
                raise self.unknown()
            call = f"{function}({', '.join('xyz'[:count])})"
        elif name in ("ex2", "tanh"):
            self.modifiers("approx", "ftz")
            count = 1
            call = f"simt::ptx::through_float(x, [](float one) {{ return {'exp2f' if name == 'ex2' else 'tanhf'}(one); }})"
        else:
            raise self.unknown()
        self.expect(count + 1)
        values = ", ".join(self.value(one, type_) for one in self.operands[1:])
        parameters = ", ".join(f"{type_} {one}" for one in "xyz"[:count])
        return self.put(self.operands[0], f"[&]({parameters}) {{ return {call}; }}({values})")

    def of_testp(self) -> str:
        tests = {"finite": "std::isfinite", "infinite": "std::isinf", "notanumber": "std::isnan", "number": "!std::isnan", "normal": "std::isnormal",
                 "subnormal": "simt::ptx::is_subnormal"}
        self.expect(2)
        if len(self.parts) != 2 or self.parts[0] not in tests or self.parts[1] not in ("f32", "f64"):
            raise self.unknown()
        return self.put(self.operands[0], f"{tests[self.parts[0]]}({self.value(self.operands[1], self.type())})")

    # --- comparisons --------------------------------------------------------------------------------------------------------

    COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<", "ls": "<=", "hi": ">", "hs": ">="}

    def comparison(self, how: str) -> str:
        """Of x and y. With a NaN every comparison is false, but of those that end in u every one is true."""
        if self.parts[-1] in ("f16", "bf16"):
            type_ = HALVES[self.parts[-1]]
            x, y = (f"static_cast<float>({self.value(one, type_)})" for one in self.operands[1:3])
        else:
            x, y = (self.value(one, self.type()) for one in self.operands[1:3])
        floating = self.is_float()
        if how in ("num", "nan") and floating:
            return f"{'!' if how == 'num' else ''}std::isunordered({x}, {y})"
        if how[:-1] in self.COMPARE and how.endswith("u") and floating:
            return f"(std::isunordered({x}, {y}) || {x} {self.COMPARE[how[:-1]]} {y})"
        if how not in self.COMPARE or (floating and how in ("lo", "ls", "hi", "hs")):
            raise self.unknown()
        ordered = f"!std::isunordered({x}, {y}) && " if floating and how == "ne" else ""
        return f"({ordered}{x} {self.COMPARE[how]} {y})"

    def of_setp(self) -> str:
        how, *rest = [part for part in self.parts[:-1] if part != "ftz"] or [""]
        if len(rest) > 1 or (rest and rest[0] not in ("and", "or", "xor")) or self.parts[-1] in ("f16x2", "bf16x2"):
            raise self.unknown()
        self.expect(4 if rest else 3)
        result = self.comparison(how)
        operator = {"and": "&&", "or": "||", "xor": "!="}.get(rest[0] if rest else "")
        other = f" {operator} {self.value(self.operands[3], 'bool')}" if rest else ""
        first, _, second = self.operands[0].partition("|")
        lines = f"const bool simt_is = {result}; {self.put(first.strip(), f'simt_is{other}')}"
        return f"{{ {lines} {self.put(second.strip(), f'(!simt_is){other}') if second else ''} }}"

    def of_set(self) -> str:
        parts = [part for part in self.parts if part != "ftz"]
        self.expect(3)
        if len(parts) != 3 or parts[1] not in ("u32", "s32", "f32"):
            raise self.unknown()
        values = "1.0f : 0.0f" if parts[1] == "f32" else "~0u : 0u"
        return self.put(self.operands[0], f"{self.comparison(parts[0])} ? {values}")

    def of_selp(self) -> str:
        self.expect(4)
        x, y = (self.value(one, self.type()) for one in self.operands[1:3])
        return self.put(self.operands[0], f"{self.value(self.operands[3], 'bool')} ? {x} : {y}")

    def of_slct(self) -> str:
        parts = [part for part in self.parts if part != "ftz"]
        self.expect(4)
        if len(parts) != 2 or parts[1] not in ("s32", "f32"):
            raise self.unknown()
        x, y = (self.value(one, TYPES[parts[0]]) for one in self.operands[1:3])
        return self.put(self.operands[0], f"{self.value(self.operands[3], TYPES[parts[1]])} >= 0 ? {x} : {y}")

    # --- conversions --------------------------------------------------------------------------------------------------------

    def of_cvt(self) -> str:
        flush = "ftz" in self.parts
        parts = [part for part in self.parts if part != "ftz"]
        if len(parts) < 2:
            raise self.unknown()
        (to, from_), how = parts[-2:], parts[:-2]
        if to == "tf32":
            if how not in (["rna"], ["rn"]) or from_ != "f32":
                raise self.unknown()
            function = {"rna": "to_tf32", "rn": "to_tf32_even"}[how[0]]
            return self.put(self.operands[0], f"simt::ptx::{function}({self.value(self.operands[1], 'float')})")
        if to in FP8 or from_ in FP8:
            return self.fp8_conversion(to, from_, how)
        if to in ("f16x2", "bf16x2"):
            return self.pair(to, from_, how)
        self.expect(2)
        value = self.conversion(to, from_, how, flush)
        return self.put(self.operands[0], value)

    def pair(self, to: str, from_: str, how: list[str]) -> str:
        rounding = [one for one in how if one in ("rn", "rz")]
        if from_ != "f32" or len(rounding) != 1 or set(how) - {*rounding, "relu"} or len(self.operands) != 3:
            raise self.unknown()
        function = f"{TO_HALF[to[:-2]]}_{rounding[0]}"
        high, low = (self.value(one, "float") for one in self.operands[1:])
        if "relu" in how:
            high, low = f"simt::ptx::relu({high})", f"simt::ptx::relu({low})"
        return self.put(self.operands[0], f"simt::ptx::pack<uint32_t>({function}({low}), {function}({high}))")

    def fp8_conversion(self, to: str, from_: str, how: list[str]) -> str:
        if to in FP8 and from_ == "f32" and how == ["rn", "satfinite"] and len(self.operands) == 3:
            high, low = (f"__nv_cvt_float_to_fp8({self.value(one, 'float')}, __NV_SATFINITE, {FP8[to]})" for one in self.operands[1:])
            return self.put(self.operands[0], f"static_cast<uint16_t>({low} | {high} << 8)")
        if to in FP8 and from_ == "f16x2" and how == ["rn", "satfinite"] and len(self.operands) == 2:
            return self.put(self.operands[0], f"__nv_cvt_halfraw2_to_fp8x2({self.value(self.operands[1], '__half2')}, __NV_SATFINITE, {FP8[to]})")
        if from_ in FP8 and to == "f16x2" and how == ["rn"] and len(self.operands) == 2:
            return self.put(self.operands[0], f"__half2(__nv_cvt_fp8x2_to_halfraw2({self.value(self.operands[1], 'uint16_t')}, {FP8[from_]}))")
        raise self.unknown()

    def conversion(self, to: str, from_: str, how: list[str], flush: bool) -> str:
        saturates = "sat" in how
        how = [one for one in how if one != "sat"]
        if len(how) > 1:
            raise self.unknown()
        if from_ in ("f16", "bf16"):
            value, from_ = f"static_cast<float>({self.value(self.operands[1], HALVES[from_])})", "f32"
        elif INTEGER.match(from_) or from_ in ("f32", "f64"):
            value = self.value(self.operands[1], TYPES[from_])
        else:
            raise self.unknown()
        if flush and from_ == "f32":
            value = f"simt::ptx::flush({value})"
        if INTEGER.match(to):
            if INTEGER.match(from_) and not how:
                return f"simt::ptx::clamped<{TYPES[to]}>({value})" if saturates else f"static_cast<{TYPES[to]}>({value})"
            if not INTEGER.match(from_) and how and how[0] in TO_INTEGER:
                return f"simt::saturate<{TYPES[to]}>({TO_INTEGER[how[0]]}({value}))"
            raise self.unknown()
        rounding = ROUNDINGS.get(how[0]) if how else None
        if to in ("f16", "bf16"):
            if INTEGER.match(from_) and to == "f16" and rounding == "rn":
                return f"__float2half_rn(static_cast<float>({value}))"  # what float rounds is beyond half's range
            if from_ == "f32" and rounding in ("rn", "rz") and not saturates:
                return f"{TO_HALF[to]}_{rounding}({value})"
            raise self.unknown()
        if to not in ("f32", "f64"):
            raise self.unknown()
        if how and how[0] in TO_INTEGER and to == from_:
            value = f"{TO_INTEGER[how[0]]}({value})"
        elif INTEGER.match(from_) and rounding not in (None, "rn"):
            name = {"u32": "uint", "s32": "int", "u64": "ull", "s64": "ll"}.get(from_)
            if not name or (to == "f64" and name in ("uint", "int")):
                raise self.unknown()
            value = f"__{name}2{'float' if to == 'f32' else 'double'}_{rounding}({value})"
        elif to == "f32" and from_ == "f64" and rounding not in (None, "rn"):
            value = f"__double2float_{rounding}({value})"
        elif how and rounding != "rn":
            raise self.unknown()
        else:
            value = f"static_cast<{TYPES[to]}>({value})"
        return f"simt::ptx::saturate_to_one({value})" if saturates else value
