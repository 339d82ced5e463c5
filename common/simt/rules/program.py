"""What the rules ask about a program's tree: its functions, their sides, which of them nvcc compiles for the device, and who is who."""

from __future__ import annotations

import re
from typing import Iterator

from front_end import Message
from syntax_tree import Node

FUNCTIONS = {"FunctionDecl", "CXXMethodDecl", "CXXConstructorDecl", "CXXDestructorDecl", "CXXConversionDecl"}
RECORDS = {"CXXRecordDecl", "ClassTemplateSpecializationDecl"}
REFERENCE = re.compile(r" (?:Function|CXXMethod|CXXConversion|Var|EnumConstant) (0x[0-9a-f]+) ")
MEMBER = re.compile(r"(?:->|\.)\S+ (0x[0-9a-f]+)")


def is_kernel(function: Node) -> bool:
    return bool(function.child("CUDAGlobalAttr"))


def on_device(function: Node) -> bool:
    return is_kernel(function) or bool(function.child("CUDADeviceAttr"))


def on_host(function: Node) -> bool:
    return not on_device(function) or bool(function.child("CUDAHostAttr"))


def is_instance(function: Node) -> bool:
    return bool(function.child("TemplateArgument"))


def is_pattern(node: Node) -> bool:
    """It has no types yet: a template itself, or inside of one."""
    for each in (node, *node.above()):
        above = each.parent
        if each.kind == "ClassTemplatePartialSpecializationDecl":
            return True
        if above and above.kind == "FunctionTemplateDecl" and each.kind in FUNCTIONS and not is_instance(each):
            return True
        if above and above.kind == "ClassTemplateDecl" and each.kind == "CXXRecordDecl":
            return True
    return False


def function_around(node: Node) -> Node | None:
    return next((above for above in node.above() if above.kind in FUNCTIONS), None)


def referred(node: Node) -> str | None:
    """The declaration that an expression names."""
    match = None
    if node.kind == "DeclRefExpr":
        match = REFERENCE.search(node.text)
    elif node.kind == "MemberExpr":
        match = MEMBER.search(node.text)
    return match[1] if match else None


class Program:
    def __init__(self, roots: list[Node]):
        self.roots = roots
        self.nodes = [node for root in roots for node in (root, *root.below())]
        self.by_id = {node.id: node for node in reversed(self.nodes) if node.id and node.kind.endswith("Decl")}
        self.functions = [node for node in self.nodes if node.kind in FUNCTIONS]
        self.patterns = {node.id for node in self.functions if is_pattern(node)}
        self.compiled = self.compiled_for_the_device()

    def compiled_for_the_device(self) -> set[str]:
        """nvcc says nothing of a function that is inline, of a class or of a template, and that no device code calls."""
        reached: set[str] = set()
        waiting = []
        for node in self.functions:
            if not on_device(node) or node.id in self.patterns or "implicit" in node.before_type:
                continue
            made = is_instance(node) or any(above.kind in RECORDS or above.kind == "LambdaExpr" for above in node.above())
            special = node.kind in ("CXXConstructorDecl", "CXXDestructorDecl") or "virtual" in node.after_type
            if is_kernel(node) or not (made or "inline" in node.after_type) or (made and special and not on_host(node) and "used" in node.before_type):
                waiting.append(node)
        while waiting:
            function = waiting.pop()
            if function.id in reached:
                continue
            reached.add(function.id)
            for node in function.below():
                called = self.by_id.get(referred(node) or "")
                if called and called.kind in FUNCTIONS and on_device(called):
                    waiting.append(called)
                elif node.kind in FUNCTIONS and function_around(node) is function:
                    waiting.append(node)  # of a lambda
        return reached

    def device_functions(self) -> Iterator[Node]:
        return (function for function in self.functions if function.id in self.compiled)

    def instances(self, pattern: Node) -> list[Node]:
        return [function for function in self.functions if function.named == pattern.named and function.id not in self.patterns]

    def function_at(self, file: str, line: int, column: int) -> Node | None:
        """The innermost."""
        found = [function for function in self.functions if function.end[0] == file and function.named[0] == file and
                 function.named[1:] <= (line, column) <= function.end[1:] and "implicit" not in function.before_type]
        return max(found, key=lambda function: (function.named, function.id in self.patterns), default=None)

    def is_compiled(self, file: str, line: int, column: int) -> bool:
        """Whether nvcc generates code for a place, so that it says which calls are wrong there."""
        function = self.function_at(file, line, column)
        if not function:
            return True
        made = self.instances(function) if function.id in self.patterns else [function]
        made = [one for one in made if one.id in self.compiled or not on_device(one)]
        for condition, branch in branch_at(function, line, column):
            made = [one for one in made if not any(node.kind == "IfStmt" and node.begin == condition.begin and is_left_out(node, branch)
                                                   for node in one.below())]
        return bool(made)

    def is_for_the_device(self, file: str, line: int, column: int) -> bool:
        function = self.function_at(file, line, column)
        return bool(function) and on_device(function) and not on_host(function)

    def called(self, message: Message) -> list[Node]:
        places = {(note.file, note.line) for note in message.notes}
        return [function for function in self.functions if function.named[:2] in places]

    def is_computed(self, message: Message) -> bool:
        """For a variable of the file, or where no function's parameters or text are, in a kernel's attributes for example, the compiler computes
        a value: nobody is called; nor is a consteval function ever. (Of variables clang since 18 minds.)"""
        file, line, column = message.file, message.line, message.column
        called = self.called(message)
        if any("consteval" in function.before_type for function in called):
            return True
        if not any("constexpr" in function.before_type for function in called):
            return False
        if any(node.kind == "VarDecl" and node.named[0] == node.end[0] == file and node.named[1:] <= (line, column) <= node.end[1:] for node in self.roots):
            return True
        return not self.function_at(file, line, column) and not any(
            node.kind == "FieldDecl" and node.named[0] == node.end[0] == file and node.named[1:] <= (line, column) <= node.end[1:] for node in self.nodes)

    def is_declared_anew(self, message: Message) -> bool:
        """The function that is called has a second declaration, for the device. To nvcc both are one function, to clang two."""
        called = self.called(message)
        return any(other.name == one.name and other.type == one.type and other.parent is one.parent and on_device(other)
                   for one in called if not on_device(one) for other in self.functions)


def branch_at(function: Node, line: int, column: int) -> Iterator[tuple[Node, Node]]:
    """The branches of an if constexpr around a place, each with its if."""
    for node in function.below():
        if node.kind == "IfStmt" and "constexpr" in node.text.split():
            for branch in node.children[1:]:
                if branch.begin[1:] <= (line, column) <= branch.end[1:]:
                    yield node, branch


def is_left_out(found: Node, branch: Node) -> bool:
    """Whether an if constexpr, or its instance, drops a branch of it."""
    for number, child in enumerate(found.children[1:], 1):
        if child.begin == branch.begin:
            value = next((node.text for node in found.children[0].children if node.kind == "value"), "")
            return child.kind == "NullStmt" or value.endswith(f"Int {number - 1}")
    return True
