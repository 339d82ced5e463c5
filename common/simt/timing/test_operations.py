"""What single operations cost, as comparisons of launches that differ in one of them; and arrays that lie in local memory."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(Path(__file__).resolve().parent / "operations"), str(ROOT / "common")]
import addresses  # noqa: E402
import chosen  # noqa: E402
import constructors  # noqa: E402
import cores  # noqa: E402
import fused  # noqa: E402
import loops as shapes  # noqa: E402
from costs import SSA, Names  # noqa: E402
from course.sampling import in_turn  # noqa: E402
from gimple import Block, Function, Statement, reached  # noqa: E402

ROUNDS = "unsigned h = x[i]; for (int r = 0; r < n; r++) { %s } y[i] = h;"
ONE_WARP = "__shared__ unsigned s[256]; s[threadIdx.x] = x[i]; __syncthreads(); if (i >= 32) return; "
KERNELS = {
    "multiply": ROUNDS % "h = h * 5u + 7u;",
    "shift": ROUNDS % "h = (h >> 3) ^ (h >> n);",
    "divide": ROUNDS % "h = h / (r + 3u) + 9u;",
    "divide_and_rest": ROUNDS % "h = h / (r + 3u) + h % (r + 3u);",
    "logic_of_two": ROUNDS % "h = (h ^ m) + (h >> 1);",
    "logic_of_three": ROUNDS % "h = (h ^ m ^ n) + (h >> 1);",
    "least_of_64": "unsigned long long h = x[i]; for (int r = 0; r < n; r++) { unsigned long long other = (h >> 3) + n; unsigned long long least = h < other ? h : other; h = least + (h << 7); } y[i] = h;",
    "other_of_64": "unsigned long long h = x[i]; for (int r = 0; r < n; r++) { unsigned long long other = (h >> 3) + n; h = (h ^ other) + (h << 7); } y[i] = h;",
    "exchange_of_4": ROUNDS % "h += __shfl_xor_sync(0xFFFFFFFF, h, 1);",
    "exchange_of_8": "unsigned long long h = x[i]; for (int r = 0; r < n; r++) h += __shfl_xor_sync(0xFFFFFFFF, h, 1); y[i] = h;",
    "bits": ROUNDS % "h += __popc(h) + __popc(h >> 1) + __popc(h >> 2);",
    "shifted": ROUNDS % "h += (h >> 3) + (h >> 1 & 7) + (h >> 2 & 9);",
    "to_float": ROUNDS % "h += (float)(int)h > 3.0f;",
    "fused64": "double v = x[i]; for (int r = 0; r < n; r++) v = v * 1.5 + 0.5; y[i] = v;",
    "single64": "double v = x[i]; for (int r = 0; r < n; r++) v = v * 1.5; y[i] = v;",
    "sixteen64": "double v = x[i]; for (int r = 0; r < n; r++) for (int k = 0; k < 16; k++) v = v * 1.5 + 0.5; y[i] = v;",
    "cosine64": "double v = x[i]; for (int r = 0; r < n; r++) v = cos(v) * 1.5; y[i] = v;",
    "one_for_all": "atomicAdd(y, 1u);",
    "one_by_data": "atomicAdd(y + (x[i] & m), 1u);",
    "store_to_one": "if (x[i] == 0) y[0] = 1;",
    "store_apart": "if (x[i] == 0) y[i] = 1;",
    "in_registers": "unsigned v[8]; for (int k = 0; k < 8; k++) v[k] = x[i] + k * m; unsigned s = 0; for (int k = 0; k < 8; k++) s += v[7 - k] * v[k]; y[i] = s;",
    "in_memory": "unsigned v[8] = {}; for (int k = 0; k < n; k++) v[(x[i] + k) & 7]++; unsigned s = 0; for (int k = 0; k < 8; k++) s += v[k] * k; y[i] = s;",
    "by_pointer": "unsigned v[8] = {}; unsigned* p = v + (x[i] & 7); *p = 3; unsigned s = 0; for (int k = 0; k < 8; k++) s += v[k] * k; y[i] = s;",
    "chosen_by_counter": "unsigned v[8]; for (int k = 0; k < 8; k++) v[k] = x[i] + k * m; unsigned s = 1;\n#pragma unroll\nfor (int k = 0; k < 32; "
                         "k++) { int at; if (k < 8) at = k; else if (k < 16) at = (5 * k + 1) % 8; else at = (3 * k + 5) % 8; s = s * 5 + v[at]; } "
                         "y[i] = s;",
    "chosen_by_data": "unsigned v[8]; for (int k = 0; k < 8; k++) v[k] = x[i] + k * m; unsigned s = 1;\n#pragma unroll\nfor (int k = 0; k < 32; "
                      "k++) { int at; if (s & 8) at = k & 7; else at = (3 * k + 5) % 8; v[at] = s; s = s * 5 + v[k & 7]; } y[i] = s;",
    "folded": "float v = x[i];\n#pragma unroll\nfor (int k = 0; k < 100; k++) v = v * 0.5f + 1.0f / (k + 1);\ny[i] = v;",
    "not_folded": "float v = x[i];\n#pragma unroll\nfor (int k = 0; k < 100; k++) v = v * 0.5f + 1.0f / (k + v);\ny[i] = v;",
    "four_times_a_quarter": "for (int k = 0; k < 4; k++) y[4 * i + k] = i;",
    "one_quarter": "y[4 * i] = i;",
    "scanned": "if (i >= 32) return; unsigned h = x[i]; for (int r = 0; r < n; r++) for (int o = 1; o < 32; o *= 2) { unsigned t = __shfl_up_sync(0xFFFFFFFF, h, o); if (i >= o) h += t; } y[i] = h;",
    # Down a column, a store in each round: what a test on the load chooses, a sum with it, and a choice of two constants, after which a block without a hook loads more.
    "chosen": "if (i >= 32) return; unsigned h = 0; for (int r = 0; r < 4 * n; r++) { h = x[r * 4096 + i] > 9 ? 0 : h + 1; y[r * 4096 + i] = h; }",
    "summed": "if (i >= 32) return; unsigned h = 0; for (int r = 0; r < 4 * n; r++) { h += x[r * 4096 + i]; y[r * 4096 + i] = h; }",
    "one_of_two_constants": "if (i >= 32) return; const float* f = (const float*)x; float* o = (float*)y; float last = 0; for (int t = 4 * (int)n - 1; t >= 0; t--) { "
                            "const float alive = f[t * 4096 + i] > 0.98f ? 0.0f : 1.0f, value = f[(t + 512) * 4096 + i]; last = f[(t + 1024) * 4096 + i] + value * alive + last * alive; o[t * 4096 + i] = last; }",
    "counted_by_one": "__shared__ int s[256]; s[threadIdx.x] = 0; __syncthreads(); for (int r = 0; r < n; r++) atomicAdd(&s[(x[i] + r) & 15], 1); __syncthreads(); y[i] = s[threadIdx.x];",
    "counted_by_two": "__shared__ int s[256]; s[threadIdx.x] = 0; __syncthreads(); for (int r = 0; r < n; r++) atomicAdd(&s[(x[i] + r) & 15], 2); __syncthreads(); y[i] = s[threadIdx.x];",
    "counted_and_asked": "__shared__ int s[256]; s[threadIdx.x] = 0; __syncthreads(); int h = 0; for (int r = 0; r < n; r++) h += atomicAdd(&s[(x[i] + r) & 15], 1); y[i] = h;",
    "functions_of_doubles": "double v = x[i]; y[i] = erfc(v) + cbrt(v) + log1p(v) + log2(v) + atan(v) + exp2(v) + hypot(v, 2.0) + sinh(v) + rint(v);",
    "signs_and_exponents": "float f = x[i]; double v = x[i + n]; y[i] = copysignf(f, x[i]) + fdimf(f, 2.f) + logbf(f) + ilogbf(f) + nextafterf(f, 0.f);\n"
                           "  y[i + n] = copysign(v, -f) + fdim(v, 2.0);",
    "shifted_up": "if (i >= 32) return; unsigned h = x[i]; for (int r = 0; r < n; r++) for (int o = 1; o < 32; o *= 2) { unsigned t = __shfl_up_sync(0xFFFFFFFF, h, o); h += t; } y[i] = h;",
    # Down a column, a store in each round that waits for what was loaded: of a struct of 16 bits, too.
    "doubled_floats": "if (i >= 32) return; const float* f = (const float*)x; float* o = (float*)y; for (int r = 0; r < 4 * n; r++) o[r * 4096 + i] = f[r * 4096 + i] * 2.0f;",
    "doubled_halves": "if (i >= 32) return; const __nv_bfloat16* f = (const __nv_bfloat16*)x; __nv_bfloat16* o = (__nv_bfloat16*)y; "
                      "for (int r = 0; r < 4 * n; r++) o[r * 8192 + i] = (__nv_bfloat16)((float)f[r * 8192 + i] * 2.0f);",
    "powers_of_floats": "const float* f = (const float*)x; float s = 0; for (int r = 0; r < 4 * n; r++) { float v = f[(r * 32 + i) & 1023]; s += v * v * v * v * 2.0f + v * 3.0f; } ((float*)y)[i] = s;",
    "powers_of_halves": "const __nv_bfloat16* f = (const __nv_bfloat16*)x; float s = 0; for (int r = 0; r < 4 * n; r++) { float v = f[(r * 32 + i) & 1023]; s += v * v * v * v * 2.0f + v * 3.0f; } ((float*)y)[i] = s;",
    "copied_shorts": "if (i >= 32) return; const unsigned short* f = (const unsigned short*)x; unsigned short* o = (unsigned short*)y; for (int r = 0; r < 4 * n; r++) o[r * 8192 + i] = f[r * 8192 + i];",
    "copied_halves": "if (i >= 32) return; const __nv_bfloat16* f = (const __nv_bfloat16*)x; __nv_bfloat16* o = (__nv_bfloat16*)y; for (int r = 0; r < 4 * n; r++) o[r * 8192 + i] = f[r * 8192 + i];",
    # Four packs in each round, in an array of the thread's own, of which g++ counts the addresses, and by names: their sum; and each element's
    # exponential in its place, all of them one after another only if one is taken for another.
    "packs_in_an_array": "if (i >= 32) return; const uint4* p = (const uint4*)x; float s = 0; for (int r = 0; r < n; r++) { uint4 w[4];\n#pragma unroll\n"
                         "for (int k = 0; k < 4; k++) if (r * 4 + k < m * 1000) w[k] = p[(r * 4 + k) * 4096 + i];\n#pragma unroll\n"
                         "for (int k = 0; k < 4; k++) {\n#pragma unroll\nfor (int j = 0; j < 4; j++) s += reinterpret_cast<const float*>(&w[k])[j]; } }\n((float*)y)[i] = s;",
    "packs_by_names": "if (i >= 32) return; const float4* p = (const float4*)x; float s = 0; for (int r = 0; r < n; r++) { float4 a = p[i], b = p[4096 + i], c = p[8192 + i], d = p[12288 + i]; "
                      "s += a.x + a.y + a.z + a.w + b.x + b.y + b.z + b.w + c.x + c.y + c.z + c.w + d.x + d.y + d.z + d.w; p += 16384; } ((float*)y)[i] = s;",
    "powers_in_an_array": "if (i >= 32) return; float v[8], s = 0;\n#pragma unroll\nfor (int k = 0; k < 8; k++) v[k] = x[k * 4096 + i];\nfor (int r = 0; r < n; r++)\n"
                          "#pragma unroll\nfor (int k = 0; k < 8; k++) v[k] = __expf(v[k] * 0.5f);\n#pragma unroll\nfor (int k = 0; k < 8; k++) s += v[k];\n((float*)y)[i] = s;",
    "powers_by_names": "if (i >= 32) return; float a = x[i], b = x[4096 + i], c = x[8192 + i], d = x[12288 + i], e = x[16384 + i], f = x[20480 + i], g = x[24576 + i], h = x[28672 + i]; for (int r = 0; r < n; r++) { "
                       "a = __expf(a * 0.5f); b = __expf(b * 0.5f); c = __expf(c * 0.5f); d = __expf(d * 0.5f); e = __expf(e * 0.5f); f = __expf(f * 0.5f); g = __expf(g * 0.5f); h = __expf(h * 0.5f); } "
                       "((float*)y)[i] = a + b + c + d + e + f + g + h;",
    # Sums in memory, by one warp: in one place, in members of a struct, and in two places that may be one; and each by hand.
    "sum_in_place": ONE_WARP + "for (int r = 0; r < 4 * n; r++) y[i] += s[r];",
    "sum_in_register": ONE_WARP + "unsigned h = y[i]; for (int r = 0; r < 4 * n; r++) { h += s[r]; y[i] = h; }",
    "sums_in_members": ONE_WARP + "uint2* z = (uint2*)y; for (int r = 0; r < 4 * n; r++) { z[i].x += s[r]; z[i].y += s[r]; }",
    "members_in_registers": ONE_WARP + "uint2* z = (uint2*)y; unsigned h = z[i].x, g = z[i].y; for (int r = 0; r < 4 * n; r++) { h += s[r]; z[i].x = h; g += s[r]; z[i].y = g; }",
    "sums_in_places": ONE_WARP + "unsigned* z = y + m * (1 << 20); for (int r = 0; r < 4 * n; r++) { y[i] += s[r]; z[i] += s[r]; }",
    "sum_that_others_may_read": ONE_WARP + "volatile unsigned* z = y; for (int r = 0; r < 4 * n; r++) z[i] = z[i] + s[r];",
    "sums_in_turn": ONE_WARP + "for (int r = 0; r < 4 * n; r++) y[i + r % 2] += s[r];",
    "chased": "unsigned h = i; for (int r = 0; r < n; r++) h = x[h & 4095] + r; y[i] = h;",
    "chased_volatile": "const volatile unsigned* v = x; unsigned h = i; for (int r = 0; r < n; r++) h = v[h & 4095] + r; y[i] = h;",
    "waits_for_flag": "volatile unsigned* flag = y; while (flag[0] == 77) {} y[i + 1] = i;",
    "waits_longer": "volatile unsigned* flag = y; unsigned ns = 8; while (flag[0] == 77) { __nanosleep(ns); if (ns < 256) ns *= 2; } y[i + 1] = ns;",
    "waits_for_lock": "while (atomicCAS(y, 76u, 77u) == 77) {} y[i + 1] = i;",
    "waits_for_count": "while (atomicAdd(y, 0u) == 77) {} y[i + 1] = i;",
    "waits_for_turn": "unsigned old = y[0], was; do { was = old; if (was >= x[i] + 9) break; old = atomicCAS(y, was, x[i] + 9); } while (was != old); y[i + 1] = was;",
    "tries_next": "unsigned at = i & 1023; while (atomicCAS(y + at, 0u, 1u) == 2) at = at + 1 & 1023; y[i + 1024] = at;",
    "waits_for_block": "__shared__ volatile int more; do { __syncthreads(); more = 0; __syncthreads(); if (x[i] > n) more = 1; __syncthreads(); } while (more); y[i] = i;",
    "takes_the_next": "unsigned k; while ((k = atomicAdd(y, 1u)) < n) y[k + 1] = i;",
    "follows_links": "const volatile unsigned* v = x; unsigned at = i & 7, k = 0; while (at != 0) { at = v[at]; k++; } y[i] = k;",
    "remainder_in_loop": "unsigned h = i, b = threadIdx.y + m; for (unsigned r = 0; r < 24; r++) h = h * 3 + (b % n * 31 + r); y[i] = h;",
    "remainder_before": "unsigned h = i, q = (threadIdx.y + m) % n * 31; for (unsigned r = 0; r < 24; r++) h = h * 3 + (q + r); y[i] = h;",
    "exchanged_sum": "if (i >= 32) return; unsigned sum = x[i]; for (int r = 0; r < 64; r++) sum += __shfl_xor_sync(0xFFFFFFFF, sum, 1); y[i] = sum;",
    "exchanged_all": "if (i >= 32) return; unsigned all = x[i]; for (int r = 0; r < 64; r++) all += __shfl_xor_sync(0xFFFFFFFF, all, 1); y[i] = all;",
    "few_long_blocks": "unsigned h = i; int last = blockIdx.x % 132 < 4 ? 100 * n : n; for (int r = 0; r < last; r++) h = h * 5 + (h >> 3); y[i] = h;",
    "half_of_unsigned": ROUNDS % "h = h / 2 ^ m;",
    "half_of_signed": "int h = x[i]; for (int r = 0; r < n; r++) { h = h / 2 ^ (int)m; } y[i] = h;",
    "least_of_floats": "float v = x[i], w = m; for (int r = 0; r < n; r++) v = fminf(v, w) * 1.5f; y[i] = v;",
    "greater_sum": "float v = x[i], w = m; for (int r = 0; r < n; r++) v = (v + w) * v; y[i] = v;",
    "decided": "unsigned h = x[i]; for (unsigned r = 0; r < 32; r++) { if ((r & 3) == 0) h ^= m; else if ((r & 3) == 1) h ^= n; else h ^= i; h += h >> 3; } y[i] = h;",
    "not_decided": "unsigned h = x[i]; for (unsigned r = 0; r < 32; r++) { if ((h & 3) == 0) h ^= m; else if ((h & 3) == 1) h ^= n; else h ^= i; h += h >> 3; } y[i] = h;",
    "jumps": "if (i >= 32) return; unsigned h = x[i];\n#pragma unroll 1\nfor (int r = 0; r < 64 * n; r++) h = h * 5u + 7u;\ny[i] = h;",
    "straight": "if (i >= 32) return; unsigned h = x[i];\n#pragma unroll 4\nfor (int r = 0; r < 64 * n; r++) h = h * 5u + 7u;\ny[i] = h;",
    "roots": "if (i >= 32) return; float a = x[i], b = m; for (int r = 0; r < 8 * n; r++) { a = sqrtf(a + 1); b = sqrtf(b + 2); } y[i] = a + b;",
    "one_root": "if (i >= 32) return; float a = x[i]; for (int r = 0; r < 8 * n; r++) a = sqrtf(a + 1); y[i] = a;",
    "one_bank": "unsigned h = 0; for (int r = 0; r < n; r++) h += x[((i & 31) * 32 + r + (h & 1)) & 4095]; y[i] = h;",
    "four_banks": "unsigned h = 0; for (int r = 0; r < n; r++) h += x[((i & 31) * 40 + r + (h & 1)) & 4095]; y[i] = h;",
    "one_long_block": "unsigned h = i; int last = blockIdx.x == 777 ? 200 * n : n; for (int r = 0; r < last; r++) h = h * 5 + (h >> 3); y[i] = h;",
    "no_long_block": "unsigned h = i; int last = blockIdx.x == 7777 ? 200 * n : n; for (int r = 0; r < last; r++) h = h * 5 + (h >> 3); y[i] = h;",
    "few_long_blocks_apart": "unsigned h = i; int last = blockIdx.x < 32 ? 100 * n : n; for (int r = 0; r < last; r++) h = h * 5 + (h >> 3); y[i] = h;",
    "branches": "if (i >= 32) return; float a = 0, b = 0; for (int r = 0; r < 16 * n; r++) { if (r == i) continue; float v = x[r * 64], w = v - m; a += w * w * v; b += (w + a) * (v + n) * w; } y[i] = a + b;",
    "no_branches": "if (i >= 32) return; float a = 0, b = 0; for (int r = 0; r < 16 * n; r++) { float v = x[r * 64], w = v - m; a += w * w * v; b += (w + a) * (v + n) * w; } y[i] = a + b;",
    "guards": "if (i >= 32) return; unsigned h = 0; for (int r = 0; r < 16 * n; r++) { int q = i + r - 2; if (q >= 0 && q < 9000 && q != 7777 && q != m + 8000) h += x[64 * q] * x[64 * q + 32]; } y[i] = h;",
    "no_guards": "if (i >= 32) return; unsigned h = 0; for (int r = 0; r < 16 * n; r++) { int q = i + r - 2; h += x[64 * (q + 2)] * x[64 * q + 160]; } y[i] = h;",
    "loads_24": "if (i >= 32) return; float s = m;\n#pragma unroll 1\nfor (int r = 0; r < n; r++)\nfor (int k = 0; k < 24; k++) s = s * 0.5f + x[(r * 24 + k) * 64];\ny[i] = s;",
    "loads_12": "if (i >= 32) return; float s = m;\n#pragma unroll 1\nfor (int r = 0; r < 2 * n; r++)\nfor (int k = 0; k < 12; k++) s = s * 0.5f + x[(r * 12 + k) * 64];\ny[i] = s;",
    "either": "unsigned h = x[i]; for (int r = 0; r < 16 * n; r++) h += h < m || (h == n && r < i); y[i] = h;",
    "below": "unsigned h = x[i]; for (int r = 0; r < 16 * n; r++) h += h < m; y[i] = h;",
    "divided_by_what_doubles": "unsigned h = x[i];\n#pragma unroll 1\nfor (int r = 0; r < n; r++)\nfor (unsigned k = 1; k < 1024; k *= 2) h = h / k + h % k + m;\ny[i] = h;",
    "divided_by_data": "unsigned h = x[i], k = m;\n#pragma unroll 1\nfor (int r = 0; r < n; r++)\nfor (int j = 0; j < 10; j++) { h = h / k + h % k + m; k += h & 1; }\ny[i] = h;",
    "reversed": ROUNDS % "h += __brev(h) + __brev(h >> 1);",
    "permuted": ROUNDS % "h += __byte_perm(h, h >> 1, 0x2103) + __byte_perm(h, m, 0x5410);",
    "loaded_in_loop": "unsigned h = 0;\n#pragma unroll 1\nfor (int r = 0; r < n; r++)\nfor (int k = 0; k < 8; k++) h = h * 3 + x[(i + k * 4096) & 65535];\ny[i] = h;",
    "loaded_before": "unsigned h = 0, v[8]; for (int k = 0; k < 8; k++) v[k] = x[(i + k * 4096) & 65535];\n#pragma unroll 1\nfor (int r = 0; r < n; r++)\nfor (int k = 0; k < 8; k++) h = h * 3 + v[k];\ny[i] = h;",
    "loaded_after_stores": "unsigned h = 0;\n#pragma unroll 1\nfor (int r = 0; r < n; r++) {\nfor (int k = 0; k < 8; k++) h = h * 3 + x[(i + k * 4096) & 65535];\ny[i] = h; }",
    "sum_to_float": "float v = x[i]; int c = m + i;\n#pragma unroll\nfor (int k = 0; k < 100; k++) v = v * 0.5f + (float)(c + k);\ny[i] = v;",
    "sum_of_floats": "float v = x[i], c = m + i;\n#pragma unroll\nfor (int k = 0; k < 100; k++) v = v * 0.5f + c;\ny[i] = v;",
    "sine_and_cosine": "float v = x[i]; for (int r = 0; r < n; r++) { float s, c; __sincosf(v, &s, &c); v = s * c + m; } y[i] = v;",
    "tensor_cores": "using namespace nvcuda::wmma; fragment<matrix_a, 16, 16, 16, half, row_major> a; fragment<matrix_b, 16, 16, 16, half, "
                    "row_major> b; "
                    "fragment<accumulator, 16, 16, 16, float> c; load_matrix_sync(a, (const half*)x, 16); load_matrix_sync(b, (const half*)x, 16); "
                    "fill_fragment(c, 0.0f); mma_sync(c, a, b, c); store_matrix_sync((float*)y, c, 16, mem_row_major);",
    "reciprocal_root": "float v = x[i]; for (int r = 0; r < n; r++) { float a = rsqrtf(v + m), b = rsqrtf(v + n), c = rsqrtf(v + i), d = rsqrtf(v + "
                       "r); v = a + b + c + d; } y[i] = v;",
    "exponential": "float v = x[i]; for (int r = 0; r < n; r++) { float a = __expf(v + m), b = __expf(v + n), c = __expf(v + i), d = __expf(v + r); "
                   "v = a + b + c + d; } y[i] = v;",
    "root_of_doubles": "double v = x[i]; for (int r = 0; r < n; r++) v = rsqrt(v + m); y[i] = v;",
    "quotient_of_doubles": "double v = x[i]; for (int r = 0; r < n; r++) v = v / (v + m); y[i] = v;",
    "quotient": "float v = x[i]; for (int r = 0; r < n; r++) v = 3.0f / (v + m); y[i] = v;",
    "rounded_quotient": "float v = x[i]; for (int r = 0; r < n; r++) v = __fdiv_rn(3.0f, v + m); y[i] = v;",
    "drawn": "curandStateXORWOW s = {}; s.d = i; unsigned h = 0; for (int r = 0; r < n; r++) h += curand(&s); y[i] = h;",
    "drawn_by_hand": "unsigned v0 = i, v1 = m, v2 = n, v3 = 5, v4 = 7, d = i, h = 0; for (int r = 0; r < n; r++) { unsigned first = v0 ^ v0 >> 2; "
                     "v0 = v1; v1 = v2; v2 = v3; v3 = v4; "
                     "v4 = v4 ^ v4 << 4 ^ first ^ first << 1; d += 362437; h += v4 + d; } y[i] = h;",
    "asserted": "unsigned h = x[i]; for (int r = 0; r < n; r++) { assert(n < 100); h = h * 5u + 7u; } y[i] = h;",
    "shared_floats": "__shared__ float s[256]; s[threadIdx.x] = 0; __syncthreads(); for (int r = 0; r < n; r++) atomicAdd(&s[(x[i] + r) & 15], "
                     "1.0f); __syncthreads(); y[i] = s[threadIdx.x];",
    "shared_ints": "__shared__ int s[256]; s[threadIdx.x] = 0; __syncthreads(); for (int r = 0; r < n; r++) atomicAdd(&s[(x[i] + r) & 15], 1); "
                   "__syncthreads(); y[i] = s[threadIdx.x];",
    "shared_longs": "__shared__ unsigned long long s[256]; s[threadIdx.x] = 0; __syncthreads(); for (int r = 0; r < n; r++) atomicAdd(&s[(x[i] + r) "
                    "& 15], 1ull); __syncthreads(); "
                    "y[i] = s[threadIdx.x];",
    "doubles_to_one": "atomicAdd((double*)y + (x[i] & m), 1.0);",
    "longs_to_one": "atomicAdd((unsigned long long*)y + (x[i] & m), 1ull);",
    "dot_of_bytes": ROUNDS % "h = __dp4a(h, m, n);",
    "walked_together": "if (i >= 256) return; unsigned h = 0;\n#pragma unroll 16\nfor (int r = 0; r < 16 * n; r++) h = h * 3 + x[r];\ny[i] = h;",
    "walked_apart": "if (i >= 256) return; unsigned h = 0;\n#pragma unroll 16\nfor (int r = 0; r < 16 * n; r++) h = h * 3 + x[r * 32];\ny[i] = h;",
    "chain_of_doubles": "if (i >= 32) return; double v = x[i], w = m; for (int r = 0; r < 64 * n; r++) v = v * w + w; y[i] = v;",
    "chain_of_floats": "if (i >= 32) return; float v = x[i], w = m; for (int r = 0; r < 64 * n; r++) v = v * w + w; y[i] = v;",
    "logarithms": "float v = x[i] + 2.0f; for (int r = 0; r < n; r++) { float a = logf(v + m), b = logf(v + n), c = logf(v + i), d = logf(v + r); v "
                  "= a + b + c + d; } y[i] = v;",
    "fast_logarithms": "float v = x[i] + 2.0f; for (int r = 0; r < n; r++) { float a = __logf(v + m), b = __logf(v + n), c = __logf(v + i), d = "
                       "__logf(v + r); v = a + b + c + d; } y[i] = v;",
    "adds_everywhere": "atomicAdd(y + (i * 2654435761u >> 12 & 1048575), 1u);",
    "stores_everywhere": "y[i * 2654435761u >> 12 & 1048575] = 1u;",
    # The bits of a number: by a loop, by an instruction, and by a loop that does more.
    "bits_by_a_loop": ROUNDS % "unsigned v = h ^ m, c = 0; for (; v; c++) v &= v - 1; h = h * 5u + c;",
    "bits_by_an_instruction": ROUNDS % "unsigned v = h ^ m; h = h * 5u + __popc(v);",
    "bits_and_more": ROUNDS % "unsigned v = h ^ m, c = 0; for (; v; c++) { v &= v - 1; h ^= v * m; } h = h * 5u + c;",
    # The least number, and the two before it, which a branch moves on; a choice among three that the loop's counter decides, and none.
    "least": "unsigned a = m, b = n, c = i; " + ROUNDS % "unsigned v = h >> 3; if (v < a) a = v; h = h * 5u + (a ^ b ^ c);",
    "least_three": "unsigned a = m, b = n, c = i; " + ROUNDS % "unsigned v = h >> 3; if (v < a) { c = b; b = a; a = v; } h = h * 5u + (a ^ b ^ c);",
    "choice_decided": "unsigned h = x[i]; for (unsigned r = 0; r < 32; r++) { unsigned k = (r & 3) == 0 ? m : (r & 3) == 1 ? n : i; h += (h >> 3) ^ k; } y[i] = h;",
    "no_choice": "unsigned h = x[i]; for (unsigned r = 0; r < 32; r++) { unsigned k = n; h += (h >> 3) ^ k; } y[i] = h;",
    "doubles_below": "double v = x[i], w = m, u = n, s = i; unsigned h = 0; for (int r = 0; r < n; r++) { v *= 1.5; w *= 1.25; u *= 1.125; s *= 1.75; h += v < w | u < s | v < s | u < w; } y[i] = h;",
    "doubles_multiplied": "double v = x[i], w = m, u = n, s = i; for (int r = 0; r < n; r++) { v *= 1.5; w *= 1.25; u *= 1.125; s *= 1.75; } y[i] = v + w + u + s;",
    "skipped": ROUNDS % "h = h * 5u + 7u; if ((h & 4095u) == 77u) y[h >> 12 & 1023] = h ^ n;",
    "tested": ROUNDS % "h = h * 5u + 7u; if ((h & 4095u) == 77u) y[i] = n;",
    "power_of_2": "float v = x[i]; for (int r = 0; r < n; r++) v = powf(v, 2.0f) + m; y[i] = v;",
    "square": "float v = x[i]; for (int r = 0; r < n; r++) v = v * v + m; y[i] = v;",
    "sine_of_pi": "float v = x[i]; for (int r = 0; r < n; r++) v = sinpif(v) + m; y[i] = v;",
    "both_of_pi": "float v = x[i]; for (int r = 0; r < n; r++) { float s, c; sincospif(v, &s, &c); v = s * c + m; } y[i] = v;",
    "accurate_sine": "float v = x[i]; for (int r = 0; r < n; r++) v = sinf(v) + m; y[i] = v;",
    "sine": "float v = x[i]; for (int r = 0; r < n; r++) { float s = __sinf(v), c = v; v = s * c + m; } y[i] = v;",
}
IN_MEMORY = ("in_memory", "by_pointer", "chosen_by_data")
SOURCE = "#include <cassert>\n#include <mma.h>\n#include <cuda_bf16.h>\n#include <curand_kernel.h>\n#include <cstdio>\n" + "".join(
    f'extern "C" __global__ void {name}(const unsigned* x, unsigned* y, unsigned n, unsigned m) {{ int i = blockIdx.x * blockDim.x + threadIdx.x; {body} }}\n' for name, body in KERNELS.items()) + \
    "int main() {\n  unsigned *x, *y;\n  cudaMalloc(&x, 64 << 20); cudaMalloc(&y, 64 << 20); cudaMemset(x, 0, 64 << 20);\n" + \
    "\n".join(f"  {name}<<<{'2048, 128' if name.endswith('_long_block') else '1024, 256'}>>>(x, y, 24, {0 if name == 'one_by_data' else 5});" for name in KERNELS) + "\n  return cudaDeviceSynchronize();\n}\n"


class Fused(unittest.TestCase):
    """What has no instruction of its own."""

    def operands(self, *statements: str) -> tuple[set[str], set[str]]:
        function = Function("kernel", True, variables={"u": "unsigned int u;", "f": "float f;"}, blocks={2: Block(2, [Statement(text + ";", "") for text in statements])})
        return fused.operands(Names(function), shapes.Definitions(function))

    def test_three_summands(self):
        self.assertEqual(self.operands("u_1 = u_7 + u_8", "u_2 = u_1 + u_9", "u_3 = u_2 ^ u_2"), ({"u_1"}, {"u_2"}))

    def test_four_summands_are_two_sums(self):
        self.assertEqual(self.operands("u_1 = u_7 + u_8", "u_2 = u_1 + u_9", "u_3 = u_2 + u_6")[0], {"u_1"})

    def test_a_sum_that_is_used_twice(self):
        self.assertEqual(self.operands("u_1 = u_7 + u_8", "u_2 = u_1 + u_9", "u_3 = u_2 ^ u_1"), (set(), set()))

    def test_floats_have_two_summands(self):
        self.assertEqual(self.operands("f_1 = f_7 + f_8", "f_2 = f_1 + f_9", "f_3 = f_2 * f_2")[0], set())


class Within(unittest.TestCase):
    """What a search asks for in each of its rounds is remembered."""

    def test_what_was_moved_out_of_a_loop_is_no_longer_in_it(self):
        blocks = {2: Block(2, [Statement("u_1 = u_7 + 1;", "")], next=[3]), 3: Block(3, [Statement("u_2 = u_1 / u_8;", ""), Statement("u_3 = u_2 + 1;", "")], next=[3, 4]), 4: Block(4)}
        function = Function("kernel", True, variables={"u": "unsigned int u;"}, blocks=blocks)
        definitions, loop = shapes.Definitions(function), shapes.Loop(3, {3}, [3])
        self.assertEqual(definitions.within(loop), [("u_2", "u_1 / u_8"), ("u_3", "u_2 + 1")])
        definitions.move({"u_2"}, 2)
        self.assertEqual(definitions.within(loop), [("u_3", "u_2 + 1")])

    def test_nobody_can_change_what_was_found(self):
        found = Names(Function("kernel", True, variables={"a": "int a[4];"})).read("u_1 + a")
        found.append("u_2")
        self.assertEqual(Names(Function("kernel", True, variables={"a": "int a[4];"})).read("u_1 + a"), ["u_1", "a"])
        self.assertIsInstance(SSA.findall("u_1 + u_2"), tuple)


class Reached(unittest.TestCase):
    """Of which functions there is to be a table."""

    FUNCTIONS = [Function("_Z4rowsPf", True, "void rows (float * x)", blocks={2: Block(2, [Statement("helper (x_1(D));", "")])}),
                 Function("_Z3sumPf", True, "void sum (float * x)"), Function("_Z6helperPf", False, "void helper (float * x)"),
                 Function("_Z5otherPf", False, "void other (float * x)")]

    def symbols(self, *asked: set[str]) -> list[str]:
        return [function.symbol for function in reached(self.FUNCTIONS, *asked)]

    def test_all_kernels_and_what_they_call(self):
        self.assertEqual(self.symbols(), ["_Z4rowsPf", "_Z3sumPf", "_Z6helperPf"])

    def test_those_that_are_asked_for(self):
        self.assertEqual(self.symbols({"_Z4rowsPf", "_Z9not_therePf"}), ["_Z4rowsPf", "_Z6helperPf"])
        self.assertEqual(self.symbols({"_Z3sumPf"}), ["_Z3sumPf"])

    def test_a_call_by_address_may_reach_any_function_but_a_kernel(self):
        for call in ("_9 (x_1(D));", "f_2 = part_9(D) (x_1(D));", "OBJ_TYPE_REF(_5;(struct Part)p_3(D)->0) (p_3(D));"):
            kernel = Function("_Z5partsPf", True, "void parts (float * x)", blocks={2: Block(2, [Statement(call, "")])})
            found = [function.symbol for function in reached([*self.FUNCTIONS, kernel], {"_Z5partsPf"})]
            self.assertEqual(found, ["_Z6helperPf", "_Z5otherPf", "_Z5partsPf"], call)


class Constructors(unittest.TestCase):
    def test_what_constructs_shared_memory_costs_nothing(self):
        guard = "&_ZGVZ6kernelE1s"
        texts = {2: (f"__builtin___tsan_read1 ({guard});", [4, 6]), 3: ("", [4]), 4: ("", [3, 5]), 5: (f"__builtin___tsan_write1 ({guard});", [6]), 6: ("", [])}
        function = Function("kernel", True, blocks={n: Block(n, [Statement(text, "")], next=to) for n, (text, to) in texts.items()})
        self.assertEqual(constructors.blocks(function), {3, 4, 5})


class Chosen(unittest.TestCase):
    """What an if, block 2 with its side 3, leaves in block 4."""

    VARIABLES = {"a": "int a;", "w": "long int w;", "t": "_Bool t;"}

    def lines(self, value: str, old: str, new: str, predicated=(2,), no_choice=()) -> dict[int, list[str]]:
        blocks = {2: Block(2, [Statement("a_1 = a_0 + 5;", ""), Statement("if (a_1 > 3)", "")], next=[3, 4]),
                  3: Block(3, [Statement("a_2 = a_1 + 7;", "")], next=[4]), 4: Block(4, [], phis=[(value, {2: old, 3: new})])}
        function = Function("kernel", True, variables=self.VARIABLES, blocks=blocks)
        return chosen.lines_of(function, Names(function), shapes.Definitions(function), shapes.dominators(function), set(predicated), set(no_choice), {value: 9})

    def test_two_that_were_there_before(self):
        self.assertEqual(self.lines("a_9", "a_1", "a_0"), {4: ["o i 4 0 - -1 9 9"]})
        self.assertEqual(self.lines("w_9", "w_1", "w_0"), {4: ["o i 8 0 - -1 9 9"]})

    def test_where_nvcc_jumps_one_side_moves(self):
        self.assertEqual(self.lines("a_9", "a_1", "a_0", predicated=()), {3: ["o i 4 0 - -1 - -"]})

    def test_what_a_side_computes_is_in_its_place(self):
        self.assertEqual(self.lines("a_9", "a_1", "a_2"), {})

    def test_nothing_to_choose(self):
        self.assertEqual(self.lines("a_9", "a_1", "a_0", no_choice=(2,)), {})
        self.assertEqual(self.lines("a_9", "a_1", "a_1"), {})
        self.assertEqual(self.lines("t_9", "t_1", "t_0"), {})


class Addresses(unittest.TestCase):
    """A pointer and an index of 64 bits are added by two instructions, LEA and LEA.HI.X."""

    VARIABLES = {"i": "int i;", "w": "long int w;", "s": "unsigned long s;", "p": "float * p;"}

    def is_wide(self, *texts: str, index: str = "s_9", pointer: str = "p_1") -> bool:
        function = Function("kernel", True, variables=self.VARIABLES, blocks={2: Block(2, [Statement(text + ";", "") for text in texts])})
        return addresses.is_sum_of_64_bits(Names(function), shapes.Definitions(function), pointer, index)

    def test_an_index_of_32_bits_is_widened_by_the_sum(self):
        self.assertFalse(self.is_wide("s_8 = (unsigned long) i_1", "s_9 = s_8 * 4"))
        self.assertFalse(self.is_wide("i_2 = i_1 + 7", "s_8 = (unsigned long) i_2", "s_9 = s_8 * 4"))

    def test_a_constant_is_an_offset(self):
        self.assertFalse(self.is_wide("s_9 = s_8 * 4", index="4"))

    def test_shared_memory_has_addresses_of_32_bits(self):
        self.assertFalse(self.is_wide("s_9 = s_8 * 4", pointer="&tile"))

    def test_an_index_of_64_bits_is_not(self):
        self.assertTrue(self.is_wide("s_8 = (unsigned long) w_1", "s_9 = s_8 * 4"))
        self.assertTrue(self.is_wide("s_7 = (unsigned long) i_1", "s_8 = s_7 * s_6", "s_9 = s_8 * 4"))


@in_turn(3)
class Operations(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        file, program, report = (Path(folder.name, name) for name in ("a.cu", "a", "report.json"))
        file.write_text(SOURCE)
        for command in ([sys.executable, ROOT / "common/simt/simtcc", "--profile", file, "-o", program], [program]):
            done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "SIMT_GPU": "h200", "SIMT_PROFILE": str(report)})
            if done.returncode:
                raise AssertionError(done.stderr)
        cls.predicted = {name: launch["predicted"] for name, launch in zip(KERNELS, json.loads(report.read_text())["launches"])}

    def test_a_reciprocal_is_advised_where_there_are_divisions(self):
        limited = {name: predicted["words"] for name, predicted in self.predicted.items() if predicted.get("limit") == "issue"}
        advised = {name for name, words in limited.items() if "multiply by a reciprocal" in words}
        self.assertIn("divide", advised)
        without = {name for name in limited if not re.search("[/%]|__f(div|rcp)_r", KERNELS[name])}
        self.assertTrue(without, limited)
        self.assertEqual(advised & without, set())

    def ratio(self, slow: str, fast: str) -> float:
        return self.predicted[slow]["seconds"] / self.predicted[fast]["seconds"]

    def test_the_units_of_float_multiply_integers(self):
        self.assertGreater(self.ratio("shift", "multiply"), 1.2)

    def test_a_remainder_is_made_of_the_quotient(self):
        self.assertLess(self.ratio("divide_and_rest", "divide"), 1.4)

    def test_one_instruction_has_three_logical_operands(self):
        self.assertLess(self.ratio("logic_of_three", "logic_of_two"), 1.05)

    def test_half_of_an_unsigned_number_is_a_shift(self):
        self.assertGreater(self.ratio("half_of_signed", "half_of_unsigned"), 1.1)

    def test_a_minimum_of_floats_is_one_instruction(self):
        self.assertLess(self.ratio("least_of_floats", "greater_sum"), 1.04)

    def test_what_an_unrolled_loops_counter_decides_is_not_tested(self):
        self.assertGreater(self.ratio("not_decided", "decided"), 1.8)

    def test_a_jump_waits_for_its_test(self):
        self.assertGreater(self.ratio("jumps", "straight"), 2.5)

    def test_roots_come_one_after_another(self):
        self.assertGreater(self.ratio("roots", "one_root"), 1.4)

    def test_loads_do_not_pass_a_jump_in_a_round_of_an_unrolled_loop(self):
        self.assertGreater(self.ratio("branches", "no_branches"), 2)

    def test_tests_of_a_short_branch_and_offsets_do_not_make_it_long(self):
        self.assertLess(self.ratio("guards", "no_guards"), 1.5)

    def test_no_more_loads_are_in_flight_than_there_are_registers_for(self):
        """As many loads in rounds of 24, which 32 registers do not hold, and of 12."""
        self.assertGreater(self.ratio("loads_24", "loads_12"), 0.8)

    def test_a_constant_that_a_branch_chooses_is_an_instruction(self):
        """Of || and &&: PLOP3, VIADD, IMAD.MOV."""
        self.assertGreater(self.ratio("either", "below"), 1.8)

    def test_l1_has_four_banks(self):
        self.assertGreater(self.ratio("one_bank", "four_banks"), 1.8)

    def test_the_longest_block_decides_where_all_run_at_one_time(self):
        """2048 blocks of 128 threads do on an H200."""
        self.assertGreater(self.ratio("one_long_block", "no_long_block"), 3)

    def test_a_minimum_of_eight_bytes_is_two_comparisons_and_two_selections(self):
        """ISETP, ISETP.EX, SEL, SEL; xor takes two."""
        self.assertGreater(self.ratio("least_of_64", "other_of_64"), 1.12)

    def test_eight_bytes_are_exchanged_by_two_shuffles(self):
        self.assertGreater(self.ratio("exchange_of_8", "exchange_of_4"), 1.15)

    def test_bits_are_counted_by_the_special_function_unit(self):
        self.assertGreater(self.ratio("bits", "shifted"), 1.3)

    def test_an_integer_becomes_a_float_without_the_special_function_unit(self):
        self.assertLess(self.ratio("to_float", "shift"), 2)

    def test_a_product_and_a_sum_of_doubles_are_one_instruction(self):
        self.assertLess(self.ratio("fused64", "single64"), 1.05)

    def test_a_warp_adds_up_first_what_goes_to_one_address_of_all(self):
        self.assertGreater(self.ratio("one_by_data", "one_for_all"), 3)

    def test_stores_to_one_address_take_turns(self):
        self.assertGreater(self.ratio("store_to_one", "store_apart"), 2)

    def test_a_quotient_that_a_loop_does_not_change_is_computed_before_it(self):
        self.assertLess(self.ratio("remainder_in_loop", "remainder_before"), 1.1)

    def test_a_variable_may_be_called_as_a_word_of_the_dump(self):
        self.assertAlmostEqual(self.ratio("exchanged_all", "exchanged_sum"), 1, places=4)

    def test_what_is_tried_again_until_nobody_came_between_has_no_number(self):
        self.assertIn("a loop that waits for what other threads write", self.predicted["waits_for_turn"]["why"])
        self.assertIsNotNone(self.predicted["tries_next"]["seconds"])

    def test_a_counter_that_doubles_is_a_number_in_each_round(self):
        self.assertGreater(self.ratio("divided_by_data", "divided_by_what_doubles"), 3)

    def test_bits_and_bytes_change_places_in_one_instruction(self):
        self.assertLess(self.ratio("reversed", "bits"), 1.3)
        self.assertLess(self.ratio("permuted", "shifted"), 1.3)

    def test_what_a_loop_loads_again_is_loaded_once(self):
        self.assertLess(self.ratio("loaded_in_loop", "loaded_before"), 1.2)

    def test_what_a_store_may_have_changed_is_loaded_again(self):
        self.assertGreater(self.ratio("loaded_after_stores", "loaded_in_loop"), 2)

    def test_no_offset_passes_a_conversion_to_a_float(self):
        self.assertGreater(self.ratio("sum_to_float", "sum_of_floats"), 1.5)

    def test_sine_and_cosine_of_one_angle_are_as_fast_as_asked_for(self):
        self.assertLess(self.ratio("sine_and_cosine", "sine"), 1.8)

    def test_a_reciprocal_root_is_one_instruction_of_the_special_function_unit(self):
        self.assertLess(self.ratio("reciprocal_root", "exponential"), 1.3)
        self.assertLess(self.ratio("root_of_doubles", "quotient_of_doubles"), 1)

    def test_a_quotient_that_is_rounded_exactly_is_no_fast_one(self):
        self.assertAlmostEqual(self.ratio("rounded_quotient", "quotient"), 1, delta=0.05)

    def test_numbers_at_random_are_computed(self):
        self.assertAlmostEqual(self.ratio("drawn", "drawn_by_hand"), 1, delta=0.15)

    def test_shared_memory_adds_integers_of_32_bits_alone(self):
        self.assertGreater(self.ratio("shared_floats", "shared_ints"), 2)
        self.assertGreater(self.ratio("shared_longs", "shared_ints"), 2)

    def test_sums_of_doubles_on_one_address_wait_for_each_other(self):
        self.assertGreater(self.ratio("doubles_to_one", "longs_to_one"), 2)

    def test_four_products_of_bytes_are_one_instruction(self):
        self.assertLess(self.ratio("dot_of_bytes", "multiply"), 1.3)

    def test_what_comes_from_dram_together_comes_no_earlier_for_the_second(self):
        self.assertGreater(self.ratio("walked_together", "walked_apart"), 0.85)

    def test_double_precision_takes_twice_as_long(self):
        self.assertAlmostEqual(self.ratio("chain_of_doubles", "chain_of_floats"), 2, delta=0.4)

    def test_a_sine_of_floats_that_is_computed_in_double_here_costs_what_it_costs_there(self):
        for name in ("sine_of_pi", "both_of_pi"):
            self.assertLess(self.ratio(name, "accurate_sine"), 1.1)

    def test_an_accurate_logarithm_is_a_polynomial(self):
        self.assertGreater(self.ratio("logarithms", "fast_logarithms"), 2.5)

    def test_a_power_of_two_is_no_product(self):
        self.assertGreater(self.ratio("power_of_2", "square"), 5)

    def test_l2_takes_scattered_atomics_faster_than_stores_of_parts_of_sectors(self):
        self.assertGreater(self.ratio("stores_everywhere", "adds_everywhere"), 1.05)

    def test_a_loop_that_counts_bits_is_an_instruction(self):
        """POPC; where the loop does more it stays."""
        self.assertLess(self.ratio("bits_by_a_loop", "bits_by_an_instruction"), 1.1)
        self.assertGreater(self.ratio("bits_and_more", "bits_by_an_instruction"), 1.5)

    def test_what_a_branch_chooses_is_moved(self):
        """ISETP, VIMNMX, SEL, SEL; not where the compiler knows the way."""
        self.assertGreater(self.ratio("least_three", "least"), 1.12)
        self.assertLess(self.ratio("choice_decided", "no_choice"), 1.04)

    def test_doubles_are_compared_by_the_units_of_doubles(self):
        self.assertGreater(self.ratio("doubles_below", "doubles_multiplied"), 1.4)

    def test_what_is_predicated_is_issued_though_no_lane_does_it(self):
        self.assertGreater(self.ratio("skipped", "tested"), 1.1)

    def test_arrays_indexed_by_data_have_no_number(self):
        self.assertIsNotNone(self.predicted["in_registers"]["seconds"])
        self.assertIsNotNone(self.predicted["chosen_by_counter"]["seconds"])
        for name in IN_MEMORY:
            with self.subTest(name):
                self.assertIsNone(self.predicted[name]["seconds"])
                self.assertIn("local memory (the array v", self.predicted[name]["why"])

    def test_tensor_cores_have_no_number(self):
        self.assertIn("tensor cores", self.predicted["tensor_cores"]["why"] or "")

    def test_what_follows_from_an_unrolled_loops_counter_is_a_constant(self):
        self.assertGreater(self.ratio("not_folded", "folded"), 3)

    def test_sectors_that_several_stores_complete_are_not_read(self):
        self.assertLess(self.ratio("four_times_a_quarter", "one_quarter"), 1.3)

    def test_the_multiprocessor_with_most_work_decides(self):
        self.assertGreater(self.ratio("few_long_blocks", "few_long_blocks_apart"), 2)

    def test_what_a_short_branch_may_have_changed_is_waited_for(self):
        self.assertGreater(self.ratio("scanned", "shifted_up"), 0.9)

    def test_what_a_short_branch_chooses_waits_for_its_test(self):
        self.assertGreater(self.ratio("chosen", "summed"), 0.9)
        self.assertGreater(self.ratio("one_of_two_constants", "summed"), 0.9)

    def test_a_store_of_a_struct_of_16_bits_waits_for_its_value(self):
        self.assertGreater(self.ratio("doubled_halves", "doubled_floats"), 0.9)

    def test_a_copy_of_a_struct_waits_for_what_was_loaded(self):
        self.assertGreater(self.ratio("copied_halves", "copied_shorts"), 0.9)

    def test_an_array_of_the_threads_own_is_waited_for(self):
        self.assertGreater(self.ratio("packs_in_an_array", "packs_by_names"), 0.8)

    def test_elements_of_an_array_are_different_values(self):
        self.assertLess(self.ratio("powers_in_an_array", "powers_by_names"), 1.2)
        self.assertGreater(self.ratio("powers_in_an_array", "powers_by_names"), 0.8)

    def test_what_a_loop_computes_of_a_half_changes_with_it(self):
        self.assertGreater(self.ratio("powers_of_halves", "powers_of_floats"), 0.9)

    def test_what_the_round_before_stored_is_not_loaded(self):
        self.assertLess(self.ratio("sum_in_place", "sum_in_register"), 1.05)
        self.assertLess(self.ratio("sums_in_members", "members_in_registers"), 1.05)

    def test_what_may_be_another_value_is_loaded_in_each_round(self):
        for name in ("sums_in_places", "sum_that_others_may_read", "sums_in_turn"):
            with self.subTest(name):
                self.assertGreater(self.ratio(name, "sum_in_register"), 1.5)

    def test_shared_memory_counts_the_lanes_of_an_address_by_itself(self):
        self.assertGreater(self.ratio("counted_by_two", "counted_by_one"), 2)
        self.assertGreater(self.ratio("counted_and_asked", "counted_by_one"), 2)

    def test_rare_functions_have_a_cost(self):
        for name in ("functions_of_doubles", "signs_and_exponents"):
            self.assertIsNone(self.predicted[name].get("why"), name)

    def test_a_third_of_a_function_of_doubles_is_on_their_units(self):
        self.assertLess(self.ratio("cosine64", "sixteen64"), 2.5)
        self.assertGreater(self.ratio("cosine64", "sixteen64"), 1.1)

    def test_a_volatile_load_is_waited_for(self):
        self.assertGreater(self.ratio("chased_volatile", "chased"), 0.9)

    def test_threads_that_wait_for_what_others_write_have_no_number(self):
        for name in KERNELS:
            with self.subTest(name):
                if name.startswith("waits_") and name != "waits_for_block":
                    self.assertIn("a loop that waits for what other threads write", self.predicted[name]["why"])
                elif name not in (*IN_MEMORY, "tensor_cores"):
                    self.assertIsNotNone(self.predicted[name]["seconds"])


class Cores(unittest.TestCase):
    def test_each_number_once_and_in_order(self) -> None:
        self.assertEqual(cores.by_processes(500, lambda number: f"{number}\n" * 100, 3), [f"{number}\n" * 100 for number in range(500)])

    def test_a_process_that_fails_ends_the_command(self) -> None:
        def text_of(number: int) -> str:
            assert number != 7
            return ""
        with open(os.devnull, "w") as nowhere:
            err, saved = sys.stderr.fileno(), os.dup(sys.stderr.fileno())
            os.dup2(nowhere.fileno(), err)
            try:
                with self.assertRaises(SystemExit):
                    cores.by_processes(10, text_of, 2)
            finally:
                os.dup2(saved, err)
                os.close(saved)

    def test_where_no_process_may_be_started(self) -> None:
        with mock.patch.object(os, "fork", side_effect=BlockingIOError):
            self.assertEqual(cores.by_processes(3, str, 2), ["0", "1", "2"])


if __name__ == "__main__":
    unittest.main()
