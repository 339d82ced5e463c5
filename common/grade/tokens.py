"""A kernel file as a sequence of tokens in which names, numbers, types and formatting no longer matter, so that a copy which was renamed or
laid out anew is the same sequence. Each token knows where it stands in the file."""

from __future__ import annotations

import re
from dataclasses import dataclass

# What keeps its name: the language's words and those that CUDA gives, since they say what is done.
KEYWORDS = set("""if else for while do switch case default break continue return goto sizeof new delete template typename struct class union enum operator
using namespace public private protected try catch throw true false nullptr static_cast reinterpret_cast const_cast dynamic_cast define
threadIdx blockIdx blockDim gridDim warpSize x y z w __global__ __device__ __shared__ __constant__ extern __syncthreads __syncwarp __launch_bounds__
__shfl_sync __shfl_xor_sync __shfl_down_sync __shfl_up_sync __ballot_sync __any_sync __all_sync __activemask __reduce_max_sync __reduce_add_sync
atomicAdd atomicMax atomicCAS atomicExch __threadfence __threadfence_block cooperative_groups this_grid this_thread_block tiled_partition
exp expf __expf exp2f log logf max min fmaxf fminf fmax fmin fabsf sqrtf rsqrtf isnan isinf INFINITY FLT_MAX NAN numeric_limits
__half2float __float2half __half22float2 __floats2half2_rn __float22half2_rn __bfloat162float __float2bfloat16 __hmax __hadd make_float4 make_float2 __ldg
cudaError_t cudaSuccess cudaErrorInvalidValue cudaGetLastError cudaMalloc cudaFree cudaMemcpy cudaMemcpyAsync cudaMemsetAsync cudaFuncSetAttribute
cudaGetDevice cudaDeviceGetAttribute cudaStream_t cudaLaunchCooperativeKernel cudaStreamBeginCapture cudaGraphLaunch RUNG_EXPORT RUNG_PREDICT""".split())
TYPES = set("""void bool char short int long signed unsigned float double auto size_t ptrdiff_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t
half __half half2 __half2 __nv_bfloat16 __nv_bfloat162 bfloat16 float2 float4 int2 int4 uint2 uint4 double2""".split())
# What can be added or left out without another meaning.
IGNORED = set("const constexpr static inline volatile register __restrict__ __forceinline__ __inline__ std this { } :: ->".split())
TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?(?:\*/|\Z)|\\\r?\n)
      | (?P<raw>\b(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?(?:\)(?P=mark)"|\Z))
      | (?P<string>"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?)
      | (?P<directive>(?m:^)[ \t]*\#[ \t]*(?!define\b)\w*(?:[^\n\\]|\\\r?\n|\\.)*)
      | (?P<number>\.?[0-9](?:'?[0-9A-Za-z_.]|[eEpP][+-])*)
      | (?P<name>[^\W\d]\w*)
      | (?P<sign><<<|>>>|<<=|>>=|->|::|\+\+|--|[-+*/%&|^!=<>]=|&&|\|\||<<|>>|.)""",
    re.VERBOSE | re.DOTALL)


@dataclass(frozen=True)
class Token:
    word: str
    exact: str  # as it is written
    begin: int  # in the text
    end: int


def tokens(text: str) -> list[Token]:
    """`i++` and `i += 1`, `a->b` and `(*a).b` stay different: only names and layout are taken out."""
    found: list[Token] = []
    for match in TOKEN.finditer(text):
        kind, word = match.lastgroup, match[0]
        kind = "raw" if match["raw"] else kind
        if kind in ("space", "directive"):
            continue
        if kind in ("string", "raw"):
            word = "s"
        elif kind == "number":
            word = "n"
        elif kind == "name":
            word = word if word in KEYWORDS else "t" if word in TYPES else "v"
        if word in IGNORED or match[0] in IGNORED:
            continue
        if word == "t" and found and found[-1].word == "t":  # unsigned int, long long
            continue
        found.append(Token(word, match[0], match.start(), match.end()))
    return found
