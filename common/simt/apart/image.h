// A rung as the process with the device loads it: for its kernels. No code of it runs meanwhile, as a GPU runs none:
// neither constructors nor functions that choose functions. What only the host has (files, strings, the runtime API) no
// kernel can call: it is reported, with the line.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace simt::apart {

class Image {
 public:
  // Reads the file; no page of this process has become code yet. False, with a problem in words, if it is no rung.
  bool read(const std::string& path);
  // Loads what was read; with a problem in words where the loader has one.
  bool load();

  const std::string& problem() const { return problem_; }
  bool is_instrumented() const { return instrumented_; }
  uintptr_t base() const { return base_; }
  uint64_t bytes() const { return bytes_; }
  // Offsets of all functions.
  const std::set<uint64_t>& functions() const { return functions_; }

 private:
  bool fail(const std::string& problem);
  bool look_through();
  void report_variables() const;

  std::string path_, problem_;
  std::vector<unsigned char> file_;
  int descriptor_ = -1;  // of a file in memory with the image
  uintptr_t base_ = 0;
  uint64_t bytes_ = 0;
  uint64_t constants_ = 0, constants_end_ = 0;  // offsets
  bool instrumented_ = false;
  std::set<uint64_t> functions_;
};

}  // namespace simt::apart
