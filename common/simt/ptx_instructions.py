"""One instruction of inline PTX as C++, on the functions of include/simt/ptx.h. A modifier that is not known is not left out: it
may change what the instruction does."""

from __future__ import annotations

import re

from ptx_operands import TYPES, Operands

# Instructions that the executor's order makes needless, or that only hint.
NOTHING = re.compile(r"cp\.async\.(commit_group|wait_group|wait_all)$|griddepcontrol\.|prefetchu?\.|discard\.|applypriority\.|"
                     r"setmaxnreg\.|pragma")


class Instruction(Operands):
    def cpp(self) -> str:
        if NOTHING.match(self.opcode):
            return ";"
        method = getattr(self, f"of_{self.name}", None)
        if method:
            return method()
        return self.arithmetic()

    # --- arithmetic ---------------------------------------------------------------------------------------------------------

    BINARY = {"add": "x + y", "sub": "x - y", "and": "x & y", "or": "x | y", "xor": "x ^ y", "min": "simt::ptx::least(x, y)",
              "max": "simt::ptx::most(x, y)"}
    HALF = {"add": "__hadd2", "sub": "__hsub2", "mul": "__hmul2", "fma": "__hfma2", "min": "__hmin2", "max": "__hmax2", "neg": "__hneg2",
            "abs": "__habs2"}
    UNARY = {"not": "~x", "neg": "-x", "abs": "x < 0 ? -x : x"}
    APPROX = {"ex2": "exp2f(x)", "lg2": "log2f(x)", "rcp": "1 / x", "rsqrt": "1 / sqrtf(x)", "sqrt": "sqrtf(x)", "sin": "sinf(x)",
              "cos": "cosf(x)", "tanh": "tanhf(x)"}

    def apply(self, type_: str, expression: str, *names: str) -> str:
        """d = expression of the operands that follow, by these names."""
        self.expect(len(names) + 1)
        values = ", ".join(self.value(one, type_) for one in self.operands[1:])
        parameters = ", ".join(f"{type_} {name}" for name in names)
        return self.put(self.operands[0], f"static_cast<{type_}>([&]({parameters}) {{ return {expression}; }}({values}))")

    def arithmetic(self) -> str:
        if not self.parts:
            raise self.unknown()
        last, name = self.parts[-1], self.name
        if last in ("f16x2", "bf16x2") and name in self.HALF:
            self.modifiers("rn")
            pair = {"f16x2": "__half2", "bf16x2": "__nv_bfloat162"}[last]
            values = ", ".join(self.value(one, pair) for one in self.operands[1:])
            return self.put(self.operands[0], f"{self.HALF[name]}({values})")
        if name in self.APPROX and last == "f32":
            self.modifiers("approx", "ftz", "rn", "full")
            flush = "simt::ptx::flush" if "ftz" in self.parts else ""
            return self.apply("float", f"{flush}([](float x) {{ return {self.APPROX[name]}; }}({flush}(x)))", "x")
        if last in ("f16", "bf16", "f16x2", "bf16x2"):
            raise self.unknown()
        if name in self.BINARY:
            self.modifiers("rn", "ftz", "NaN") if last in ("f32", "f64") else self.modifiers()
            return self.apply(self.type(), self.BINARY[name], "x", "y")
        if name in self.UNARY:
            self.modifiers("ftz")
            return self.apply(self.type(), self.UNARY[name], "x")
        raise self.unknown()

    def of_mul(self) -> str:
        if self.parts[-1] in ("f16x2", "bf16x2"):
            return self.arithmetic()
        self.modifiers("rn", "ftz", "lo", "wide")
        if "wide" in self.parts:
            wide = self.type().replace("32", "64").replace("16_t", "32_t")
            return self.apply(wide, "x * y", "x", "y") if self.parts[-1][0] == "u" else self.put(
                self.operands[0], f"{wide}({self.value(self.operands[1], self.type())}) * {self.value(self.operands[2], self.type())}")
        return self.apply(self.type(), "x * y", "x", "y")

    def of_mad(self) -> str:
        self.modifiers("rn", "ftz", "lo")
        return self.apply(self.type(), "x * y + z", "x", "y", "z")

    def of_fma(self) -> str:
        if self.parts[-1] in ("f16x2", "bf16x2"):
            return self.arithmetic()
        self.modifiers("rn", "ftz")
        if self.parts[-1] not in ("f32", "f64"):
            raise self.unknown()
        return self.apply(self.type(), "std::fma(x, y, z)", "x", "y", "z")

    def of_div(self) -> str:
        self.modifiers("rn", "approx", "full", "ftz")
        return self.apply(self.type(), "x / y", "x", "y")

    def shift(self, operator: str) -> str:
        self.modifiers()
        self.expect(3)
        bits = {"uint16_t": 16, "int16_t": 16, "uint32_t": 32, "int32_t": 32, "uint64_t": 64, "int64_t": 64}.get(self.type())
        if not bits:
            raise self.unknown()
        x, by = self.value(self.operands[1], self.type()), self.value(self.operands[2], "uint32_t")
        beyond = f"({x} < 0 ? -1 : 0)" if operator == ">>" else "0"
        return self.put(self.operands[0], f"static_cast<{self.type()}>({by} < {bits} ? {x} {operator} {by} : {beyond})")

    def of_shl(self) -> str:
        return self.shift("<<")

    def of_shr(self) -> str:
        return self.shift(">>")

    def of_shf(self) -> str:
        if self.parts[0] not in ("l", "r") or self.parts[1] not in ("wrap", "clamp"):
            raise self.unknown()
        function = f"__funnelshift_{self.parts[0]}{'c' if self.parts[1] == 'clamp' else ''}"
        return self.put(self.operands[0], f"{function}({', '.join(self.value(one, 'uint32_t') for one in self.operands[1:])})")

    def of_popc(self) -> str:
        return self.put(self.operands[0], f"__popc{'ll' if self.type() == 'uint64_t' else ''}({self.value(self.operands[1], self.type())})")

    def of_clz(self) -> str:
        return self.put(self.operands[0], f"__clz{'ll' if self.type() == 'uint64_t' else ''}({self.value(self.operands[1], self.type())})")

    def of_brev(self) -> str:
        return self.put(self.operands[0], f"__brev{'ll' if self.type() == 'uint64_t' else ''}({self.value(self.operands[1], self.type())})")

    def of_bfe(self) -> str:
        if self.parts != ["u32"]:
            raise self.unknown()
        return self.put(self.operands[0], f"simt::ptx::bfe({', '.join(self.value(one, 'uint32_t') for one in self.operands[1:])})")

    def of_prmt(self) -> str:
        if self.parts != ["b32"]:
            raise self.unknown()
        return self.put(self.operands[0], f"__byte_perm({', '.join(self.value(one, 'uint32_t') for one in self.operands[1:])})"
                        ) if not re.fullmatch(r"0x.*[89a-fA-F].*", self.operands[3]) else self.put(
            self.operands[0], f"simt::ptx::prmt({', '.join(self.value(one, 'uint32_t') for one in self.operands[1:])})")

    def of_lop3(self) -> str:
        self.expect(5)
        if self.parts != ["b32"]:
            raise self.unknown()
        return self.put(self.operands[0], f"simt::ptx::lop3({', '.join(self.value(one, 'uint32_t') for one in self.operands[1:])})")

    def of_setp(self) -> str:
        compare = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<", "ls": "<=", "hi": ">", "hs": ">="}
        self.expect(3)
        if len(self.parts) != 2 or self.parts[0] not in compare:
            raise self.unknown()
        x, y = (self.value(one, self.type()) for one in self.operands[1:])
        return self.put(self.operands[0], f"{x} {compare[self.parts[0]]} {y}")

    def of_selp(self) -> str:
        self.expect(4)
        x, y = (self.value(one, self.type()) for one in self.operands[1:3])
        return self.put(self.operands[0], f"{self.value(self.operands[3], 'bool')} ? {x} : {y}")

    def of_mov(self) -> str:
        self.expect(2)
        to, from_ = self.operands
        if from_.startswith("{"):
            parts = ", ".join(self.register(one) for one in self.vector(from_))
            return self.put(to, f"simt::ptx::pack<{self.type()}>({parts})")
        if to.startswith("{"):
            parts = ", ".join(self.register(one) for one in self.vector(to))
            return f"simt::ptx::unpack({self.value(from_, self.type())}, {parts});"
        return self.put(to, self.value(from_, self.type()))

    def of_cvt(self) -> str:
        parts = [part for part in self.parts if part not in ("ftz",)]
        to, from_ = parts[-2:]
        how = parts[:-2]
        values = [self.value(one, TYPES.get(from_, "")) for one in self.operands[1:] if from_ in TYPES]
        if parts == ["rna", "tf32", "f32"]:
            return self.put(self.operands[0], f"simt::ptx::to_tf32({values[0]})")
        if to in ("f16x2", "bf16x2") and from_ == "f32" and how == ["rn"] and len(values) == 2:
            scalar = {"f16x2": "__float2half_rn", "bf16x2": "__float2bfloat16_rn"}[to]
            return self.put(self.operands[0], f"simt::ptx::pack<uint32_t>({scalar}({values[1]}), {scalar}({values[0]}))")
        if to in ("f16", "bf16") and from_ == "f32" and how == ["rn"]:
            return self.put(self.operands[0], f"{'__float2half_rn' if to == 'f16' else '__float2bfloat16_rn'}({values[0]})")
        if from_ in ("f16", "bf16") and to == "f32" and not how:
            type_ = {"f16": "__half", "bf16": "__nv_bfloat16"}[from_]
            return self.put(self.operands[0], f"static_cast<float>({self.value(self.operands[1], type_)})")
        integers = re.compile(r"[us](8|16|32|64)$")
        if integers.match(to) and integers.match(from_) and not how:
            return self.put(self.operands[0], f"static_cast<{TYPES[to]}>({values[0]})")
        rounding = {"rni": "std::nearbyint", "rzi": "std::trunc", "rmi": "std::floor", "rpi": "std::ceil"}
        if integers.match(to) and from_ in ("f32", "f64") and len(how) == 1 and how[0] in rounding:
            return self.put(self.operands[0], f"simt::ptx::saturated<{TYPES[to]}>({rounding[how[0]]}({values[0]}))")
        if to in ("f32", "f64") and (integers.match(from_) or from_ in ("f32", "f64")) and how in ([], ["rn"]):
            return self.put(self.operands[0], f"static_cast<{TYPES[to]}>({values[0]})")
        raise self.unknown()

    def of_cvta(self) -> str:
        self.expect(2)
        if self.parts == ["to", "shared", "u64"]:
            return self.put(self.operands[0], f"uint64_t{{simt::ptx::to_shared({self.value(self.operands[1], 'uint64_t')})}}")
        if self.parts in (["to", "global", "u64"], ["global", "u64"]):
            return self.put(self.operands[0], self.value(self.operands[1], "uint64_t"))
        raise self.unknown()

    # --- memory -------------------------------------------------------------------------------------------------------------

    HINTS = {"nc", "ca", "cg", "cs", "cv", "lu", "wb", "wt", "volatile", "weak", "relaxed", "acquire", "release", "cta", "gpu", "sys",
             "cluster", "L1__no_allocate", "L1__evict_last", "L1__evict_first", "L1__evict_normal", "L1__evict_unchanged",
             "L2__64B", "L2__128B", "L2__256B", "L2__evict_last", "L2__evict_first", "L2__evict_normal"}

    def access(self) -> tuple[str, int, str, bool]:
        """Type, elements, address space, whether others may be waiting for it."""
        parts = self.parts[:-1]
        count = {"v2": 2, "v4": 4}.get(parts[-1] if parts else "", 1)
        parts = parts[:-1] if count > 1 else parts
        spaces = [part for part in parts if part in ("global", "shared", "shared__cta")]
        if set(parts) - self.HINTS - set(spaces) or len(spaces) > 1:
            raise self.unknown()
        ordered = bool({"volatile", "relaxed", "acquire", "release"} & set(parts))
        return self.type(), count, "shared" if spaces and spaces[0] != "global" else "generic", ordered

    def of_ld(self) -> str:
        self.expect(2)
        type_, count, space, ordered = self.access()
        to = self.vector(self.operands[0])
        if len(to) != count:
            raise self.unknown()
        registers = ", ".join(self.register(one) for one in to)
        return f"simt::ptx::load<{type_}, {str(ordered).lower()}>({self.address(self.operands[1], space == 'shared')}, {registers});"

    def fence_of_release(self) -> str:
        if not {"release", "acq_rel"} & set(self.parts):
            return ""
        return "__threadfence_system(); " if "sys" in self.parts else "__threadfence(); "

    def of_st(self) -> str:
        self.expect(2)
        type_, count, space, ordered = self.access()
        values = [self.value(one, type_) for one in self.vector(self.operands[1])]
        if len(values) != count:
            raise self.unknown()
        return f"{self.fence_of_release()}simt::ptx::store<{type_}, {str(ordered).lower()}>({self.address(self.operands[0], space == 'shared')}, {', '.join(values)});"

    def of_atom(self) -> str:
        functions = {"add": "atomicAdd", "min": "atomicMin", "max": "atomicMax", "exch": "atomicExch", "cas": "atomicCAS",
                     "and": "atomicAnd", "or": "atomicOr", "xor": "atomicXor"}
        operation = [part for part in self.parts if part in functions]
        shared = "shared" in self.parts
        if len(operation) != 1 or set(self.parts[:-1]) - self.HINTS - {"global", "shared", "acq_rel", *operation} or \
                self.parts[-1] not in ("u32", "s32", "b32", "u64", "b64", "f32", "f64"):
            raise self.unknown()
        type_ = {"uint64_t": "unsigned long long"}.get(self.type(), self.type())
        first = 0 if self.name == "red" else 1
        at = f"reinterpret_cast<{type_}*>({self.address(self.operands[first], shared)})"
        values = ", ".join(self.value(one, type_) for one in self.operands[first + 1:])
        call = f"{functions[operation[0]]}({at}, {values})"
        return self.fence_of_release() + (f"{call};" if self.name == "red" else self.put(self.operands[0], call))

    of_red = of_atom

    def of_cp(self) -> str:
        match = re.fullmatch(r"cp\.async\.(ca|cg)\.shared(::cta)?\.global(\.L2::(64|128|256)B)?", self.opcode)
        if not match or len(self.operands) not in (3, 4):
            raise self.unknown()
        to, from_ = self.address(self.operands[0], True), self.address(self.operands[1], False)
        size = self.value(self.operands[2], "uint32_t")
        real = self.value(self.operands[3], "uint32_t") if len(self.operands) == 4 else size
        return f"simt::ptx::copy_async({to}, {from_}, {size}, {real});"

    # --- threads ------------------------------------------------------------------------------------------------------------

    def of_bar(self) -> str:
        if self.opcode == "bar.warp.sync":
            return f"__syncwarp({self.value(self.operands[0], 'uint32_t')});"
        if not re.fullmatch(r"(bar(\.cta)?|barrier(\.cta)?)\.sync(\.aligned)?", self.opcode) or len(self.operands) not in (1, 2):
            raise self.unknown()
        return f"simt::ptx::bar_sync({', '.join(self.value(one, 'uint32_t') for one in self.operands)});"

    of_barrier = of_bar

    def of_membar(self) -> str:
        return "__threadfence_system();" if "sys" in self.parts else "__threadfence();"

    def of_fence(self) -> str:
        if self.parts[0] not in ("acq_rel", "sc"):
            raise self.unknown()
        return "__threadfence_system();" if "sys" in self.parts else "__threadfence();"

    def of_nanosleep(self) -> str:
        return "simt::yield();"

    def of_trap(self) -> str:
        return "__trap();"

    def of_shfl(self) -> str:
        self.expect(5)
        kinds = {"bfly": "xor", "up": "up", "down": "down", "idx": "idx"}
        if self.parts[0] != "sync" or self.parts[1] not in kinds or self.parts[2:] != ["b32"] or "|" in self.operands[0]:
            raise self.unknown()
        a, b, c, mask = (self.value(one, "uint32_t") for one in self.operands[1:])
        return self.put(self.operands[0], f"simt::ptx::shfl_{kinds[self.parts[1]]}({mask}, {a}, {b}, {c})")

    def of_vote(self) -> str:
        if self.parts == ["sync", "ballot", "b32"]:
            return self.put(self.operands[0], f"__ballot_sync({self.value(self.operands[2], 'uint32_t')}, {self.value(self.operands[1], 'bool')})")
        if self.parts in (["sync", "any", "pred"], ["sync", "all", "pred"]):
            return self.put(self.operands[0], f"__{self.parts[1]}_sync({self.value(self.operands[2], 'uint32_t')}, "
                                              f"{self.value(self.operands[1], 'bool')}) != 0")
        raise self.unknown()

    def of_activemask(self) -> str:
        return self.put(self.operands[0], "__activemask()")

    # --- matrices -----------------------------------------------------------------------------------------------------------

    def of_ldmatrix(self) -> str:
        match = re.fullmatch(r"ldmatrix\.sync\.aligned\.(?:m8n8\.(x[124])|(x[124])\.m8n8)(\.trans)?\.shared(?:::cta)?\.b16", self.opcode) \
            or re.fullmatch(r"ldmatrix\.sync\.aligned\.(?:m8n8\.(x[124])|(x[124])(\.trans)\.m8n8)\.shared(?:::cta)?\.b16", self.opcode)
        to = self.vector(self.operands[0])
        if not match or len(to) != int((match[1] or match[2])[1]):
            raise self.unknown()
        registers = ", ".join(self.register(one) for one in to)
        return f"simt::ptx::ldmatrix<{str(bool(match[3])).lower()}>({self.address(self.operands[1], True)}, {registers});"

    def of_stmatrix(self) -> str:
        match = re.fullmatch(r"stmatrix\.sync\.aligned\.(?:m8n8\.(x[124])|(x[124])\.m8n8)(\.trans)?\.shared(?:::cta)?\.b16", self.opcode)
        from_ = self.vector(self.operands[1])
        if not match or len(from_) != int((match[1] or match[2])[1]):
            raise self.unknown()
        values = ", ".join(self.value(one, "uint32_t") for one in from_)
        return f"simt::ptx::stmatrix<{str(bool(match[3])).lower()}>({self.address(self.operands[0], True)}, {values});"

    # Type of the factors: those of the accumulator and the depths that there are.
    MMA = {"f16": (("f16", "f32"), (8, 16)), "bf16": (("f32",), (8, 16)), "tf32": (("f32",), (4, 8)), "s8": (("s32",), (16, 32)),
           "u8": (("s32",), (16, 32))}

    def of_mma(self) -> str:
        match = re.fullmatch(r"mma\.sync\.aligned\.m16n8k(\d+)\.row\.col(\.satfinite)?\.(\w+)\.(\w+)\.(\w+)\.(\w+)", self.opcode)
        if not match or len(self.operands) != 4:
            raise self.unknown()
        depth, saturate, d, a, b, c = match.groups()
        factors = {"f16": 2, "bf16": 2, "tf32": 1, "s8": 4, "u8": 4}.get(a)
        if not factors or d != c or d not in self.MMA[a][0] or int(depth) not in self.MMA[a][1] or \
                (a != b and {a, b} != {"s8", "u8"}):
            raise self.unknown()
        groups = int(depth) // (4 * factors)
        results = 2 if d == "f16" else 4
        parts = [self.vector(one) for one in self.operands]
        if [len(one) for one in parts] != [results, 2 * groups, groups, results]:
            raise self.unknown()
        type_ = {"f16": "uint32_t", "f32": "float", "s32": "int32_t"}[d]
        lists = [", ".join(self.value(one, kind) for one in part) for part, kind in
                 zip(parts[1:], ("uint32_t", "uint32_t", type_))]
        outs = ", ".join(self.register(one) for one in parts[0])
        name = {"f16": "F16", "bf16": "Bf16Factor", "tf32": "Tf32", "s8": "S8", "u8": "U8"}
        return (f"{{ const simt::mma::Accumulator<{type_}, {results}> simt_d = simt::mma::m16n8<simt::mma::{name[a]}, simt::mma::{name[b]}, "
                f"{groups}, {str(bool(saturate)).lower()}>({{{{{lists[0]}}}}}, {{{{{lists[1]}}}}}, "
                f"simt::mma::Accumulator<{type_}, {results}>{{{{{lists[2]}}}}}); simt::ptx::spread(simt_d, {outs}); }}")
