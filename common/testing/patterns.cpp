#include "patterns.h"

#include <algorithm>

namespace testing_ {
namespace {

std::string list_of(const std::vector<int>& numbers) {
  std::string text;
  const size_t shown = std::min<size_t>(numbers.size(), 8);
  for (size_t i = 0; i < shown; i++) text += (i ? ", " : "") + std::to_string(numbers[i]);
  if (shown < numbers.size()) text += ", ... (" + std::to_string(numbers.size()) + " rows)";
  return text;
}

// never_written: nothing of these rows was.
std::string describe_rows(const std::vector<int>& wrong_rows, int rows, size_t row_bytes, bool never_written) {
  if (static_cast<int>(wrong_rows.size()) == rows) return "";
  const std::string only = wrong_rows.size() == 1 ? "wrong only in row " : "wrong only in rows ";
  std::vector<int> misaligned;
  for (int r = 0; r < rows; r++) {
    if (static_cast<size_t>(r) * row_bytes % 16 != 0) misaligned.push_back(r);
  }
  const bool to_the_end = wrong_rows.size() > 1 && wrong_rows.back() == rows - 1 &&
                          wrong_rows.back() - wrong_rows.front() + 1 == static_cast<int>(wrong_rows.size());
  if (never_written && to_the_end) {
    return only + list_of(wrong_rows) + ": all rows from " + std::to_string(wrong_rows.front()) +
           " on. Has the launch as many blocks as the rows need?\n";
  }
  if (wrong_rows == misaligned) {
    return only + list_of(wrong_rows) + ": exactly those that do not start at a multiple of 16 bytes\n";
  }
  std::string line = only + list_of(wrong_rows);
  if (wrong_rows.size() > 1 && std::all_of(wrong_rows.begin(), wrong_rows.end(), [](int r) { return r % 2 == 1; })) {
    line += ": odd rows only";
  } else if (wrong_rows.size() == 1 && wrong_rows[0] == rows - 1) {
    line += ", the last one";
  } else if (to_the_end) {
    line += ": all rows from " + std::to_string(wrong_rows.front()) + " on";
  }
  return line + "\n";
}

}  // namespace

std::string describe_patterns(const std::vector<Fault>& faults, int rows, int cols, size_t row_bytes,
                              const char* column_word) {
  std::vector<int> wrong_rows;
  int first = cols, last = -1;  // of the wrong columns
  size_t wrong = 0, unwritten = 0;
  for (int r = 0; r < rows; r++) {
    const Fault* row = faults.data() + static_cast<size_t>(r) * static_cast<size_t>(cols);
    bool any = false;
    for (int c = 0; c < cols; c++) {
      if (row[c] == Fault::none) continue;
      any = true;
      wrong++;
      unwritten += row[c] == Fault::unwritten;
      first = std::min(first, c);
      last = std::max(last, c);
    }
    if (any) wrong_rows.push_back(r);
  }
  if (wrong_rows.empty()) return "";

  std::string text =
      describe_rows(wrong_rows, rows, row_bytes, unwritten == wrong_rows.size() * static_cast<size_t>(cols));
  // A range of columns is worth naming only if most of what lies in it is wrong.
  const bool dense = 2 * wrong > wrong_rows.size() * static_cast<size_t>(last - first + 1);
  const std::string word = column_word;
  if (dense && first == last && cols > 1) {
    text += "wrong only in " + word + " " + std::to_string(first) + (first == cols - 1 ? ", the last one" : "") + "\n";
  } else if (dense && first > 0 && last == cols - 1) {
    const bool is_rank = word == "rank";  // a row's tail has columns, not ranks
    text += "wrong only past " + word + " " + std::to_string(first - 1) + (is_rank ? "\n" : ": is the tail handled?\n");
  } else if (dense && first == 0 && last < cols - 1) {
    text += "wrong only up to " + word + " " + std::to_string(last) + "\n";
  } else if (dense && first > 0) {
    text += "wrong only in " + word + "s " + std::to_string(first) + " to " + std::to_string(last) + "\n";
  }
  return text;
}

std::string describe_special(const std::vector<Fault>& faults, const std::vector<Special>& special) {
  for (const Special& kind : special) {
    size_t of_kind = 0, wrong = 0, elsewhere = 0;
    for (size_t i = 0; i < faults.size(); i++) {
      const bool holds = kind.holds(i), is_wrong = faults[i] != Fault::none;
      of_kind += holds;
      wrong += holds && is_wrong;
      elsewhere += !holds && is_wrong;
    }
    if (elsewhere > 0 || wrong == 0 || of_kind == faults.size()) continue;
    const std::string which =
        wrong == of_kind ? "all of them" : std::to_string(wrong) + " of " + std::to_string(of_kind);
    return std::string("wrong only in ") + kind.words + ", in " + which + "\n";
  }
  return "";
}

}  // namespace testing_
