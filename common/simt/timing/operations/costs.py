"""What a GIMPLE statement costs a GPU: how many instructions a warp issues for it, which unit they need, which values it
reads and writes.

Instructions are those that nvcc 13 makes of such an expression for compute capability 9.0 (seen in its SASS), without
-use_fast_math. A statement of the executor's own headers stands for something else than what it says and is free, but for the
headers in PLAIN, which are written as a CUDA program would write them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gimple import NAME, Function, Statement
from remembered import Remembered

PLAIN = ("curand_kernel.h", "math.h", "bits.h", "special_functions.h", "vector_functions.h", "vector_types.h", "rounding.h", "simd_words.h")
# name: instructions on the way that usual arguments take through nvcc 13's PTX (moves and signs are free, a root that is rounded is 8, a quotient
# 10), of which on the special function unit (MUFU); of single precision. `fence`: their rare cases are a call, past which
# nvcc moves no load.
FUNCTIONS = {
    "expf": (8, 1), "exp2f": (4, 1), "exp10f": (9, 1), "expm1f": (30, 1), "logf": (25, 0), "log2f": (27, 0), "log10f": (26, 0), "log1pf": (22, 0),
    "sqrtf": (8, 1), "rsqrtf": (4, 1), "sinf": (28, 0), "cosf": (28, 0), "tanf": (36, 1), "tanhf": (16, 2), "sinhf": (23, 2), "coshf": (14, 2), "erff": (22, 1),
    "erfcf": (46, 3), "powf": (82, 2), "fmodf": (15, 1), "cbrtf": (16, 2), "atanf": (18, 1), "atan2f": (39, 1), "asinf": (23, 1), "acosf": (25, 1),
    "hypotf": (22, 1), "lgammaf": (30, 0), "tgammaf": (23, 1), "roundf": (3, 0), "truncf": (1, 0), "floorf": (1, 0), "ceilf": (1, 0), "rintf": (1, 0), "nearbyintf": (1, 0),
    "sincosf": (42, 0), "cexpif": (42, 0), "sinpif": (24, 1), "cospif": (24, 1), "sincospif": (24, 0), "rcbrtf": (16, 2), "normcdff": (56, 3), "erfinvf": (14, 1),
    "fmaf": (1, 0), "fabsf": (0, 0), "copysignf": (1, 0), "fmaxf": (1, 0), "fminf": (1, 0), "ldexpf": (6, 0), "scalbnf": (6, 0), "frexpf": (8, 0),
    "fdimf": (3, 0), "nextafterf": (25, 0), "logbf": (8, 1), "ilogbf": (8, 0),
}
# The fast intrinsics, which math.h makes of the accurate functions; and rsqrtf, which it makes of a root and a division: one instruction of the
# special function unit for both.
FAST = {"expf": (4, 1), "exp2f": (2, 1), "logf": (3, 1), "log2f": (2, 1), "log10f": (3, 1), "powf": (5, 2), "sinf": (2, 1), "cosf": (2, 1), "tanf": (5, 3), "tanhf": (1, 1),
        "sqrtf": (2, 0), "cexpif": (3, 2)}
# What float_by_double.h calls, and which function of floats it makes of that.
BY_DOUBLE = {"sin": "sinpif", "cos": "cospif", "cexpi": "sincospif", "sincos": "sincospif", "erfc": "normcdff"}
FENCES = {"sqrtf"}
POLYNOMIALS = {"logf", "log2f", "log10f", "log1pf", "lgammaf"}  # products and sums of floats
# Double precision, counted in the same way: instructions, and how many of them are of the units of doubles. The others fetch constants or look at exponents.
DOUBLE = {
    "exp": (45, 15), "log": (84, 30), "sqrt": (17, 8), "sin": (44, 16), "cos": (45, 16), "pow": (180, 85), "fmax": (8, 1), "fmin": (8, 1), "fma": (1, 1), "fabs": (0, 0), "floor": (1, 1), "ceil": (1, 1),
    "tanh": (65, 21), "erf": (119, 42), "rsqrt": (12, 5), "sincos": (70, 21), "cexpi": (70, 21), "erfc": (160, 62), "exp2": (46, 16), "exp10": (51, 17), "expm1": (65, 19), "log2": (90, 32), "log10": (90, 32),
    "log1p": (89, 31), "cbrt": (43, 13), "atan": (74, 24), "asin": (47, 15), "acos": (59, 20), "atan2": (113, 39), "cosh": (61, 21), "sinh": (94, 30), "hypot": (40, 15), "rint": (1, 1), "trunc": (1, 1), "round": (3, 1), "fdim": (4, 2),
    "quotient": (16, 8), "reciprocal": (12, 5),
}
BUILTINS = {"popcount": 1, "popcountl": 3, "popcountll": 3, "clz": 2, "clzl": 4, "clzll": 4, "ctz": 2, "ctzl": 4, "ctzll": 4, "ffs": 3, "ffsl": 5, "ffsll": 5, "bswap32": 1,
            "bswap64": 2, "bitreverse32": 1, "abs": 1, "isinf_sign": 2, "signbit": 1, "isnan": 1, "isfinite": 2, "unordered": 1, "fabsf": 0, "fabs": 0, "copysign": 1, "huge_valf": 0,
            "clrsb": 2, "parity": 2, "memcpy": 2, "memset": 2, "expect": 0, "return_address": 0, "assume_aligned": 0, "add_overflow": 2, "mul_overflow": 3, "sub_overflow": 2}
# Of these and of INTERNAL: how many are on the special function unit, which counts bits, finds the highest and reverses them.
BITS = {"popcount": 1, "popcountl": 2, "popcountll": 2, "clz": 1, "clzl": 1, "clzll": 1, "ctz": 2, "ctzl": 2, "ctzll": 2, "ffs": 2, "ffsl": 2, "ffsll": 2, "bitreverse32": 1, "clrsb": 1,
        "parity": 1, ".POPCOUNT": 1, ".CLZ": 1, ".CTZ": 2}
INTERNAL = {".FMA": 1, ".FMS": 1, ".FNMA": 1, ".VCOND_MASK": 1, ".VCOND": 2, ".VCONDU": 2, ".COND_ADD": 1, ".POPCOUNT": 1, ".CLZ": 2, ".CTZ": 2, ".SQRT": 8, ".MUL_OVERFLOW": 3, ".ADD_OVERFLOW": 2, ".SUB_OVERFLOW": 2}
FREE_CALLS = ("__assert_fail", "__builtin___tsan_func", "__tsan_func", "simt::checked_value", "simt::checked_lanes", "simt::checked_operand", "std::", "__builtin_unreachable", "simt::fence", "__builtin_return_address", "simt::yield",
              "__builtin___tsan_init", "__builtin___tsan_vptr", "simt::clock_ticks", "simt::carry_flag", "simt::set_carry_flag", "__builtin_va", "__cxa", "_Unwind", "__builtin_eh_", "__builtin_unwind")
WARP_CALLS = {8: "shuffle", 9: "shuffle", 10: "shuffle", 11: "shuffle", 12: "vote", 13: "vote", 14: "vote", 15: "match", 16: "match", 17: "reduce", 6: "syncwarp"}

HOOK = re.compile(r"^(?:(\S+) = )?(?:__builtin_)?(__tsan_(?:unaligned_)?(?:volatile_)?(read|write|read_write)(?:\d+|_range)|__sanitizer_cov_trace_pc|"
                  r"simt::(?:before_atomic(?:_store)?|warp_exchange|block_barrier|grid_barrier|active_lanes)) \((.*)\);$")
CALL = re.compile(r"^(?:(.+?) = )?([\w.:$~<>, &*\[\]()-]+?) \((.*)\);(?: \[.*\])?$")
ASSIGN = re.compile(r"^(.+?) = (.+);$")
SSA = Remembered(rf"(?<![\w.])(?:{NAME})(?![\w.])")
MARKER = re.compile(r'"\s*#\s*gpu (\w+)')
VARIABLE = r"(D\.\d+|[A-Za-z_]\w*)"  # or a temporary one of the compiler's
LOCAL = Remembered(rf"(?<![\w.\"&>]){VARIABLE}((?:\.[A-Za-z_]\w*)*)")
IN_MEMORY = Remembered(rf"\bMEM(?: <[^;=]*?>)? ?\[\([^()]*\)&{VARIABLE}")  # a variable's part, by its address
WIDE = Remembered(r"\b(long|uint64_t|int64_t|size_t|uintptr_t|ptrdiff_t)\b|\*")


@dataclass
class Cost:
    kind: str          # alu integer (as alu, but half of them go to the units of float) float mufu half double tensor load store atomic shuffle vote ... call branch copy unknown
    instructions: float = 0
    mufu: int = 0
    fence: bool = False
    why: str = ""      # of an unknown one
    beside: float = 0  # of a function of doubles: its instructions on other units, which are not among `instructions`


# What the executor marks, by the name that its marker has (MARKER).
OF_HALVES = {
    "reverse": Cost("alu", 1, 1), "permute": Cost("alu", 1), "sum_of_products": Cost("alu", 1),
    "half": Cost("half", 1), "convert": Cost("half", 1), "half_function": Cost("mufu", 5, 1), "pair": Cost("half", -1),
}


class Names:
    """A function's values: SSA names and the members of its variables."""

    def __init__(self, function: Function):
        self.variables = function.variables
        self.uses: dict[str, int] = {}
        for block in function.blocks.values():
            for statement in block.statements:
                to, equals, source = statement.text.partition(" = ")
                for name in SSA.findall(source if equals and SSA.fullmatch(to) else statement.text):
                    self.uses[name] = self.uses.get(name, 0) + 1
            for _, arguments in block.phis:
                for name in arguments.values():
                    self.uses[name] = self.uses.get(name, 0) + 1

    def declaration(self, name: str) -> str:
        if name in self.variables:
            return self.variables[name]
        base = name.removesuffix("(D)").rpartition("_")[0]
        return self.variables.get(base, "")

    def is_wide(self, name: str) -> bool:
        return bool(WIDE.search(self.declaration(name)))

    def is_float(self, name: str) -> bool:
        return self.declaration(name).startswith(("float ", "const float ")) and not self.is_pointer(name)

    def is_double(self, name: str) -> bool:
        return self.declaration(name).startswith(("double ", "const double ")) and not self.is_pointer(name)

    def is_pointer(self, name: str) -> bool:
        return "*" in self.declaration(name)

    def read(self, text: str) -> list[str]:
        """The values in an expression; members of variables by their path, variables whose address is taken left out."""
        found = list(SSA.findall(text))
        for name, members in LOCAL.findall(text):
            if name in self.variables and "static" not in self.variables[name] and not SSA.fullmatch(name):
                found.append(name + members)
        found += [name for name in IN_MEMORY.findall(text) if name in self.variables and "static" not in self.variables[name]]
        return found


def is_own(file: str) -> bool:
    """Of the executor's headers, and not written as a CUDA program would write it."""
    at = file.rfind("simt/include/")
    return at >= 0 and file.rsplit("/", 1)[1] not in PLAIN


def power_of_two(text: str) -> bool:
    try:
        number = abs(int(text))
    except ValueError:
        return False
    return number > 0 and number & (number - 1) == 0


def of_doubles(function: str, fence: bool = False) -> Cost:
    instructions, of_doubles = DOUBLE[function]
    return Cost("double", of_doubles, fence=fence, beside=instructions - of_doubles)


def of_binary(names: Names, to: str, a: str, operator: str, b: str, file: str) -> Cost:
    wide = names.is_wide(to)
    constant = not SSA.fullmatch(b) and b not in names.variables
    if operator in ("<", ">", "<=", ">=", "==", "!=", "unord", "ord", "u<", "u>", "u<=", "u>=", "u==", "ltgt"):
        return Cost("double", 1) if names.is_double(a) else Cost("alu", 2 if names.is_wide(a) else 1)
    if names.is_float(to) and operator == "/" and file.endswith("simt/math.h"):
        return Cost("mufu", 2, 1)
    if names.is_float(to):
        return Cost("mufu", 10, 1, fence=True) if operator == "/" and not (constant and power_of_two(b.split(".")[0])) else Cost("float", 1)
    if names.is_double(to):
        if operator != "/":
            return Cost("double", 1)
        return of_doubles("rsqrt" if file.endswith("simt/math.h") else "reciprocal" if a.startswith("1.0e+0") else "quotient", fence=True)
    if operator == "+" and names.is_pointer(to):
        return Cost("integer", 1)  # with the index's product before it: IMAD.WIDE
    if operator in ("w*", "h*"):
        return Cost("float", 1)
    if operator == "*":
        if constant and power_of_two(b):
            count = 2 if wide and names.uses.get(to, 0) > 2 else 0 if wide else 1
            return Cost("integer" if count else "alu", count)
        return Cost("float", 3 if wide and not constant else 1)  # IMAD is of the units that multiply floats
    if operator in ("/", "%"):
        if constant:
            # a signed one rounds to zero: the sign is added first
            signed = "unsigned" not in names.declaration(a)
            return Cost("alu", (2 if wide else 1) << signed if power_of_two(b) else (12 if wide else 4 if operator == "/" else 5))
        return Cost("mufu", 90 if wide else 22, 3, fence=wide)  # to float, its reciprocal, and back
    if operator == ">>" and wide and b == "32":
        return Cost("copy")  # the upper register
    if operator in ("<<", ">>", "r<<", "r>>"):
        return Cost("integer" if operator == "<<" and constant and not wide else "alu", 2 if wide else 1)
    if "_Bool" in names.declaration(to):
        return Cost("alu", 0.5)
    if "signed-boolean" in names.declaration(to):
        return Cost("copy")  # of fmaxf as vectors, where the compiler has lost its place: its .VCOND_MASK counts
    return Cost("integer" if operator in "+-" else "alu", 2 if wide else 1)


BINARY = Remembered(r"^(\S+) (\+|-|\*|/|%|&|\||\^|<<|>>|r<<|r>>|<|>|<=|>=|==|!=|unord|ord|u<|u>|u<=|u>=|u==|ltgt|w\*|h\*|\w+_EXPR) (\S+)$")
TERNARY = Remembered(r"^(.+) \? (\S+) : (\S+)$")
SQUARE = "powmult_"  # how GCC calls pow(x, 2), which it makes a product of, and nvcc does not
CAST = Remembered(r"^\(([^()]*)\) (\S+)$")


def of_expression(names: Names, to: str, text: str, file: str) -> Cost:
    if to.startswith(SQUARE):
        return of_call(names, "pow" if names.is_double(to) else "powf", to, set(), "")
    base = file.rsplit("/", 1)[-1]
    cast = CAST.match(text)
    if cast:
        source = cast[2]
        to_float, from_float = "float" in cast[1] or "double" in cast[1], names.is_float(source) or names.is_double(source)
        if "_Bool" in names.declaration(source):
            return Cost("alu", 1)
        if to_float and not from_float and "double" not in cast[1] and not names.is_wide(source):
            return Cost("alu", 1)  # I2FP is none of the special function unit's
        if to_float != from_float or (to_float and "double" in cast[1] and names.is_float(source)) or (cast[1] == "float" and names.is_double(source)):
            return Cost("convert", 1)
        return Cost("copy")
    ternary = TERNARY.match(text)
    if ternary:
        test = BINARY.match(ternary[1])
        tests = 0 if not test else 2 if names.is_wide(test[1]) else 1
        return Cost("alu", tests + (2 if names.is_wide(to) else 1))
    binary = BINARY.match(text)
    if binary:
        if base == "math.h" and binary[2] in ("<", ">", "!=", "|", "unord"):
            return Cost("copy")  # fmaxf as vectors: its .VCOND_MASK counts
        return of_binary(names, to, binary[1], binary[2], binary[3], file)
    if text.startswith(("MAX_EXPR", "MIN_EXPR")):
        return Cost("alu", 4 if names.is_wide(to) else 1)
    if text.startswith("ABS"):
        return Cost("alu", 1)
    if text.startswith("~") or (text.startswith("-") and SSA.fullmatch(text[1:])):
        return Cost("alu", 0 if names.is_float(to) else 1)
    if text.startswith("&"):
        return Cost("copy")
    if re.fullmatch(r"(blockIdx|threadIdx)\.[xyz]", text):
        return Cost("alu", 1)
    return Cost("copy")


def of_call(names: Names, name: str, to: str, known: set[str], file: str) -> Cost:
    name = name.strip()
    short = name.removeprefix("__builtin_").removeprefix("std::")
    if name in INTERNAL:
        return Cost("alu", INTERNAL[name], BITS.get(name, 0), fence=name == ".SQRT")
    if file.endswith("simt/float_by_double.h"):
        return Cost("mufu", *FUNCTIONS[BY_DOUBLE[short]]) if short in BY_DOUBLE else Cost("copy")
    if file.endswith("simt/math.h") and short in FAST:
        return Cost("mufu", *FAST[short])
    if short in FUNCTIONS:
        count, mufu = FUNCTIONS[short]
        return Cost("mufu" if mufu else "float" if short in POLYNOMIALS else "alu", count, mufu, fence=short in FENCES)
    if short in DOUBLE:
        return Cost("double") if short == "sqrt" and file.endswith("simt/math.h") else of_doubles(short)
    if short in BUILTINS:
        return Cost("alu", BUILTINS[short], BITS.get(short, 0))
    if short in ("simt::skip_xorwow", "simt::skip_mrg"):
        return Cost("unknown", 10, why=f"{'XORWOW' if 'xorwow' in short else 'MRG32k3a'}'s curand_init")
    if short.startswith("simt::texels_"):
        return Cost("unknown", 10, why="a texture's fetch")
    if name.startswith(FREE_CALLS) or "__tsan_atomic" in name or "__atomic" in name or is_own(file):
        return Cost("copy")
    if name in known or name.split("<")[0].split("::")[-1] in known:
        return Cost("call", 8)
    return Cost("unknown", 10, why=name)
