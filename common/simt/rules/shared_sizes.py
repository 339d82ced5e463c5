"""How much memory a kernel takes that is counted when it is compiled: static shared memory, parameters, constant memory. The
assembler, ptxas, refuses more than there is. What has a size that is not known here counts as nothing."""

from __future__ import annotations

import re
from typing import Iterator

from host_constants import is_of_the_file
from program import Program, is_kernel, referred
from syntax_tree import Node

SHARED_BYTES = 48 << 10
PARAMETER_BYTES = 32764
CONSTANT_BYTES = 64 << 10
SIZES = {"bool": 1, "char": 1, "signed char": 1, "unsigned char": 1, "short": 2, "unsigned short": 2, "int": 4, "unsigned int": 4, "long": 8,
         "unsigned long": 8, "long long": 8, "unsigned long long": 8, "float": 4, "double": 8, "__half": 2, "__nv_bfloat16": 2, "__half2": 4,
         "__nv_bfloat162": 4}
VECTORS = {"char": 1, "uchar": 1, "short": 2, "ushort": 2, "int": 4, "uint": 4, "long": 8, "ulong": 8, "longlong": 8, "ulonglong": 8, "float": 4,
           "double": 8}


LAYOUT = re.compile(r"^Type: (.*)\n(?:.*\n)??Layout: <ASTRecordLayout\n  Size:(\d+)\n(?:.*\n)??  Alignment:(\d+)$", re.MULTILINE)


def layouts(dump: str) -> dict[str, tuple[int, int]]:
    """Bytes and alignment of the records that the program makes, as clang lays them out (-fdump-record-layouts-simple). Of two of one
    name, such as local ones, the smaller."""
    found: dict[str, tuple[int, int]] = {}
    for name, size, alignment in LAYOUT.findall(dump):
        made = (int(size) // 8, int(alignment) // 8)
        found[plain(name)] = min(made, found.get(plain(name), made))
    return found


def plain(kind: str) -> str:
    return " ".join(re.sub(r"\b(const|volatile|struct|class|union|enum|__restrict)\b", "", kind).split())


class Sizes:
    def __init__(self, program: Program, records: dict[str, tuple[int, int]]):
        self.records = records
        self.enums: dict[str, int] = {}
        for enum in (node for node in program.nodes if node.kind == "EnumDecl"):
            name = enum.before_type[-1] if enum.before_type else ""
            size = SIZES.get(enum.type, 4)
            self.enums[name] = min(size, self.enums.get(name, size))

    def of(self, kind: str) -> tuple[int, int]:
        """Bytes and alignment; (0, 1) where it is not known."""
        kind = plain(kind)
        if match := re.search(r"\s*((?:\[\d+\])+)$", kind):
            size, alignment = self.of(kind[:match.start()])
            for count in re.findall(r"\d+", match[1]):
                size *= int(count)
            return size, alignment
        if kind.endswith("*"):
            return 8, 8
        if kind in SIZES:
            return SIZES[kind], SIZES[kind]
        if (match := re.fullmatch(r"([a-z]+)([1-4])", kind)) and match[1] in VECTORS:
            each, count = VECTORS[match[1]], int(match[2])
            return each * count, each if count == 3 else min(16, each * count)
        if kind in self.records:
            return self.records[kind]
        size = self.enums.get(kind.split("::")[-1], 0)
        return size, size or 1


def is_read(uses: list[Node]) -> bool:
    """The compiler leaves out shared memory that is only written."""
    for node in uses:
        above, below = node.parent, node
        while above and above.kind in ("ArraySubscriptExpr", "MemberExpr", "ParenExpr") or (
                above and above.kind == "ImplicitCastExpr" and "<ArrayToPointerDecay>" in above.text):
            above, below = above.parent, above
        if not above or above.kind != "BinaryOperator" or "'='" not in above.text or above.children[0] is not below:
            return True
    return False


class Shared:
    """Static shared memory: a function's own, and whom it calls."""

    def __init__(self, program: Program, sizes: Sizes):
        self.own: dict[str, tuple[int, set[str]]] = {}
        for function in program.device_functions():
            uses: dict[str, list[Node]] = {}
            for node in function.below():
                if name := referred(node):
                    uses.setdefault(name, []).append(node)
            arrays = [node for node in function.below() if node.kind == "VarDecl" and node.child("CUDASharedAttr") and "extern" not in node.after_type]
            # Of what clang refuses, such as a constructor, it forgets the uses.
            read = [node for node in arrays if "invalid" in node.before_type or is_read(uses.get(node.id or "", []))]
            self.own[function.id or ""] = sum(sizes.of(node.type)[0] for node in read), set(uses) & program.compiled

    def of(self, kernel: str) -> int:
        """With all that it calls."""
        seen, waiting = {kernel}, [kernel]
        while waiting:
            called = self.own[waiting.pop()][1] - seen
            seen |= called
            waiting += called
        return sum(self.own[name][0] for name in seen)


def found(asked) -> Iterator[tuple[tuple[str, int, int], str, str]]:
    program: Program = asked.program
    sizes = Sizes(program, asked.layouts)
    shared = Shared(program, sizes)
    for kernel in (function for function in program.device_functions() if is_kernel(function)):
        if (bytes_ := shared.of(kernel.id or "")) > SHARED_BYTES:
            yield (kernel.named, f"{kernel.name} uses too much shared data ({bytes_} bytes, {SHARED_BYTES} max)",
                   "more than that must be dynamic: extern __shared__ float row[]; the launch gives its bytes, after "
                   "cudaFuncSetAttribute(..., cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)")
        at = 0
        for parameter in (child for child in kernel.children if child.kind == "ParmVarDecl"):
            size, alignment = sizes.of(parameter.type)
            at = -(-at // alignment) * alignment + size
        if at > PARAMETER_BYTES:
            yield kernel.named, f"{kernel.name} has {at} bytes of parameters, {PARAMETER_BYTES} max", "pass a pointer to device memory"
    constants = [node for node in program.nodes if is_of_the_file(node) and any(
        child.kind == "CUDAConstantAttr" and "Implicit" not in child.text for child in node.children)]
    if (bytes_ := sum(sizes.of(node.type)[0] for node in constants)) > CONSTANT_BYTES:
        yield (constants[-1].named, f"the file uses too much global constant data ({bytes_} bytes, {CONSTANT_BYTES} max)",
               "make the large ones __device__ variables, or pass pointers")
