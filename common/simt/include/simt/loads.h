// Loads and stores with a cache hint. The CPU ignores the hint; the access is that of the type.
#pragma once

#define SIMT_LOAD(name)                      \
  template <typename T>                      \
  __forceinline__ T name(const T* address) { \
    return *address;                         \
  }
#define SIMT_STORE(name)                                       \
  template <typename T>                                        \
  __forceinline__ void name(T* address, simt::Same<T> value) { \
    *address = value;                                          \
  }

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
