#include "hidden.h"

#include <algorithm>
#include <random>
#include <string>

#include "step_operator.h"

namespace testing_ {
namespace {

struct Range {
  int least, most;
};

// Widths are drawn from `cols` and made `remainder` modulo `modulus`. k, for top-K, from `k`, at most the width.
struct Family {
  const char* name;
  Values values;
  Range rows, cols;
  int modulus, remainder;
  Range k;
};

// clang-format off
const Family families[] = {
    {"tiny",         Values::normal,      {2, 9},     {3, 29},     2, 1, {1, 3}},
    {"two-warps",    Values::normal,      {20, 60},   {34, 62},    2, 1, {2, 9}},
    {"below-1024",   Values::normal,      {3, 9},     {900, 1019}, 8, 4, {20, 60}},
    {"above-1024",   Values::normal,      {3, 9},     {1028, 1120}, 4, 1, {20, 60}},
    {"many-rows",    Values::normal,      {300, 700}, {9, 25},     2, 1, {2, 5}},
    {"wide",         Values::normal,      {2, 4},     {4104, 4700}, 8, 0, {20, 60}},
    {"wide-odd",     Values::normal,      {1, 3},     {5001, 9000}, 2, 1, {20, 60}},
    {"large-k",      Values::normal,      {3, 7},     {700, 990},  4, 3, {150, 500}},
    {"rising",       Values::ascending,   {3, 9},     {1030, 1400}, 4, 3, {20, 60}},
    {"one-huge",     Values::one_huge,    {9, 40},    {260, 500},  4, 2, {2, 9}},
    {"far-below",    Values::minus_1e4,   {3, 9},     {520, 900},  4, 3, {20, 60}},
    {"masked",       Values::masked,      {9, 40},    {300, 700},  4, 1, {2, 9}},
    {"masked-head",  Values::masked_head, {3, 9},     {1030, 1400}, 4, 2, {2, 9}},
    {"masked-rows",  Values::masked_rows, {9, 40},    {40, 90},    2, 1, {2, 9}},
    {"nan",          Values::nan,         {5, 20},    {200, 400},  4, 1, {2, 9}},
};
// clang-format on

// The standard's distributions may differ from library to library.
int drawn(std::mt19937_64& random, Range range) {
  return range.least + static_cast<int>(random() % static_cast<uint64_t>(range.most - range.least + 1));
}

Case draw(const Family& family, const std::string& group, rung::Op op, uint64_t seed) {
  std::vector<uint32_t> mixed = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  for (const char* letter = family.name; *letter; letter++) mixed.push_back(static_cast<unsigned char>(*letter));
  std::seed_seq sequence(mixed.begin(), mixed.end());
  std::mt19937_64 random(sequence);
  Case c;
  c.name = group + "-" + family.name;
  c.group = group;
  c.values = family.values;
  c.rows = c.buffer_rows = drawn(random, family.rows);
  const int cols = drawn(random, family.cols);
  c.cols = c.buffer_cols = cols - cols % family.modulus + family.remainder;
  if (op == rung::Op::softmax_topk) c.k = c.buffer_k = std::min(c.cols, drawn(random, family.k));
  return c;
}

}  // namespace

std::vector<Case> hidden_cases(rung::Op op, uint64_t seed) {
  if (op == rung::Op::swap_ffn) return step_operator().hidden_cases(seed);
  std::vector<Case> cases;
  for (const Family& family : families) {
    if (op == rung::Op::softmax && std::string(family.name) == "large-k") continue;
    cases.push_back(draw(family, "hidden", op, seed));
  }
  return cases;
}

Case integrity_case(rung::Op op, uint64_t seed) {
  if (op == rung::Op::swap_ffn) return step_operator().integrity_case(seed);
  return draw({"memory", Values::normal, {5, 12}, {150, 400}, 2, 1, {2, 9}}, "integrity", op, seed);
}

}  // namespace testing_
