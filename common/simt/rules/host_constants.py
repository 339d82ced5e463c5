"""Variables of the file that are const: a kernel may use their value, but there is nothing of them on the device. An array, what a
reference is bound to, and what an address is taken of would have to be there."""

from __future__ import annotations

from typing import Iterator

from program import Program, function_around, on_device
from syntax_tree import Node

CLASSES = {"CXXRecordDecl", "ClassTemplateSpecializationDecl"}
OF_THE_FILE = {"NamespaceDecl", "LinkageSpecDecl", "VarTemplateDecl", *CLASSES}
UNEVALUATED = {"UnaryExprOrTypeTraitExpr", "CXXNoexceptExpr", "ConstantExpr", "StaticAssertDecl", "TemplateArgument"}
PASSED_ON = {"ParenExpr", "ConditionalOperator", "CXXStaticCastExpr", "ExprWithCleanups", "MaterializeTemporaryExpr"}
CALLS = {"CallExpr", "CXXOperatorCallExpr", "CXXMemberCallExpr"}


def is_of_the_file(variable: Node) -> bool:
    return variable.kind == "VarDecl" and (variable.parent is None or variable.parent.kind in OF_THE_FILE)


def has_own_side(variable: Node) -> bool:
    return any(child.kind in ("CUDADeviceAttr", "CUDAConstantAttr", "CUDASharedAttr", "HIPManagedAttr") and "Implicit" not in child.text
               for child in variable.children)


def is_evaluated(node: Node, function: Node) -> bool:
    for above in node.above():
        if above is function:
            return True
        if above.kind in UNEVALUATED or (above.kind == "VarDecl" and "constexpr" in above.after_type):
            return False
    return True


def is_own_function(program: Program, call: Node) -> bool:
    """One that the program wrote, so that its parameters are those of the GPU."""
    from program import referred
    callee = call.children[0] if call.children else None
    return bool(callee) and any((referred(node) or "") in program.by_id for node in (callee, *callee.below()))


def needs_memory(program: Program, node: Node) -> bool:
    """Whether the use of a value's name asks for the place where it lies."""
    above, of_array = node.parent, "[" in node.type
    while above:
        if of_array:
            return above.kind not in ("CXXForRangeStmt",)
        if above.kind == "ImplicitCastExpr":
            if "<LValueToRValue>" in above.text:
                return False
            if "<NoOp>" not in above.text:
                return False
        elif above.kind == "MemberExpr":
            of_array = "[" in above.type
        elif above.kind == "UnaryOperator":
            return "'&'" in above.text
        elif above.kind == "VarDecl":
            return above.type.endswith("&")
        elif above.kind in CALLS:
            return node not in above.children[0].below() and node is not above.children[0] and is_own_function(program, above)
        elif above.kind not in PASSED_ON:
            return False
        above = above.parent
    return False


def is_computed(variable: Node) -> bool:
    """The host computes it when the program starts: clang has not given it to the device by itself."""
    return "constexpr" not in variable.after_type and not variable.child("CUDAConstantAttr")


def found(asked) -> Iterator[tuple[tuple[str, int, int], str, str]]:
    from program import referred
    program: Program = asked.program
    for function in program.device_functions():
        for node in function.below():
            if node.kind != "DeclRefExpr":
                continue
            variable = program.by_id.get(referred(node) or "")
            if not variable or not is_of_the_file(variable) or has_own_side(variable) or not is_evaluated(node, function):
                continue
            around = function_around(node)
            if around is not function and not (around and on_device(around)):
                continue
            kind = variable.type
            if kind.endswith("&"):
                refused = "constexpr" not in variable.after_type
            elif not is_const(kind):
                refused = False  # clang knows
            elif kind.endswith("*const") and "constexpr" not in variable.after_type:
                refused = not is_null(variable)
            elif "non_odr_use_constant" in node.text and "[" not in kind and not member_array(node):
                refused = False
            elif is_element_of_class_s_table(variable, node):
                refused = False
            else:
                refused = needs_memory(program, node)
            if refused:
                yield (node.begin, f'identifier "{variable.name}" is undefined in device code',
                       f"{variable.name} (line {variable.named[1]}) lies in the host's memory: make it a __constant__ or __device__ variable, or "
                       "declare it constexpr within the kernel")


def is_element_of_class_s_table(variable: Node, node: Node) -> bool:
    """Of an array that is a static constexpr member nvcc takes an element's value where the index is a constant; not of one of a file."""
    if variable.parent is None or variable.parent.kind not in CLASSES or "constexpr" not in variable.before_type + variable.after_type:
        return False
    below, above = node, node.parent
    while above and above.kind in ("ArraySubscriptExpr", "ImplicitCastExpr", "ParenExpr", "MemberExpr"):
        if "<LValueToRValue>" in above.text:
            return True
        if above.kind == "ArraySubscriptExpr" and not all(is_constant(child) for child in above.children if child is not below):
            return False
        below, above = above, above.parent
    return False


def is_constant(index: Node) -> bool:
    """Without a variable, that is: one that is constexpr does not do for nvcc."""
    return not any(node.kind == "DeclRefExpr" and "EnumConstant" not in node.text or node.kind in ("MemberExpr", *CALLS)
                   for node in (index, *index.below()))


def member_array(node: Node) -> bool:
    above = node.parent
    while above and above.kind in ("MemberExpr", "ImplicitCastExpr", "ParenExpr"):
        if above.kind == "MemberExpr" and "[" in above.type:
            return True
        above = above.parent
    return False


def is_const(kind: str) -> bool:
    return kind.startswith("const ") or kind.endswith("const")


def is_null(variable: Node) -> bool:
    return any(node.kind in ("CXXNullPtrLiteralExpr", "GNUNullExpr") or "<NullToPointer>" in node.text for node in variable.below())
