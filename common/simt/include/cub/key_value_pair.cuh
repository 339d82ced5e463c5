// What ArgMin and ArgMax give: an item and its number.
#pragma once

namespace cub {

template <typename Key, typename Value>
struct KeyValuePair {
  Key key;
  Value value;
};

}  // namespace cub
