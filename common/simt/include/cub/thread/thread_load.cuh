// Loads and stores with CUB's names for what caches do with them. Here they are plain ones; LOAD_VOLATILE and
// STORE_VOLATILE are volatile.
#pragma once

#include <iterator>
#include <type_traits>

namespace cub {

enum CacheLoadModifier { LOAD_DEFAULT, LOAD_CA, LOAD_CG, LOAD_CS, LOAD_CV, LOAD_LDG, LOAD_VOLATILE };
enum CacheStoreModifier { STORE_DEFAULT, STORE_WB, STORE_CG, STORE_CS, STORE_WT, STORE_VOLATILE };

template <CacheLoadModifier Modifier = LOAD_DEFAULT, typename It>
typename std::iterator_traits<It>::value_type ThreadLoad(It from) {
  using Value = typename std::iterator_traits<It>::value_type;
  if constexpr (Modifier == LOAD_VOLATILE && std::is_arithmetic<Value>::value)
    return *const_cast<const volatile Value*>(&*from);
  else
    return *from;
}
template <CacheStoreModifier Modifier = STORE_DEFAULT, typename It, typename T>
void ThreadStore(It to, T value) {
  using Value = typename std::iterator_traits<It>::value_type;
  if constexpr (Modifier == STORE_VOLATILE && std::is_arithmetic<Value>::value)
    *const_cast<volatile Value*>(&*to) = value;
  else
    *to = value;
}

}  // namespace cub
