// In sorted items: the first place that is not below the value, and the first that is above it.
#pragma once

namespace cub {

template <typename It, typename Count, typename T>
Count LowerBound(It items, Count count, const T& value) {
  Count first = 0;
  while (count > 0) {
    const Count half = count / 2;
    const bool after = items[first + half] < value;
    first += after ? half + 1 : 0;
    count = after ? count - half - 1 : half;
  }
  return first;
}
template <typename It, typename Count, typename T>
Count UpperBound(It items, Count count, const T& value) {
  Count first = 0;
  while (count > 0) {
    const Count half = count / 2;
    const bool after = !(value < items[first + half]);
    first += after ? half + 1 : 0;
    count = after ? count - half - 1 : half;
  }
  return first;
}

}  // namespace cub
