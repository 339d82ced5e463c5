"""Types that a kernel template cannot have as an argument: lambdas of the host, types within a host function, private ones. nvcc
writes the kernel's name into a file of its own, where these types have no name."""

from __future__ import annotations

import re
from typing import Iterator

from program import FUNCTIONS, RECORDS, Program, function_around, is_kernel, on_device
from syntax_tree import Node

TYPES = {*RECORDS, "EnumDecl"}


def arguments(program: Program, holder: Node, seen: set[str]) -> Iterator[Node]:
    """The declarations of the types in a template's arguments, and those in theirs."""
    for argument in (child for child in holder.children if child.kind == "TemplateArgument"):
        for node in argument.below():
            if node.kind in ("CXXRecord", "Enum", "ClassTemplateSpecialization") and node.id not in seen:
                seen.add(node.id or "")
                if declared := program.by_id.get(node.id or ""):
                    yield declared
                    yield from arguments(program, declared, seen)


def is_lambda(record: Node) -> bool:
    return bool(record.parent and record.parent.kind == "LambdaExpr")


def call_operator(record: Node) -> Node | None:
    """A lambda's; a generic one's is a template."""
    members = [member for child in record.children for member in (child.children if child.kind == "FunctionTemplateDecl" else [child])]
    return next((member for member in members if member.kind == "CXXMethodDecl" and "operator()" in member.before_type), None)


def sides(function: Node | None) -> set[str]:
    """What the program itself writes: CUDADeviceAttr, CUDAHostAttr."""
    written = [child.kind for child in function.children if "Implicit" not in child.text] if function else []
    return {"CUDADeviceAttr", "CUDAHostAttr"}.intersection(written)


def has_side(record: Node) -> bool:
    return "CUDADeviceAttr" in sides(call_operator(record))


def is_private(declared: Node) -> bool:
    if declared.parent and declared.parent.kind == "FunctionTemplateDecl":
        declared = declared.parent
    holder = declared.parent
    if not holder or holder.kind not in RECORDS or "implicit" in declared.before_type:
        return False
    access = "private" if "class" in holder.before_type else "public"
    for child in holder.children:
        if child is declared:
            return access != "public"
        if child.kind == "AccessSpecDecl":
            access = child.before_type[-1]
    return False


def hidden_around(program: Program, function: Node) -> str:
    """A function or a class around an extended lambda that others have no access to: what nvcc says of it."""
    while function.previous in program.by_id:  # the access is said where it is first declared
        function = program.by_id[function.previous]
    for each in (function, *function.above()):
        if each.kind == "CXXMethodDecl" and each.parent and not is_lambda(each.parent) and is_private(each):
            return f'the enclosing parent function ("{each.name}") for an extended lambda cannot have private or protected access within its class'
        if each.kind in RECORDS and is_private(each):
            return f'an extended lambda cannot be defined inside a class ("{named(each)}") with private or protected access within another class'
    return ""


def why(declared: Node, extended_lambda: bool) -> tuple[str, str] | None:
    around = function_around(declared)
    of_host = bool(around and not on_device(around))
    if is_lambda(declared):
        if not around:
            return ("the type of a lambda outside of a function cannot be a template argument of a __global__ function",
                    "write a struct with a __device__ operator(), or move the lambda into the function that launches")
        if of_host and not (extended_lambda and has_side(declared)):
            return ("the type of a lambda of the host cannot be a template argument of a __global__ function",
                    "write a struct with a __device__ operator() at file scope; nvcc's flag --extended-lambda allows lambdas marked __device__")
    elif of_host and declared.name:
        return (f'a type defined inside a __host__ function ("{named(declared)}") cannot be a template argument of a __global__ function',
                f"move {named(declared)} out of the function")
    elif is_private(declared):
        return (f'a type that is private or protected in its class ("{named(declared)}") cannot be a template argument of a __global__ function',
                f"make {named(declared)} public, or move it out of the class")
    return None


def named(declared: Node) -> str:
    words = [word for word in declared.before_type if word != "definition"]
    return words[-1] if words else "the type"


def found(asked) -> Iterator[tuple[tuple[str, int, int], str, str]]:
    program: Program = asked.program
    refused: dict[str, tuple[str, str]] = {}
    for function in program.functions:
        if is_kernel(function) and function.kind in FUNCTIONS:
            for declared in arguments(program, function, set()):
                if reason := why(declared, asked.extended_lambda):
                    refused.setdefault(function.id or "", reason)
    if refused:  # said where the kernel is named
        for node in program.nodes:
            if node.kind == "DeclRefExpr" and (match := re.search(r" Function (0x[0-9a-f]+) ", node.text)) and match[1] in refused:
                yield node.begin, *refused[match[1]]
