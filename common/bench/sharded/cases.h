// The cases with which every variant of sharded softmax + top-K is tested. Plain C++: what a name is checked against is
// compiled before the program.
#pragma once

namespace sharded {

enum class Values { normal, ties, masked_device, masked_rows, nan_device, infinite, falling, rising };

struct Case {
  const char* name;
  int rows, cols, k;
  Values values = Values::normal;
  bool lopsided = false;  // the first device has nearly all of the columns
};

const Case cases[] = {
    {"even", 4, 960, 20},
    {"uneven", 5, 1003, 50},
    {"one row", 1, 4099, 50},
    {"rows", 37, 129, 3},
    {"k of one", 3, 77, 1},
    {"shards narrower than k", 3, 61, 50},
    {"all columns", 2, 40, 40},
    {"fewer columns than devices", 3, 3, 2},
    {"one column", 2, 1, 1},
    {"lopsided", 3, 700, 64, Values::normal, true},
    {"large k", 2, 5001, 1024},
    {"ties", 4, 515, 40, Values::ties},
    {"one device masked", 4, 300, 30, Values::masked_device},
    {"rows masked", 5, 300, 30, Values::masked_rows},
    {"NaN on one device", 5, 301, 10, Values::nan_device},
    {"+inf on one device", 5, 301, 10, Values::infinite},
    {"falling", 2, 640, 32, Values::falling},  // all results are the first devices'
    {"rising", 2, 640, 32, Values::rising},
};

}  // namespace sharded
