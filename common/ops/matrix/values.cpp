#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <random>
#include <tuple>
#include <utility>

#include "matrix.h"

namespace testing_ {
namespace {

// What row r of a mixed matrix is like: each of these in seven rows, whichever comes first.
Values like(size_t r, uint64_t hash) {
  constexpr Values all[] = {Values::normal, Values::masked,   Values::masked_all, Values::inf,
                            Values::nan,    Values::plus_1e4, Values::minus_1e4};
  return all[(r + hash) % std::size(all)];
}

}  // namespace

uint64_t hash_of(const std::string& name) {  // FNV-1a
  uint64_t hash = 14695981039346656037u;
  for (unsigned char c : name) hash = (hash ^ c) * 1099511628211u;
  return hash;
}

namespace {

std::vector<float> drawn(const Case& c, uint64_t seed) {
  const size_t rows = static_cast<size_t>(c.sizes.rows), cols = static_cast<size_t>(c.sizes.cols);
  std::vector<float> x(rows * cols);
  std::mt19937_64 random(hash_of(c.name) ^ seed);
  std::normal_distribution<float> normal(0.0f, 3.0f);
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  auto column = [&] { return std::uniform_int_distribution<size_t>(0, cols - 1)(random); };
  const float inf = std::numeric_limits<float>::infinity();
  const float not_a_number = std::numeric_limits<float>::quiet_NaN();

  const bool mixed = values_of(c) == Values::mixed;
  for (size_t r = 0; r < rows; r++) {
    float* row = x.data() + r * cols;
    const bool middle = mixed || r == rows / 2;
    const Values values = mixed ? like(r, hash_of(c.name) ^ seed) : values_of(c);
    for (size_t i = 0; i < cols; i++) {
      const float position = cols == 1 ? 0.0f : static_cast<float>(i) / static_cast<float>(cols - 1);
      switch (values) {
        case Values::uniform: row[i] = 5 * uniform(random); break;
        case Values::constant: row[i] = 1.5f; break;
        case Values::one_above: row[i] = i == 0 ? 5.0f : 0.0f; break;
        case Values::ascending: row[i] = -10 + 20 * position; break;
        case Values::descending: row[i] = 10 - 20 * position; break;
        case Values::signed_zeros: {
          const float u = uniform(random);
          row[i] = u < -0.75f ? -1.0f : std::copysign(0.0f, u);
          break;
        }
        case Values::zeros: row[i] = 0.0f; break;
        case Values::small: row[i] = 1e-3f * normal(random); break;
        case Values::strided: row[i] = (i % 4096 == 0 ? 100.0f : 0.0f) + normal(random); break;
        case Values::extreme: row[i] = 1e4f * uniform(random); break;
        case Values::plus_1e4: row[i] = 1e4f + normal(random); break;
        case Values::minus_1e4: row[i] = -1e4f + normal(random); break;
        case Values::heavy_ends: row[i] = normal(random) + (i < 16 || cols - i <= 16 ? 10.0f : 0.0f); break;
        case Values::front_loaded: row[i] = normal(random) + (i < cols / 4 ? 8.0f : 0.0f); break;
        case Values::masked: row[i] = uniform(random) < 0 ? -inf : normal(random); break;
        case Values::masked_tail: row[i] = i >= cols - cols / 3 ? -inf : normal(random); break;
        case Values::masked_head: row[i] = i < 2 * cols / 3 ? -inf : normal(random); break;
        case Values::masked_rows: row[i] = r % 3 == 1 ? -inf : normal(random); break;
        case Values::masked_all: row[i] = -inf; break;
        default: row[i] = normal(random);
      }
    }
    if (values == Values::one_huge) row[column()] = 5000;
    if (values == Values::inf && middle) row[column()] = inf;
    if (values == Values::nan && middle) row[column()] = not_a_number;
    if (values == Values::nan_first && middle) row[0] = not_a_number;
    if (values == Values::nan_last && middle) row[cols - 1] = not_a_number;
  }
  return x;
}

}  // namespace

const char* special_of(Values values) {
  switch (values) {
    case Values::constant: return "every entry is 1.5";
    case Values::one_above: return "every entry is 0, except one, which is 5";
    case Values::ascending: return "each row rises from -10 to 10";
    case Values::descending: return "each row falls from 10 to -10";
    case Values::signed_zeros: return "the entries are -0.0 and 0.0, and a few -1";
    case Values::one_huge: return "one entry of each row is 5000";
    case Values::extreme: return "the entries lie between -10,000 and 10,000";
    case Values::plus_1e4: return "every entry is near 10,000";
    case Values::minus_1e4: return "every entry is near -10,000";
    case Values::masked: return "about every other entry is -INFINITY";
    case Values::masked_tail: return "the last third of each row is -INFINITY";
    case Values::masked_head: return "the first two thirds of each row are -INFINITY";
    case Values::masked_rows: return "in every third row all entries are -INFINITY";
    case Values::masked_all: return "every entry is -INFINITY";
    case Values::inf: return "one entry of the middle row is INFINITY";
    case Values::nan: return "one entry of the middle row is NaN";
    case Values::nan_first: return "the first entry of the middle row is NaN";
    case Values::nan_last: return "the last entry of the middle row is NaN";
    case Values::zeros: return "every entry is 0";
    case Values::small: return "all entries are tiny";
    default: return "";
  }
}

// Kept, since a case has the same for all variants and types: to draw them each time takes a sixth of the judge's time.
std::vector<float> logits(const Case& c, uint64_t seed) {
  constexpr size_t most = 16 << 20;
  static std::map<std::tuple<std::string, int, int, int, uint64_t>, std::vector<float>> kept;
  static size_t elements = 0;
  if (c.matrix) return *c.matrix;
  std::vector<float>& x = kept[{c.name, c.sizes.rows, c.sizes.cols, c.values, seed}];
  if (!x.empty()) return x;
  x = drawn(c, seed);
  elements += x.size();
  if (elements <= most) return x;
  std::vector<float> last = std::move(x);
  kept.clear();
  elements = 0;
  return last;
}

}  // namespace testing_
