#include <random>
#include <string>

#include "formats.h"
#include "matrix.h"

namespace testing_ {
namespace {

using rung::Job;
using rung::Sizes;

struct Named {
  const char* name;
  Values values;
};

struct Extent {
  int rows, cols;
};

// The values, each with the shapes that it is tried in. Odd widths make rows that do not start on 16 bytes; widths
// round 1024 and 4096 are where loops over a block's threads or vectors end; 96 and 161 fill three and six warps, which
// is no power of two; 1000 rows come with a narrow width, to stay fast.
struct Line {
  const char* group;
  Named values;
  std::vector<Extent> shapes;
};

const std::vector<Line>& lines() {
  static const std::vector<Line> table = {
      {"widths",
       {"normal", Values::normal},
       {{7, 33},
        {7, 1},
        {64, 2},
        {7, 31},
        {64, 32},
        {7, 96},
        {7, 161},
        {7, 600},
        {7, 1023},
        {7, 1024},
        {7, 1025},
        {4, 4096},
        {2, 50257},
        {1, 200003}}},
      {"rows",
       {"normal", Values::normal},
       {{1, 1}, {1, 33}, {1, 600}, {1, 1025}, {1, 4096}, {1, 50257}, {64, 31}, {20, 1024}, {1000, 33}}},
      {"values", {"uniform", Values::uniform}, {{64, 33}, {7, 1024}, {4, 4096}}},
      {"values", {"constant", Values::constant}, {{7, 31}, {7, 600}, {1, 4096}}},
      {"values", {"one_above", Values::one_above}, {{1, 50257}}},
      {"values", {"ascending", Values::ascending}, {{7, 33}, {7, 1025}, {4, 4096}}},
      {"values", {"descending", Values::descending}, {{7, 33}, {7, 1025}, {4, 4096}}},
      {"values", {"signed_zeros", Values::signed_zeros}, {{7, 33}, {7, 1025}, {1, 4096}}},
      {"values", {"one_huge", Values::one_huge}, {{7, 33}, {20, 600}, {1, 4096}}},
      {"values", {"extreme", Values::extreme}, {{7, 31}, {7, 1024}}},
      {"values", {"plus_1e4", Values::plus_1e4}, {{7, 600}, {1, 1}}},
      {"values", {"minus_1e4", Values::minus_1e4}, {{7, 600}, {7, 1023}}},
      {"masks", {"masked", Values::masked}, {{7, 33}, {20, 600}, {4, 4096}}},
      {"masks", {"masked_tail", Values::masked_tail}, {{7, 33}, {7, 1025}, {1, 50257}}},
      {"masks", {"masked_head", Values::masked_head}, {{7, 33}, {7, 1025}, {4, 4096}}},
      {"masks", {"masked_rows", Values::masked_rows}, {{7, 33}, {20, 1024}, {7, 1025}, {4, 4096}}},
      {"masks", {"masked_all", Values::masked_all}, {{1, 1}, {7, 600}}},
      {"nan", {"inf", Values::inf}, {{1, 1}, {7, 33}, {20, 600}, {4, 4096}}},
      {"nan", {"nan", Values::nan}, {{1, 1}, {7, 33}, {20, 600}, {7, 1025}, {4, 4096}}},
      {"nan", {"nan_first", Values::nan_first}, {{7, 33}, {7, 1024}}},
      {"nan", {"nan_last", Values::nan_last}, {{7, 33}, {7, 1025}}},
  };
  return table;
}

struct Range {
  int least, most;
};

}  // namespace

// Widths are drawn from `cols` and made `remainder` modulo `modulus`. A row gives a number of results from `results`,
// where there is a choice.
struct Family {
  const char* name;
  Values values;
  Range rows, cols;
  int modulus, remainder;
  Range results;
};

namespace {

// clang-format off
const Family families[] = {
    {"tiny",         Values::normal,      {2, 9},     {3, 29},     2, 1, {1, 3}},
    {"two-warps",    Values::normal,      {20, 60},   {34, 62},    2, 1, {2, 9}},
    {"below-1024",   Values::normal,      {3, 5},     {900, 1019}, 8, 4, {20, 60}},
    {"above-1024",   Values::normal,      {3, 9},     {1028, 1120}, 4, 1, {20, 60}},
    {"many-rows",    Values::normal,      {120, 200}, {9, 25},     2, 1, {2, 5}},
    {"wide",         Values::normal,      {2, 4},     {4104, 4700}, 8, 0, {20, 60}},
    {"wide-odd",     Values::heavy_ends,  {2, 3},     {5001, 20000}, 2, 1, {20, 60}},
    {"wide-mixed",   Values::mixed,       {7, 8},     {4200, 24000}, 4, 3, {2, 20}},
    {"large-k",      Values::normal,      {3, 7},     {700, 990},  4, 3, {150, 500}},
    {"rising",       Values::ascending,   {3, 5},     {1030, 1400}, 4, 3, {20, 60}},
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

}  // namespace

Case MatrixOperator::make(const std::string& group, const std::string& name, Values values, const Sizes& sizes) const {
  Case c;
  c.name = name + "-" + std::to_string(sizes.rows) + "x" + std::to_string(sizes.cols) + suffix(sizes);
  c.group = group;
  c.values = static_cast<int>(values);
  c.about = special_of(values);
  c.sizes = c.called_with = sizes;
  return c;
}

Case MatrixOperator::refused(const std::string& name) const {
  Case c;
  c.name = name;
  c.group = "contract";
  c.must_refuse = true;
  c.sizes = c.called_with = sized(7, 33);
  return c;
}

std::vector<Case> MatrixOperator::cases() const {
  std::vector<Case> cases;
  for (const Line& line : lines()) {
    for (const Extent& shape : line.shapes)
      cases.push_back(make(line.group, line.values.name, line.values.values, sized(shape.rows, shape.cols)));
  }
  for (Case& c : more_cases()) cases.push_back(std::move(c));
  const auto add = [&](const char* name, auto change) {
    cases.push_back(refused(name));
    change(cases.back());
  };
  add("null-input", [](Case& c) { c.null_argument = Job::Null::input; });
  for (const Case& c : null_outputs()) cases.push_back(c);
  add("rows-negative", [](Case& c) { c.called_with.rows = -1; });
  add("cols-zero", [](Case& c) { c.called_with.cols = 0; });
  add("cols-negative", [](Case& c) { c.called_with.cols = -33; });
  for (Case& c : more_contract_cases()) cases.push_back(std::move(c));
  // Not refused: an empty matrix is a success that writes nothing.
  add("rows-zero", [](Case& c) {
    c.called_with.rows = 0;
    c.must_refuse = false;
  });
  return cases;
}

// A case for each output that a variant gets.
std::vector<Case> MatrixOperator::null_outputs() const {
  const rung::Plan all = plan(sized(7, 33), rung::Dtype::f32);
  std::vector<Case> cases;
  for (int buffer = 1; buffer < rung::workspace_buffer; buffer++) {
    if (!all.first_of(buffer)) continue;
    const bool only = !all.first_of(2);
    cases.push_back(refused(std::string("null-") + (only ? "output" : all.first_of(buffer)->name)));
    cases.back().null_argument = buffer == 1 ? Job::Null::output : Job::Null::second_output;
  }
  return cases;
}

std::vector<unsigned char> MatrixOperator::input(const Case& c, rung::Dtype dtype, uint64_t seed) const {
  return reference::encode(logits(c, seed), dtype);
}

Case MatrixOperator::draw(const Family& family, const std::string& group, uint64_t seed) const {
  std::vector<uint32_t> mixed = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  for (const char* letter = family.name; *letter; letter++) mixed.push_back(static_cast<unsigned char>(*letter));
  std::seed_seq sequence(mixed.begin(), mixed.end());
  std::mt19937_64 random(sequence);
  Case c;
  c.name = group + "-" + family.name;
  c.group = group;
  c.values = static_cast<int>(family.values);
  const int rows = drawn(random, family.rows), cols = drawn(random, family.cols);
  c.sizes = sized(rows, cols - cols % family.modulus + family.remainder);
  choose_results(&c.sizes, drawn(random, family.results));
  c.called_with = c.sizes;
  return c;
}

std::vector<Case> MatrixOperator::hidden_cases(uint64_t seed) const {
  std::vector<Case> cases;
  for (const Family& family : families) {
    if (std::string(family.name) == "large-k" && !has_choice_of_results()) continue;
    cases.push_back(draw(family, "hidden", seed));
  }
  return cases;
}

Case MatrixOperator::integrity_case(uint64_t seed) const {
  return draw({"memory", Values::normal, {5, 12}, {150, 400}, 2, 1, {2, 9}}, "integrity", seed);
}

}  // namespace testing_
