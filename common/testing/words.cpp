#include "words.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>

namespace testing_ {

std::string format(const char* pattern, double value) {
  char text[64];
  snprintf(text, sizeof text, pattern, value);
  return text;
}

std::string whole(double value) {
  std::string digits = format("%.0f", value);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) digits.insert(static_cast<size_t>(at), ",");
  return digits;
}

std::string brief(double value) {
  return std::abs(value - std::round(value)) < 0.05 ? whole(value) : format("%.1f", value);
}

std::string times_of(double value) { return brief(value) == "1" ? "once" : brief(value) + " times"; }

std::string wrapped(const std::string& text, size_t width) {
  constexpr size_t widest = 100, indented = 6;
  if (width == 0) width = terminal_columns() > 0 ? std::min(widest, terminal_columns() - indented) : widest;
  std::istringstream words(text);
  std::string lines;
  size_t used = 0;
  for (std::string word; words >> word;) {
    const bool fits = used > 0 && used + 1 + word.size() <= width;
    if (used > 0) lines += fits ? ' ' : '\n';
    used = fits ? used + 1 + word.size() : word.size();
    lines += word;
  }
  return lines;
}

size_t terminal_columns() {
  if (!isatty(STDOUT_FILENO)) return 0;
  winsize size = {};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

}  // namespace testing_
