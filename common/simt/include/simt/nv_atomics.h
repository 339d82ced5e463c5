// nvcc's own atomic functions (__nv_atomic_fetch_add, since CUDA 12.8), on CUDA's: whatever memory order is asked for,
// they have the strongest. The checks are told which operations release, and how far.
#pragma once

#include "atomics.h"
#include "warp.h"

#define __NV_ATOMIC_RELAXED 0
#define __NV_ATOMIC_CONSUME 1
#define __NV_ATOMIC_ACQUIRE 2
#define __NV_ATOMIC_RELEASE 3
#define __NV_ATOMIC_ACQ_REL 4
#define __NV_ATOMIC_SEQ_CST 5
#define __NV_THREAD_SCOPE_THREAD 0
#define __NV_THREAD_SCOPE_BLOCK 1
#define __NV_THREAD_SCOPE_CLUSTER 2
#define __NV_THREAD_SCOPE_DEVICE 3
#define __NV_THREAD_SCOPE_SYSTEM 4

inline void __nv_atomic_thread_fence(int, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  scope == __NV_THREAD_SCOPE_SYSTEM ? __threadfence_system() : __threadfence();
}

namespace simt {
inline void release_of(int order, int scope) {
  if (order >= __NV_ATOMIC_RELEASE) __nv_atomic_thread_fence(order, scope);
}
template <typename T>
std::remove_cv_t<T> loaded(T* at) {
  yield();  // others may be waited for
  return atomic_update(const_cast<std::remove_cv_t<T>*>(at), [](T old) { return old; });
}
}  // namespace simt

// Those that end with _n are for integers alone.
template <typename T, simt::If<std::is_integral<T>::value> = 0>
std::remove_cv_t<T> __nv_atomic_load_n(T* at, int, int = __NV_THREAD_SCOPE_SYSTEM) {
  return simt::loaded(at);
}
template <typename T>
void __nv_atomic_load(T* at, std::remove_cv_t<T>* to, int, int = __NV_THREAD_SCOPE_SYSTEM) {
  *to = simt::loaded(at);
}
template <typename T, simt::If<std::is_integral<T>::value> = 0>
void __nv_atomic_store_n(T* at, simt::Same<T> value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  simt::release_of(order, scope);
  simt::atomic_store(at, value);
}
template <typename T>
void __nv_atomic_store(T* at, T* value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  simt::release_of(order, scope);
  simt::atomic_store(at, *value);
}
template <typename T, simt::If<std::is_integral<T>::value> = 0>
T __nv_atomic_exchange_n(T* at, simt::Same<T> value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  simt::release_of(order, scope);
  return simt::atomic_update(at, [&](T) { return value; });
}
template <typename T>
void __nv_atomic_exchange(T* at, T* value, T* to, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  simt::release_of(order, scope);
  *to = simt::atomic_update(at, [&](T) { return *value; });
}
template <typename T>
bool __nv_atomic_compare_exchange(T* at, T* expected, T* value, bool, int order, int,
                                  int scope = __NV_THREAD_SCOPE_SYSTEM) {
  simt::release_of(order, scope);
  const T old = simt::atomic_exchange_if(at, *expected, *value);
  if (simt::word_of(old) == simt::word_of(*expected)) return true;
  *expected = old;
  return false;
}
template <typename T, simt::If<std::is_integral<T>::value> = 0>
bool __nv_atomic_compare_exchange_n(T* at, T* expected, simt::Same<T> value, bool weak, int order, int other,
                                    int scope = __NV_THREAD_SCOPE_SYSTEM) {
  return __nv_atomic_compare_exchange(at, expected, &value, weak, order, other, scope);
}

#define SIMT_INTEGERS_ALONE(name)                                                                            \
  template <typename T, typename... More, simt::If<!std::is_integral<T>::value> = 0>                         \
  SIMT_UNAVAILABLE("nvcc's atomic functions that end with _n take integers; without _n they take a pointer") \
  std::remove_cv_t<T> name(T*, More...);
SIMT_INTEGERS_ALONE(__nv_atomic_load_n)
SIMT_INTEGERS_ALONE(__nv_atomic_store_n)
SIMT_INTEGERS_ALONE(__nv_atomic_exchange_n)
SIMT_INTEGERS_ALONE(__nv_atomic_compare_exchange_n)
#undef SIMT_INTEGERS_ALONE

// Each with the old value and, without `fetch`, without it.
#define SIMT_FETCH(name, chooses, expression)                                                               \
  template <typename T>                                                                                     \
  T __nv_atomic_fetch_##name(T* at, simt::Same<T> value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) { \
    simt::release_of(order, scope);                                                                         \
    return simt::atomic_update<chooses>(at, [&](T old) { return static_cast<T>(expression); });             \
  }                                                                                                         \
  template <typename T>                                                                                     \
  void __nv_atomic_##name(T* at, simt::Same<T> value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {    \
    __nv_atomic_fetch_##name(at, value, order, scope);                                                      \
  }
SIMT_FETCH(add, false, old + value)
SIMT_FETCH(sub, false, old - value)
SIMT_FETCH(and, false, old& value)
SIMT_FETCH(or, false, old | value)
SIMT_FETCH(xor, false, old ^ value)
SIMT_FETCH(min, true, value < old ? value : old)
SIMT_FETCH(max, true, old < value ? value : old)
#undef SIMT_FETCH
