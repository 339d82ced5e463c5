// What a rung's shared object exports, and how a variant is called: for the process that runs its host code.
#pragma once

#include <dlfcn.h>
#include <string.h>

#include <string>

#include "protocol.h"
#include "rung.h"

namespace rung {

namespace {

struct Tables {
  const Variant* table = nullptr;
  int count = 0;
  const Prediction* predictions = nullptr;  // mostly none
  int predictions_count = 0;
};

// Loads a rung. `problem` says what is wrong with it, if anything is.
inline Tables load_tables(const char* path, std::string* problem) {
  Tables tables;
  void* const rung = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!rung) return *problem = dlerror(), tables;
  auto variants = reinterpret_cast<const Variant* (*)(int*)>(dlsym(rung, "rung_variants"));
  if (!variants) return *problem = "it exports no variants: does the file end with RUNG_EXPORT(...)?", tables;
  tables.table = variants(&tables.count);
  if (!tables.table || tables.count < 1 || tables.count > max_variants)
    return *problem = "the table of its variants is empty or absurdly long", tables;
  auto predictions = reinterpret_cast<const Prediction* (*)(int*)>(dlsym(rung, "rung_predictions"));
  if (!predictions) return tables;
  tables.predictions = predictions(&tables.predictions_count);
  if (!tables.predictions || tables.predictions_count < 1 || tables.predictions_count > max_predictions)
    return *problem = "the table of its predictions is empty or absurdly long", tables;
  for (int i = 0; i < tables.predictions_count; i++) {
    const char* const name = tables.predictions[i].name;
    if (!name || !*name || strnlen(name, sizeof PredictionEntry::name) == sizeof PredictionEntry::name)
      return *problem = "one of its predictions has no name or one of more than 63 characters", tables;
  }
  return tables;
}

inline cudaError_t call(const Variant& variant, void* const (&argument)[buffer_count], const Request& r,
                        cudaStream_t stream) {
  return call_operator(variant.op, variant.launch, argument, r.sizes, variant.dtype, stream);
}

}  // namespace

}  // namespace rung
