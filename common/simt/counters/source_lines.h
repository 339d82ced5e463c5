// Program counters -> source lines, many at once.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace simt::counters {

struct SourceLine {
  std::string file;  // "" if unknown
  int line = 0;
};

// For each of the module's offsets the innermost line of the kernel's own source: code that was inlined from the CUDA
// headers belongs to the line that called it. Runs addr2line.
std::vector<SourceLine> source_lines(const std::string& module, const std::vector<uintptr_t>& offsets);

// Relative to the working directory, if the path lies in it.
std::string shorten(const std::string& path);

}  // namespace simt::counters
