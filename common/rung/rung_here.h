// A rung in the worker's own process, as on a GPU: the device's memory is out of the host's reach there anyway.
// Included by worker.cpp alone.
#pragma once

#include <dlfcn.h>
#include <string.h>

#include <vector>

#include "device_buffers.h"
#include "rung_calls.h"
#include "worker_reply.h"

namespace rung {

namespace {

class LoadedRung {
 public:
  explicit LoadedRung(bool) {}

  void load(const char* path) {
    std::string problem;
    tables_ = load_tables(path, &problem);
    if (!problem.empty()) fail(problem.c_str());
  }

  std::vector<TableEntry> variants() const {
    std::vector<TableEntry> entries;
    for (int i = 0; i < tables_.count; i++) entries.push_back(entry_of(tables_.table[i]));
    return entries;
  }
  std::vector<PredictionEntry> predictions() const {
    std::vector<PredictionEntry> entries;
    for (int i = 0; i < tables_.predictions_count; i++) entries.push_back(entry_of(tables_.predictions[i]));
    return entries;
  }

  cudaError_t call(int variant, const BufferSet& set, const Request& request, cudaStream_t stream) {
    return rung::call(tables_.table[variant], set.argument, request, stream);
  }

  // Nobody watches here.
  void describe_work(Reply*) const {}

 private:
  Tables tables_;
};

}  // namespace

}  // namespace rung
