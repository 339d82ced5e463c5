// Launches with their traces in a file, so that the model can be changed and run again without running the kernels.
// SIMT_SAVE_TRACES=FILE makes the executor write one; calibration/evaluate.cpp reads it.
#pragma once

#include <cstdio>
#include <stdexcept>
#include <string>

#include "prediction.h"

namespace simt::timing {

struct SavedLaunch {
  std::string module;  // whose table it needs
  uint64_t origin;
  LaunchFacts facts;
  LaunchTrace trace;
};

namespace trace_file {

// Each launch begins with it. Raise `version` when what is saved changes and no size does.
constexpr uint64_t version = 1;
constexpr uint64_t format =
    uint64_t{0x53494d54} << 32 | version << 24 | sizeof(LaunchFacts) << 12 | sizeof(Entry);  // "SIMT"

template <typename T>
void write(std::FILE* file, const T& value) {
  std::fwrite(&value, sizeof value, 1, file);
}
template <typename T>
void write(std::FILE* file, const std::vector<T>& values) {
  write(file, values.size());
  std::fwrite(values.data(), sizeof(T), values.size(), file);
}
template <typename T>
bool read(std::FILE* file, T* value) {
  return std::fread(value, sizeof *value, 1, file) == 1;
}
template <typename T>
bool read(std::FILE* file, std::vector<T>* values) {
  size_t count;
  if (!read(file, &count)) return false;
  values->resize(count);
  return std::fread(values->data(), sizeof(T), count, file) == count;
}

inline void write(std::FILE* file, const BlockTrace& block) {
  write(file, block.number);
  write(file, block.warps.size());
  for (const WarpTrace& warp : block.warps) {
    write(file, warp.entries);
    write(file, warp.lines);
  }
}
inline bool read(std::FILE* file, BlockTrace* block) {
  size_t warps;
  if (!read(file, &block->number) || !read(file, &warps)) return false;
  block->warps.assign(warps, {});
  for (WarpTrace& warp : block->warps) {
    if (!read(file, &warp.entries) || !read(file, &warp.lines)) return false;
  }
  return true;
}

}  // namespace trace_file

inline void save(std::FILE* file, const SavedLaunch& launch) {
  using trace_file::write;
  write(file, trace_file::format);
  write(file, std::vector<char>(launch.module.begin(), launch.module.end()));
  write(file, launch.origin);
  write(file, launch.facts);
  write(file, launch.trace.complete);
  write(file, launch.trace.work);
  write(file, launch.trace.idle);
  write(file, launch.trace.idle_block);
  write(file, launch.trace.blocks.size());
  for (const BlockTrace& block : launch.trace.blocks) write(file, block);
}

// False at the file's end.
inline bool load(std::FILE* file, SavedLaunch* launch) {
  using trace_file::read;
  uint64_t format;
  if (!read(file, &format)) return false;
  if (format != trace_file::format)
    throw std::runtime_error(
        "these launches are not of this build: build the program again with its simtcc, and save them into a new file");
  std::vector<char> name;
  size_t blocks;
  bool whole = read(file, &name) && read(file, &launch->origin) && read(file, &launch->facts) &&
               read(file, &launch->trace.complete) && read(file, &launch->trace.work) &&
               read(file, &launch->trace.idle) && read(file, &launch->trace.idle_block) && read(file, &blocks);
  launch->module.assign(name.begin(), name.end());
  launch->trace.blocks.assign(whole ? blocks : 0, {});
  for (BlockTrace& block : launch->trace.blocks) whole = whole && read(file, &block);
  if (!whole) throw std::runtime_error("the file ends within a launch: save the launches again, into a new file");
  return true;
}

}  // namespace simt::timing
