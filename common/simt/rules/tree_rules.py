"""nvcc's rules that clang's front end does not have, asked of the program's tree: each takes a program and says which places break
it, in nvcc's words, and what to do."""

from __future__ import annotations

import re
from typing import Callable, Iterator, NamedTuple

import host_constants
import kernel_arguments
import shared_sizes
from program import RECORDS, Program, function_around, is_kernel, on_device, on_host, referred
from syntax_tree import Node


class Asked(NamedTuple):
    program: Program
    line: Callable[[tuple[str, int, int]], str]  # the program's text there
    extended_lambda: bool
    layouts: dict[str, tuple[int, int]]  # bytes and alignment of its records


Found = Iterator[tuple[tuple[str, int, int], str, str]]  # place, nvcc's words, advice


def kernels(asked: Asked) -> Found:
    """How a kernel is declared."""
    for function in asked.program.functions:
        if not is_kernel(function):
            if function.child("CUDALaunchBoundsAttr"):
                yield function.named, "__launch_bounds__ is only allowed on a __global__ function", "leave it out, or write __global__"
            continue
        around = next((above for above in function.above() if above.kind not in ("FunctionTemplateDecl", "LinkageSpecDecl")), None)
        if around and around.kind == "FriendDecl":
            if function.child("CompoundStmt") and (function.parent is around or function.id in asked.program.patterns):  # no instantiation
                yield function.named, "a __global__ function cannot be defined in a friend declaration", "define it outside of the class"
        elif function.kind == "CXXMethodDecl":
            yield function.named, "a __global__ function cannot be a member function", "make it a function of its own, outside of the class"
        if "constexpr" in function.before_type:
            yield function.named, "a __global__ function cannot be marked constexpr", "leave constexpr out"
        if re.search(r"\)[^()]*\bnoexcept\b|\bthrow\(", function.type):
            yield function.named, "an exception specification is not allowed for a __global__ function", "leave noexcept out"
        if function.type.endswith((", ...)", "(...)")):
            yield function.named, "a __global__ function cannot have ellipsis", "name the parameters, or make it a template of as many types"
        line = asked.line(function.named)
        before_name, after_name = line[:function.named[2] - 1], line[function.named[2] - 1:]
        return_type = before_name.rpartition(">")[2]  # behind a template's parameters, which may be auto
        if re.search(r"\bauto\b", return_type) and not re.search(r"->\s*void\b", after_name):
            yield function.named, "a __global__ function must not have a deduced return type", "write void"
        for parameter in (child for child in function.children if child.kind == "ParmVarDecl"):
            if parameter.type.endswith("&&"):
                yield function.named, "a __global__ function cannot have a parameter with rvalue reference type", "pass it by value: leave && out"
            if "std::initializer_list<" in parameter.type or "'initializer_list<" in parameter.text:
                yield (function.named, "a __global__ function cannot have a parameter of type std::initializer_list",
                       "pass a pointer and a number, or a struct with an array")


def overrides(asked: Asked) -> Found:
    def sides(function: Node) -> str:
        both = on_device(function) and on_host(function)
        return "__host__ __device__" if both else "__device__" if on_device(function) else "__host__"

    records = {record.id: record for record in asked.program.nodes if record.kind in RECORDS}
    by_name: dict[str, Node] = {}
    for record in records.values():
        if "definition" in record.before_type and record.before_type[-1] == "definition":
            by_name.setdefault(record.before_type[-2], record)

    def bases(record: Node) -> Iterator[Node]:
        waiting, seen = [record], {record.id}
        while waiting:
            for child in waiting.pop().children:
                if child.kind in ("public", "protected", "private", "virtual") and (match := re.search(r"(\w+)'", child.text)):
                    if (base := by_name.get(match[1])) and base.id not in seen:
                        seen.add(base.id)
                        waiting.append(base)
                        yield base

    for record in records.values():
        for own in (child for child in record.children if child.kind == "CXXMethodDecl" and "implicit" not in child.before_type):
            for base in bases(record):
                for other in (child for child in base.children if child.kind == "CXXMethodDecl" and "virtual" in child.after_type):
                    if (own.name, own.type) == (other.name, other.type) and sides(own) != sides(other):
                        yield (own.named, f"execution space mismatch: {other.name} of the base class is a {sides(other)} function, but "
                               f"the one that overrides it is a {sides(own)} function", f"write {sides(other)} before it")


def operators(asked: Asked) -> Found:
    """What the language has for the host only."""
    words = {"CXXDynamicCastExpr": "dynamic_cast", "CXXTypeidExpr": "typeid"}
    for function in asked.program.device_functions():
        if on_host(function):
            continue
        for node in function.below():
            if node.kind in words:
                yield node.begin, f'the operator "{words[node.kind]}" is not allowed in device code', "tell the types apart by a member, or by a virtual function"


def variables(asked: Asked) -> Found:
    """Local variables that the device does not have."""
    for function in asked.program.device_functions():
        for node in function.below():
            if node.kind != "VarDecl" or not node.parent or node.parent.kind != "DeclStmt":
                continue
            words = node.after_type
            if any(word.startswith("tls") for word in words):
                yield (node.named, "thread_local is not allowed for variables in device code",
                       "leave thread_local out: a kernel's local variable is each thread's own")
            elif "static" in words and not node.child("CUDASharedAttr") and is_dynamic(node):
                yield (node.named, "dynamic initialization is not supported for a function-scope static variable within a __device__ or __global__ function",
                       "initialise it by a constant, or leave static out")


def packs(asked: Asked) -> Found:
    """A kernel is told its template arguments by position."""
    for template in (node for node in asked.program.nodes if node.kind == "FunctionTemplateDecl"):
        arguments = [child for child in template.children if child.kind in ("TemplateTypeParmDecl", "NonTypeTemplateParmDecl", "TemplateTemplateParmDecl")]
        if any(is_kernel(child) for child in template.children) and any("..." in one.text for one in arguments[:-1]):
            yield (template.named, "Pack template parameter must be the last template parameter for a variadic __global__ function template",
                   "let the parameter pack be the last, and only one")


def constants(asked: Asked) -> Found:
    """A whole __constant__ variable that is assigned, by host or device; of elements and members nvcc says nothing."""
    for node in asked.program.nodes:
        if node.kind not in ("BinaryOperator", "CompoundAssignOperator", "UnaryOperator") or not node.children:
            continue
        target = node.children[0]
        while target.kind == "ParenExpr":
            target = target.children[0]
        words = node.after_type
        writes = node.kind == "CompoundAssignOperator" or "'='" in words or "'++'" in words or "'--'" in words
        variable = asked.program.by_id.get(referred(target)) if writes else None
        if variable and variable.child("CUDAConstantAttr"):
            yield (target.begin, f"expression must be a modifiable lvalue: {variable.name} is a __constant__ variable",
                   "let the host write it by cudaMemcpyToSymbol before the launch, or make it a __device__ variable")


def wide_floats(asked: Asked) -> Found:
    for function in asked.program.device_functions():
        for node in function.below():
            if node.kind == "VarDecl" and "__float128" in node.type and not on_host(function):
                yield node.named, '"__float128" is a 128-bit floating-point, which is not supported in device code', "write double"


def threads_own(asked: Asked) -> Found:
    for node in asked.program.nodes:
        if node.kind == "VarDecl" and any(word.startswith("tls") for word in node.after_type) and any(
                child.kind in ("CUDADeviceAttr", "CUDAConstantAttr") and "Implicit" not in child.text for child in node.children):
            yield node.named, "cannot use thread_local specifier for a __device__ variable", "leave thread_local out: all threads share it"


def members(asked: Asked) -> Found:
    """A class's variables, which a memory qualifier cannot place."""
    qualifiers = {"CUDADeviceAttr", "CUDAConstantAttr", "CUDASharedAttr", "HIPManagedAttr"}
    for record in (node for node in asked.program.nodes if node.kind in RECORDS):
        for node in record.children:
            if node.kind in ("VarDecl", "FieldDecl") and any(child.kind in qualifiers and "Implicit" not in child.text for child in node.children):
                yield node.named, "memory qualifier on data member is not allowed", "declare the variable outside of the class"


def shared_for_the_host(asked: Asked) -> Found:
    """nvcc compiles a __host__ __device__ function for the host, too, unless its text asks which side it is on."""
    for function in asked.program.functions:
        if on_host(function) and on_device(function) and function.named[0] == function.end[0]:
            lines = (asked.line((function.named[0], line, 1)) for line in range(function.named[1], function.end[1] + 1))
            guarded = any("__CUDA_ARCH__" in line for line in lines)
            for node in () if guarded else function.below():
                if node.kind == "VarDecl" and node.child("CUDASharedAttr") and "extern" not in node.after_type:
                    yield (node.named, 'a static "__shared__" variable declaration is not allowed inside a host function body',
                           "write __device__ alone before the function")


def is_dynamic(variable: Node) -> bool:
    """It is initialised by what is read from a variable."""
    return any(node.kind == "ImplicitCastExpr" and "<LValueToRValue>" in node.text and
               any(below.kind == "DeclRefExpr" and (" ParmVar " in below.text or re.search(r" Var .*'threadIdx'|'blockIdx'", below.text))
                   for below in node.below()) for node in variable.below())


def vectors(asked: Asked) -> Found:
    for function in asked.program.device_functions():
        if not on_host(function) and any("vector_size" in node.type for node in function.below()):
            yield function.named, "the compiler's own vector types are not supported in device code", "use float4, or a struct"


def device_lambdas(asked: Asked) -> Found:
    for node in asked.program.nodes:
        if node.kind == "LambdaExpr" and (record := node.child("CXXRecordDecl")):
            call = kernel_arguments.call_operator(record)
            sides = kernel_arguments.sides(call)
            if not call or not sides:
                continue
            around = function_around(node)
            if not asked.extended_lambda:
                yield (node.begin, "__host__ or __device__ on a lambda requires nvcc's flag --extended-lambda",
                       "write a struct with a __device__ operator(), or compile with --extended-lambda")
            elif (not around or not on_device(around)) and any(child.kind == "FieldDecl" and child.type.endswith("&") for child in record.children):
                yield (node.begin, "an extended __device__ lambda cannot capture variables by reference",
                       "write [=]: the variables of a host function are not where a kernel could read them")
            elif around and not on_device(around) and (hidden := kernel_arguments.hidden_around(asked.program, around)):
                yield node.begin, hidden, "make it public, or write a struct with a __device__ operator()"
            elif around and not on_device(around) and len(sides) == 2 and call.parent and call.parent.kind == "FunctionTemplateDecl":
                yield (node.begin, "a __host__ __device__ extended lambda cannot be generic", "write its parameters' types, or leave __host__ out")


def overloads(asked: Asked) -> Found:
    """nvcc chooses among overloads by their parameters alone; clang leaves out those of the other side."""
    by_name: dict[tuple, list[Node]] = {}
    for function in asked.program.functions:
        if function.kind == "FunctionDecl" and function.id not in asked.program.patterns:
            by_name.setdefault((function.name, function.parent), []).append(function)
    for function in asked.program.device_functions():
        if on_host(function):
            continue
        for call in (node for node in function.below() if node.kind == "CallExpr" and node.children):
            callee = next((node for node in call.children[0].below() if node.kind == "DeclRefExpr"), None)
            match = callee and re.search(r" Function (0x[0-9a-f]+) '([^']+)'", callee.text)
            chosen = match and asked.program.by_id.get(match[1])
            if not chosen:
                continue
            given = [given_type(argument) for argument in call.children[1:]]
            if parameters(chosen) == given:
                continue
            for other in by_name.get((chosen.name, chosen.parent), []):
                if not on_device(other) and parameters(other) == given:
                    yield (call.begin, f'calling a __host__ function("{other.name}({", ".join(given)})") from a __device__ or __global__ function is not allowed',
                           f"write __device__ before the {other.name} of line {other.named[1]}: it fits better than the one of line {chosen.named[1]}")


def parameters(function: Node) -> list[str]:
    return [child.type for child in function.children if child.kind == "ParmVarDecl"]


def given_type(argument: Node) -> str:
    """Before conversions."""
    while argument.kind == "ImplicitCastExpr" and "<LValueToRValue>" not in argument.text and argument.children:
        argument = argument.children[0]
    return argument.type.removeprefix("const ")


RULES: list[Callable[[Asked], Found]] = [kernels, overrides, operators, variables, packs, constants, wide_floats, threads_own, members, shared_for_the_host, vectors, device_lambdas, overloads, kernel_arguments.found,
                                         host_constants.found, shared_sizes.found]

def refusals(asked: Asked) -> list[tuple[str, int, int, str, str]]:
    found: dict[tuple[str, int, int, str, str], None] = {}
    for rule in RULES:
        for (file, line, column), text, advice in rule(asked):
            if file:
                found.setdefault((file, line, column, text, advice))
    return list(found)
