"""One instruction of inline PTX as C++, on the functions of include/simt/ptx.h. A modifier that is not known is not left out: it
may change what the instruction does."""

from __future__ import annotations

import re

from ptx_floats import HALVES, Floats
from ptx_integers import Integers
from ptx_transfers import Transfers


# Instructions that the executor's order makes needless, or that only hint.
NOTHING = re.compile(r"cp\.async\.(commit_group|wait_group|wait_all)$|griddepcontrol\.|prefetchu?\.|discard\.|applypriority\.|"
                     r"setmaxnreg\.|fence\.proxy\.|fence\.mbarrier_init\.|pragma")


class Instruction(Integers, Floats, Transfers):
    def cpp(self) -> str:
        if NOTHING.match(self.opcode):
            return ";"
        method = getattr(self, f"of_{self.name}", None)
        if method:
            return method()
        return self.arithmetic()

    # --- arithmetic ---------------------------------------------------------------------------------------------------------

    # In unsigned numbers, so that nothing is undefined.
    X, Y = "simt::ptx::wrapping(x)", "simt::ptx::wrapping(y)"
    BINARY = {"add": f"{X} + {Y}", "sub": f"{X} - {Y}", "and": "x & y", "or": "x | y", "xor": "x ^ y", "min": "x < y ? x : y", "max": "x > y ? x : y"}
    UNARY = {"not": "~x", "neg": f"-{X}", "abs": f"x < 0 ? -{X} : {X}"}

    def arithmetic(self) -> str:
        if self.is_float():
            return self.floating()
        if not self.parts:
            raise self.unknown()
        name = self.name
        if self.parts[-1] == "pred" and name in ("and", "or", "xor", "not"):
            self.modifiers()
            return self.apply("bool", {"and": "x && y", "or": "x || y", "xor": "x != y", "not": "!x"}[name], *("x" if name == "not" else "xy"))
        if not self.is_integer():
            raise self.unknown()
        if name in ("add", "sub") and self.parts[:-1] == ["sat"] and self.parts[-1] == "s32":
            return self.apply("int32_t", f"simt::ptx::clamped<int32_t>(int64_t{{x}} {'+' if name == 'add' else '-'} y)", "x", "y")
        if name in self.BINARY or name in self.UNARY:
            self.modifiers()
            return self.apply(self.type(), self.BINARY.get(name) or self.UNARY[name], *("xy" if name in self.BINARY else "x"))
        raise self.unknown()

    def of_add(self) -> str:
        return self.with_carry("add_with_carry", 2, False) if "cc" in self.parts else self.arithmetic()

    def of_sub(self) -> str:
        return self.with_carry("subtract_with_borrow", 2, False) if "cc" in self.parts else self.arithmetic()

    def of_mul(self) -> str:
        return self.arithmetic() if self.is_float() else self.product(2)

    def of_mad(self) -> str:
        if self.is_float():
            return self.arithmetic()
        return self.with_carry("multiply_add_with_carry", 3, False) if "cc" in self.parts else self.product(3)

    def of_div(self) -> str:
        if self.is_float():
            return self.arithmetic()
        self.modifiers()
        return self.call(f"divide<{self.type()}>", *[self.type()] * 2)

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

    def of_prmt(self) -> str:
        if self.parts != ["b32"]:
            raise self.unknown()
        return self.put(self.operands[0], f"simt::permute({', '.join(self.value(one, 'uint32_t') for one in self.operands[1:])})")

    def of_lop3(self) -> str:
        self.expect(5)
        if self.parts != ["b32"]:
            raise self.unknown()
        return self.put(self.operands[0], f"simt::ptx::lop3({', '.join(self.value(one, 'uint32_t') for one in self.operands[1:])})")

    def of_mov(self) -> str:
        self.expect(2)
        to, from_ = self.operands
        if from_.startswith("{"):
            parts = ", ".join(self.register(one) for one in self.vector(from_))
            return self.put(to, f"simt::ptx::pack<{self.type()}>({parts})")
        if to.startswith("{"):
            parts = self.vector(to)
            sink = re.sub(r"16|32|64", lambda bits: str(int(bits[0]) // len(parts)), self.type())
            names = ", ".join("simt_unused" if one == "_" else self.register(one) for one in parts)
            return f"{{ {sink} simt_unused; simt::ptx::unpack({self.value(from_, self.type())}, {names}); static_cast<void>(simt_unused); }}"
        return self.put(to, self.value(from_, self.type()))

    def of_cvta(self) -> str:
        self.expect(2)
        if self.parts == ["to", "shared", "u64"]:
            return self.put(self.operands[0], f"uint64_t{{simt::ptx::to_shared({self.value(self.operands[1], 'uint64_t')})}}")
        if self.parts == ["shared", "u64"]:
            return self.put(self.operands[0], f"reinterpret_cast<uint64_t>(simt::ptx::shared(static_cast<uint32_t>({self.value(self.operands[1], 'uint64_t')})))")
        if self.parts in (["to", "global", "u64"], ["global", "u64"], ["to", "const", "u64"], ["const", "u64"], ["to", "local", "u64"], ["local", "u64"]):
            return self.put(self.operands[0], self.value(self.operands[1], "uint64_t"))
        raise self.unknown()

    # --- memory -------------------------------------------------------------------------------------------------------------

    HINTS = {"nc", "ca", "cg", "cs", "cv", "lu", "wb", "wt", "volatile", "weak", "relaxed", "acquire", "release", "cta", "gpu", "sys",
             "cluster", "L1__no_allocate", "L1__evict_last", "L1__evict_first", "L1__evict_normal", "L1__evict_unchanged",
             "L2__64B", "L2__128B", "L2__256B", "L2__evict_last", "L2__evict_first", "L2__evict_normal", "L2__cache_hint"}

    def without_hint(self) -> None:
        """The last operand of an access with a cache hint is its policy."""
        if "L2__cache_hint" in self.parts:
            self.operands.pop()

    def of_createpolicy(self) -> str:
        return self.put(self.operands[0], "uint64_t{0}")


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
        self.without_hint()
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
        self.without_hint()
        self.expect(2)
        type_, count, space, ordered = self.access()
        values = [self.value(one, type_) for one in self.vector(self.operands[1])]
        if len(values) != count:
            raise self.unknown()
        return f"{self.fence_of_release()}simt::ptx::store<{type_}, {str(ordered).lower()}>({self.address(self.operands[0], space == 'shared')}, {', '.join(values)});"

    ATOMICS = {"add": "atomicAdd", "min": "atomicMin", "max": "atomicMax", "exch": "atomicExch", "cas": "atomicCAS", "and": "atomicAnd", "or": "atomicOr",
               "xor": "atomicXor", "inc": "atomicInc", "dec": "atomicDec"}

    def of_atom(self) -> str:
        self.without_hint()
        operation = [part for part in self.parts if part in self.ATOMICS]
        shared = bool({"shared", "shared__cta"} & set(self.parts))
        last = self.parts[-1]
        vector = [part for part in self.parts[:-1] if self.name == "red" and last == "f32" and operation == ["add"] and part in ("v2", "v4")]
        if len(operation) != 1 or set(self.parts[:-1]) - self.HINTS - {"global", "shared", "shared__cta", "acq_rel", "noftz", *operation, *vector} or \
                (last in HALVES and operation != ["add"]) or last not in ("u32", "s32", "b32", "u64", "s64", "b64", "f32", "f64", "b16", *HALVES):
            raise self.unknown()
        type_ = {"uint64_t": "unsigned long long", "int64_t": "long long", "uint16_t": "unsigned short"}.get(self.type(), self.type())
        type_ = HALVES.get(last, type_)
        first = 0 if self.name == "red" else 1
        if vector:
            at, values = self.address(self.operands[0], False), [self.value(one, type_) for one in self.vector(self.operands[1])]
            self.expect(2)
            return self.fence_of_release() + " ".join(f"atomicAdd(reinterpret_cast<{type_}*>({at}) + {i}, {one});" for i, one in enumerate(values))
        at = f"reinterpret_cast<{type_}*>({self.address(self.operands[first], shared)})"
        values = ", ".join(self.value(one, type_) for one in self.operands[first + 1:])
        call = f"{self.ATOMICS[operation[0]]}({at}, {values})"
        return self.fence_of_release() + (f"{call};" if first == 0 or self.operands[0] == "_" else self.put(self.operands[0], call))

    of_red = of_atom

    # --- threads ------------------------------------------------------------------------------------------------------------

    def of_bar(self) -> str:
        if self.opcode == "bar.warp.sync":
            self.expect(1)
            return f"__syncwarp({self.value(self.operands[0], 'uint32_t')});"
        if cluster := re.fullmatch(r"barrier\.cluster\.(?:(arrive)(?:\.release|\.relaxed)?|wait(?:\.acquire)?)(?:\.aligned)?", self.opcode):
            return ";" if cluster[1] else "simt::ptx::cluster_wait();"
        match = re.fullmatch(r"(?:bar(?:\.cta)?|barrier(?:\.cta)?)\.(sync|arrive|red\.(?:popc\.u32|and\.pred|or\.pred))(?:\.aligned)?", self.opcode)
        if not match:
            raise self.unknown()
        if match[1].startswith("red"):
            to, barrier, *counted, condition = self.operands if len(self.operands) in (3, 4) else [""] * 3
            if barrier != "0" or counted:  # of all threads
                raise self.unknown()
            function = {"popc": "__syncthreads_count", "and": "0 != __syncthreads_and", "or": "0 != __syncthreads_or"}[match[1].split(".")[1]]
            return self.put(to, f"{function}({self.value(condition, 'bool')})")
        values = [self.value(one, "uint32_t") for one in self.operands]
        if len(values) not in ((1, 2) if match[1] == "sync" else (2,)):
            raise self.unknown()
        return f"simt::ptx::bar_{match[1]}({', '.join(values)});"

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
        if self.parts[0] != "sync" or self.parts[1] not in kinds or self.parts[2:] != ["b32"]:
            raise self.unknown()
        a, b, c, mask = (self.value(one, "uint32_t") for one in self.operands[1:])
        to, _, has_source = self.operands[0].partition("|")
        kind = kinds[self.parts[1]]
        # First whether there is such a lane: the value may replace what says which.
        source = self.put(has_source.strip(), f"simt::ptx::has_{kind}({b}, {c})") if has_source else ""
        if not has_source:
            return self.put(to, f"simt::ptx::shfl_{kind}({mask}, {a}, {b}, {c})")
        return f"{{ const uint32_t simt_got = simt::ptx::shfl_{kind}({mask}, {a}, {b}, {c}); {source} {self.put(to.strip(), 'simt_got')} }}"

    def of_match(self) -> str:
        if self.parts[:2] not in (["any", "sync"], ["all", "sync"]) or self.parts[2] not in ("b32", "b64"):
            raise self.unknown()
        self.expect(3)
        type_ = {"b32": "unsigned", "b64": "unsigned long long"}[self.parts[2]]
        value, mask = self.value(self.operands[1], type_), self.value(self.operands[2], "uint32_t")
        if self.parts[0] == "any":
            return self.put(self.operands[0], f"__match_any_sync({mask}, {value})")
        to, _, all_ = self.operands[0].partition("|")
        return (f"{{ int simt_all; const uint32_t simt_same = __match_all_sync({mask}, {value}, &simt_all); {self.put(to.strip(), 'simt_same')} "
                f"{self.put(all_.strip(), 'simt_all != 0') if all_ else ''} }}")

    def of_redux(self) -> str:
        if self.parts[0] != "sync" or len(self.parts) != 3 or self.parts[1] not in ("add", "min", "max", "and", "or", "xor") or \
                self.parts[2] not in (("u32", "s32") if self.parts[1] in ("add", "min", "max") else ("b32",)):
            raise self.unknown()
        self.expect(3)
        return self.put(self.operands[0], f"__reduce_{self.parts[1]}_sync({self.value(self.operands[2], 'uint32_t')}, {self.value(self.operands[1], self.type())})")

    def of_elect(self) -> str:
        if self.opcode != "elect.sync" or len(self.operands) != 2:
            raise self.unknown()
        to, _, leads = self.operands[0].partition("|")
        mask = self.value(self.operands[1], "uint32_t")
        return (f"{{ const uint32_t simt_mask = {mask}; __syncwarp(simt_mask); const unsigned simt_leader = __ffs(static_cast<int>(simt_mask)) - 1; "
                f"{self.put(to.strip(), 'simt_leader')} {self.put(leads.strip(), 'simt::lane() == simt_leader') if leads else ''} }}")

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
        match = re.fullmatch(r"ldmatrix\.sync\.aligned\.(?:m8n8\.(x[124])|(x[124])\.m8n8)(\.trans)?(?:\.shared(?:::cta)?)?\.b16", self.opcode) \
            or re.fullmatch(r"ldmatrix\.sync\.aligned\.(?:m8n8\.(x[124])|(x[124])(\.trans)\.m8n8)(?:\.shared(?:::cta)?)?\.b16", self.opcode)
        to = self.vector(self.operands[0])
        if not match or len(to) != int((match[1] or match[2])[1]):
            raise self.unknown()
        registers = ", ".join(self.register(one) for one in to)
        return f"simt::ptx::ldmatrix<{str(bool(match[3])).lower()}>({self.address(self.operands[1], 'shared' in self.opcode)}, {registers});"

    def of_movmatrix(self) -> str:
        if self.opcode != "movmatrix.sync.aligned.m8n8.trans.b16":
            raise self.unknown()
        return f"simt::ptx::movmatrix({self.register(self.operands[0])}, {self.value(self.operands[1], 'uint32_t')});"

    def of_stmatrix(self) -> str:
        match = re.fullmatch(r"stmatrix\.sync\.aligned\.(?:m8n8\.(x[124])|(x[124])\.m8n8)(\.trans)?(?:\.shared(?:::cta)?)?\.b16", self.opcode)
        from_ = self.vector(self.operands[1])
        if not match or len(from_) != int((match[1] or match[2])[1]):
            raise self.unknown()
        values = ", ".join(self.value(one, "uint32_t") for one in from_)
        return f"simt::ptx::stmatrix<{str(bool(match[3])).lower()}>({self.address(self.operands[0], 'shared' in self.opcode)}, {values});"

    # Type of the factors: those of the accumulator and the depths that there are.
    MMA = {"f16": (("f16", "f32"), (8, 16)), "bf16": (("f32",), (8, 16)), "tf32": (("f32",), (4, 8)), "s8": (("s32",), (16, 32)),
           "u8": (("s32",), (16, 32))}

    def of_mma(self) -> str:
        if ".m8n8k" in self.opcode:
            return self.of_mma_on_eight_rows()
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

    # On 8-bit integers it is the first half of m16n8k16; doubles have a form of their own.
    def of_mma_on_eight_rows(self) -> str:
        integers = re.fullmatch(r"mma\.sync\.aligned\.m8n8k16\.row\.col(\.satfinite)?\.s32\.([su]8)\.([su]8)\.s32", self.opcode)
        doubles = self.opcode == "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64"
        if not integers and not doubles or len(self.operands) != 4:
            raise self.unknown()
        parts = [self.vector(one) for one in self.operands]
        if [len(one) for one in parts] != [2, 1, 1, 2]:
            raise self.unknown()
        outs = ", ".join(self.register(one) for one in parts[0])
        if doubles:
            values = ", ".join(self.value(one, "double") for part in parts[1:] for one in part)
            return f"{{ const simt::mma::Accumulator<double, 2> simt_d = simt::mma::m8n8k4({values}); simt::ptx::spread(simt_d, {outs}); }}"
        a, b = (self.value(part[0], "uint32_t") for part in parts[1:3])
        sums = ", ".join(self.value(one, "int32_t") for one in parts[3])
        kinds = f"simt::mma::{integers[2].upper()}, simt::mma::{integers[3].upper()}, 1, {str(bool(integers[1])).lower()}"
        return (f"{{ const auto simt_all = simt::mma::m16n8<{kinds}>({{{{{a}, 0u}}}}, {{{{{b}}}}}, simt::mma::Accumulator<int32_t, 4>{{{{{sums}, 0, 0}}}}); "
                f"const simt::mma::Accumulator<int32_t, 2> simt_d = {{{{simt_all.registers[0], simt_all.registers[1]}}}}; simt::ptx::spread(simt_d, {outs}); }}")
