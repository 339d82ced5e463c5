#include "cases.h"

#include <algorithm>

namespace testing_ {
namespace {

size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); j++) row[j] = j;
  for (size_t i = 1; i <= a.size(); i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); j++) {
      const size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::vector<std::string> similar_names(const std::vector<Case>& cases, const std::string& name) {
  std::vector<std::pair<size_t, std::string>> ranked;
  for (const Case& c : cases) ranked.emplace_back(edit_distance(c.name, name), c.name);
  std::stable_sort(ranked.begin(), ranked.end(), [](auto& a, auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (size_t i = 0; i < ranked.size() && i < 3; i++) names.push_back(ranked[i].second);
  return names;
}

}  // namespace testing_
