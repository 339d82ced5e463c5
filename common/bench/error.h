// What the programs here throw when they cannot go on: the message says what is wrong and what to do about it.
#pragma once

#include <stdexcept>

namespace bench {

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace bench
