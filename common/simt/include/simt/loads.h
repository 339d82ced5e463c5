// Loads and stores with a cache hint. The CPU ignores the hint; the access is that of the type.
#pragma once

#include "argument_types.h"

#define SIMT_MOVED \
  "CUDA has this for numbers of 1 to 8 bytes, half, bfloat16, and vectors of 2 or 4 of them in 16 bytes"
#define SIMT_LOAD(name)                                   \
  template <typename T, simt::If<simt::is_moved<T>> = 0>  \
  __forceinline__ T name(const T* address) {              \
    return *address;                                      \
  }                                                       \
  template <typename T, simt::If<!simt::is_moved<T>> = 0> \
  SIMT_UNAVAILABLE(SIMT_MOVED)                            \
  T name(const T* address);
#define SIMT_STORE(name)                                              \
  template <typename T, simt::If<simt::is_moved<T>> = 0>              \
  __forceinline__ void name(T* address, simt::Same<T> value) {        \
    *address = value;                                                 \
  }                                                                   \
  template <typename T, typename V, simt::If<!simt::is_moved<T>> = 0> \
  SIMT_UNAVAILABLE(SIMT_MOVED)                                        \
  void name(T* address, const V& value);

SIMT_LOAD(__ldg)
SIMT_LOAD(__ldca)
SIMT_LOAD(__ldcg)
SIMT_LOAD(__ldcs)
SIMT_LOAD(__ldlu)
SIMT_LOAD(__ldcv)
SIMT_STORE(__stwb)
SIMT_STORE(__stcg)
SIMT_STORE(__stcs)
SIMT_STORE(__stwt)
#undef SIMT_LOAD
#undef SIMT_STORE
#undef SIMT_MOVED
