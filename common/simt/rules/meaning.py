"""What clang's messages mean in nvcc's words, and what to do. A message that has no meaning here is the other compiler's affair,
or nothing to nvcc."""

from __future__ import annotations

import re
from typing import Callable, NamedTuple

from front_end import Message

SIDES = re.compile(r"call to __(\w+?)__ function from __(\w+?)__ function")


EXECUTOR = "the executor has no"  # begins the texts that are not nvcc's


class Meaning(NamedTuple):
    text: str  # nvcc's
    advice: str
    of_code: bool = False  # nvcc says it of code that it compiles, not of what nobody calls
    of_device: bool = False  # and only of code that is for the device alone


MATHEMATICS = {"max": "fmaxf, or max without std::", "min": "fminf, or min without std::"}


def name_of(message: Message) -> str:
    """What the program calls, as clang quotes it."""
    quoted = re.search(r"(?:call to|function|variable|initialization of|type) '([^']+)'", message.text)
    name = quoted[1] if quoted else ""
    if "binary expression" in message.text:
        name = "an operator"
    elif match := re.search(r"overloaded (operator\S+)", message.text):
        name = match[1]
    return "__syncthreads" if name == "simt_syncthreads" else name


def is_library(file: str) -> bool:
    return file.startswith("/usr/")


def is_course(file: str) -> bool:
    return bool(re.search(r"(^|/)common/(simt/(include|rules)|rung)/[\w./]+$", file)) and not file.endswith(".cu")


# Of the functions in the course's headers the runtime's are the host's. Any other may be for kernels, although declarations.h does
# not say so.
RUNTIME = re.compile(r"cuda[A-Z]|cublas[A-Z]|cu[A-Z]")
# On a GPU kernels may call these, too.
ALSO_ON_DEVICE = re.compile(r"cuda(Malloc|Free|MemcpyAsync|MemsetAsync|GetLastError|PeekAtLastError|GetErrorString|GetErrorName|GetDevice|GetDeviceCount)$")


def wrong_side(callee: str, caller: str, message: Message, declared: tuple[str, int] | None) -> Meaning | None:
    if caller.startswith("host") and caller.endswith("device"):
        return None  # nvcc warns
    name = name_of(message)
    if callee == "host" and declared and is_course(declared[0]) and not RUNTIME.match(name):
        return None
    if callee == "host" and declared and declared[0].endswith("/initializer_list"):
        return None  # nvcc takes its functions for both sides'
    text = f'calling a __{callee}__ function("{name}") from a __{caller}__ function is not allowed'
    where = f" (line {declared[1]})" if declared and declared[0] == message.file else ""
    if callee == "global":
        return Meaning(NOT_CONFIGURED, f"a kernel cannot call a kernel; make {name}{where} a __device__ function")
    if callee == "device":
        if declared and is_course(declared[0]):
            return Meaning(text, f"{name} is for kernels and __device__ functions; write __device__ before the function that calls it")
        return Meaning(text, f"write __host__ __device__ before {name}{where} if the host is to call it, too")
    if declared and is_course(declared[0]) and ALSO_ON_DEVICE.match(name):
        return Meaning(f"{EXECUTOR} {name} in kernels", "do it before or after the launch")
    if declared and is_course(declared[0]):
        return Meaning(text, f"{name} is a call of the host: do it before or after the launch")
    if declared and is_library(declared[0]):
        if name in MATHEMATICS:
            return Meaning(text, f"of the C++ library only the mathematical functions run in a kernel; write {MATHEMATICS[name]}")
        return Meaning(text, "of the C++ library only the mathematical functions run in a kernel, not its limits, containers and algorithms: "
                             "write the code yourself, or compute the value on the host and pass it")
    return Meaning(text, f"write __device__ before {name}{where}, or __host__ __device__ if the host calls it, too")


NOT_CONFIGURED = "a __global__ function call must be configured"
NESTED_LAUNCH = "a kernel launch from a kernel needs separate compilation"
# What CUDA's runtime is for kernels that launch kernels, as far as the executor has it.
DEVICE_RUNTIME = re.compile(r"\bcuda(Malloc|Free|GetLastError|PeekAtLastError|GetError(String|Name)|GetDevice(Count)?|"
                            r"DeviceGetAttribute|StreamCreateWithFlags|StreamDestroy|ConfigureCall)\b")
# From a kernel's name, where clang only knows that no template of that name is for kernels.
LAUNCH = re.compile(r"[\w:]+\s*(?:<[^<>;{}]*>\s*)?<<<")


def of_device_runtime(means: Meaning, from_there: str) -> bool:
    """Does nvcc take it with -rdc=true? from_there: the source from the place that is meant."""
    is_launch = means.text == NOT_CONFIGURED and LAUNCH.match(from_there)
    return bool(means.text == NESTED_LAUNCH or is_launch or DEVICE_RUNTIME.search(means.text))


def by_candidates(message: Message) -> Meaning | None:
    """No function fits, because those that would are the other side's."""
    sides = [(match, note) for note in message.notes if (match := SIDES.search(note.text))]
    if not sides:
        return None
    # A function of the program or of its libraries says more than one of the course's headers that merely has the same name.
    match, note = min(sides, key=lambda pair: is_course(pair[1].file))
    return wrong_side(match[1], match[2], message, (note.file, note.line))


def by_reference(message: Message, match: re.Match) -> Meaning | None:
    callee, kind, name, caller = match.groups()
    caller = caller.strip(" _")
    declared = next(((note.file, note.line) for note in message.notes if "declared here" in note.text or "variable" in note.text), None)
    if kind == "function":
        if callee == "global":
            return Meaning(NESTED_LAUNCH, "compile with -rdc=true, or launch both kernels from the host")
        return wrong_side(callee, caller, message, declared)
    if declared and is_course(declared[0]):
        return None
    where = f" (line {declared[1]})" if declared and declared[0] == message.file else ""
    if declared and is_library(declared[0]):
        return Meaning(f'identifier "{name}" is undefined in device code', f"{name} is the host's; a kernel has printf and what it is passed")
    return Meaning(f'identifier "{name}" is undefined in device code',
                   f"pass {name}{where} as an argument, make it a __device__ or __constant__ variable, or constexpr if it never changes")


def not_global(message: Message, match: re.Match) -> Meaning:
    return Meaning("only a __global__ function can be launched", f"write __global__ before {match[1]}, or call it without <<<>>>")


def overrides_other_side(message: Message, match: re.Match) -> Meaning | None:
    """clang does not see an overrider in a function of the other side. The compiler, which knows no sides, takes it."""
    return Meaning("execution space mismatch between a virtual function and the one that overrides it",
                   "give both the same of __host__, __device__ and __host__ __device__")


def plain(text: str, advice: str) -> Callable[[Message, re.Match], Meaning]:
    return lambda message, match: Meaning(text, advice)


# The C library's own names, with two underscores: g++ knows them, and CUDA has no such intrinsic (declarations.h hides them).
C_LIBRARY = "|".join("acosf asinf atanf atan2f cbrtf ceilf coshf exp2f expm1f fabsf floorf fmaxf"
                     " fminf fmodf hypotf log1pf rintf roundf sinhf sqrtf truncf exp2 sqrt".split())

# clang's words (of versions 14 to 18), and what they mean. The first that matches counts.
MEANINGS: list[tuple[str, Callable[[Message, re.Match], Meaning | None]]] = [
    (r"reference to __(\w+?)__ (function|variable) '([^']+)' in ((?:__\w+?__ ?)+)function", by_reference),
    (r"kernel function type '.*' must have void return type",
     plain("a __global__ function must have a void return type", "write void; a kernel stores its result where a pointer says")),
    (r"kernel function '.*' must be a free function or static member function",
     plain("__global__ cannot be applied to a member function that is not static", "make it a static member or a function of its own")),
    (r"'?(?:__)?(device|host)(?:__)?'? and '?(?:__)?global(?:__)?'? attributes are not compatible",
     plain("a function is either __global__, or __device__ and __host__", "leave one of them out")),
    (r"kernel call to non-global function '?([^']+)'?", not_global),
    (r"kernel call to non-global function (.+)", not_global),
    (r"call to global function '?([^' ]+)'? not configured",
     plain(NOT_CONFIGURED, "launch it: kernel<<<blocks, threads>>>(arguments)")),
    (r"__global__ function '(\w+)' cannot overload __(?:host|device)__ function|__(?:host|device)__ function '(\w+)' cannot overload __global__ function",
     plain("a function is declared once with and once without __global__", "write __global__ in both declarations")),
    (r"too many execution configuration arguments to kernel function call",
     plain("a launch takes blocks, threads, and perhaps bytes of shared memory and a stream", "write kernel<<<blocks, threads>>>(...)")),
    (r"cannot use '(throw|try)' in __(?:global|device)__ function",
     plain("exceptions are not supported in device code", "store an error code, or end the kernel by __trap()")),
    (r"CUDA device code does not support va_arg", plain("va_arg is not supported in device code", "pass the number and a pointer")),
    (r"__shared__ local variables not allowed in __host__ functions",
     plain('a static "__shared__" variable declaration is not allowed inside a host function body', "declare it in a kernel")),
    (r"dynamic initialization is not supported for __device__, __constant__",
     plain("dynamic initialization is not supported for a __device__, __constant__ or __managed__ variable",
           "initialise it by a constant, or fill it by cudaMemcpyToSymbol before the launch")),
    (r"__constant__, __device__, and __managed__ are not allowed on non-static local variables",
     plain("a __device__, __constant__ or __managed__ variable declaration is not allowed inside a function body", "declare it at file scope")),
    (r"redeclaration of '(\w+)' with a different type: '[^']*\[\]' vs '[^']*\[\]'",
     lambda message, match: Meaning(f'declaration is incompatible with previous "{match[1]}"', "one name of an extern __shared__ array has one type: "
                                    "declare bytes (extern __shared__ __align__(16) unsigned char) and cast, or use another name")),
    (r"non-virtual member function marked 'override' hides virtual member function", overrides_other_side),
    (r"'launch_bounds' attribute requires parameter \d+ to be an integer constant",
     plain("__launch_bounds__ must have a constant value", "make it a number, a macro, a constexpr variable or a template's parameter")),
    (rf"use of undeclared identifier '__({C_LIBRARY})'",
     lambda message, match: Meaning(f'calling a __host__ function("__{match[1]}") from a __global__ function is not allowed',
                                    f"CUDA has no __{match[1]}; write {match[1]}", of_device=True)),
    (r"cannot use variable-length arrays in __(?:global|device)__ functions",
     plain("variable length arrays are not supported in device code", "give it a constant size, or use shared memory: "
           "extern __shared__ float row[];")),
]


def shared_initialiser(message: Message, lines: list[str]) -> Meaning | None:
    """clang objects to constructors, too, of which nvcc only warns (they do not run)."""
    declaration = "\n".join(lines[message.line - 1:message.line + 5])[message.column - 1:].split(";")[0]
    if not re.match(r"\w+\s*(?:\[[^=]*\]\s*)*[={(]", declaration):
        return None
    return Meaning("initializer not allowed for __shared__ variable", "let a thread assign it, then __syncthreads()")


def unevaluated(message: Message, lines: list[str]) -> bool:
    """In sizeof(...) or decltype(...): nobody is called."""
    before = lines[message.line - 1][:message.column - 1] if message.line <= len(lines) else ""
    return bool(re.search(r"\b(?:sizeof|decltype|alignof|noexcept)\s*\((?:[^()]|\([^()]*\))*$", before))


def meaning_of(message: Message, lines: list[str]) -> Meaning | None:
    """lines: of the file that the message is about."""
    if "no viable constructor or deduction guide" in message.text:
        return None  # clang takes a deduction guide for the host's; of the constructor that is then called it speaks by itself
    if "initialization is not supported for __shared__ variables" in message.text:
        return shared_initialiser(message, lines)
    if any("'warpSize'" in note.text for note in message.notes if "unknown" in note.text):
        return Meaning("expression must have a constant value", "warpSize is known when the kernel runs; write constexpr int warp = 32;")
    if "dynamic initialization" in message.text and re.search(r"\bconstexpr\b", "".join(lines[message.line - 1:message.line])):
        return None  # it could not be computed; the compiler says why
    for pattern, meaning in MEANINGS:
        if match := re.search(pattern, message.text):
            means = meaning(message, match)
            return means and means._replace(of_code=means.of_device or meaning is by_reference)
    means = by_candidates(message)
    return None if not means or unevaluated(message, lines) else means._replace(of_code=True)
