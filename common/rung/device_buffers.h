// The worker's device memory: every buffer stands between two guards, and what nothing has written yet shows.
#pragma once

#include <cuda_runtime.h>
#include <stdlib.h>
#include <string.h>

#include "protocol.h"
#include "rung.h"
#ifdef __SIMT__
#include "checks/checks.h"
#endif

namespace rung {

// Ends the process with a message to the client if `error` is one. `doing`: "cudaMalloc of the worker's own buffer".
void check(cudaError_t error, const char* doing);

// The tool of compute-sanitizer under which this worker runs (common/commands/sanitize.sh); "" if under none. It knows
// allocations and what was written to them, so guards and poison would hide from it what it looks for.
inline const char* sanitizer() {
  const char* tool = getenv("LADDER_SANITIZER");
  return tool ? tool : "";
}

// A buffer on the device: guard | data | guard. Allocated anew when its size changes, so that the back guard begins at
// the first byte past the data. Under a sanitizer: data alone.
struct Buffer {
  unsigned char* allocation = nullptr;
  size_t data_bytes = 0;

  static size_t guard() { return *sanitizer() ? 0 : guard_bytes; }
  unsigned char* data() const { return allocation + guard(); }

  void release() {
    if (allocation) check(cudaFree(allocation), "cudaFree of the worker's own buffer");
    allocation = nullptr;
  }

  void resize(size_t bytes) {
    if (allocation && bytes == data_bytes) return;
    release();
    void* p = nullptr;
    const size_t total = guard() + bytes + guard();
    check(cudaMalloc(&p, total ? total : 1), "cudaMalloc of the worker's own buffer");
    allocation = static_cast<unsigned char*>(p);
    data_bytes = bytes;
  }

  void fill_guards() const {
    if (!guard()) return;
    check(cudaMemset(allocation, guard_byte, guard_bytes), "cudaMemset");
    check(cudaMemset(data() + data_bytes, guard_byte, guard_bytes), "cudaMemset");
  }

  // guard | data | guard as they are now, to the host.
  void copy_to(unsigned char* host) const {
    if (guard()) {
      check(cudaMemcpy(host, allocation, guard_bytes + data_bytes + guard_bytes, cudaMemcpyDeviceToHost),
            "cudaMemcpy of the results");
      return;
    }
    memset(host, guard_byte, guard_bytes + data_bytes + guard_bytes);
    if (data_bytes) {
      check(cudaMemcpy(host + guard_bytes, data(), data_bytes, cudaMemcpyDeviceToHost), "cudaMemcpy of the results");
    }
  }
};

// The buffers of one launch: input, first output, second output, workspace; and what the variant is called with.
struct BufferSet {
  Buffer buffers[buffer_count];
  void* argument[buffer_count] = {};

  void prepare(Op op, Dtype dtype, const Request& request) {
    for (int i = 0; i < buffer_count; i++) {
      buffers[i].resize(request.data_bytes[i]);
      buffers[i].fill_guards();
      const bool used = arguments_of(op).buffers[i] && !(request.null_arguments >> i & 1);
      argument[i] = used ? buffers[i].data() : nullptr;
    }
    name_tensors(op, dtype, request);
  }

  void poison_outputs() const {
    if (!strcmp(sanitizer(), "initcheck")) return;
    for (int i = 1; i < buffer_count; i++) {
      if (!buffers[i].data_bytes) continue;
      check(cudaMemset(buffers[i].data(), 0xFF, buffers[i].data_bytes), "cudaMemset");
#ifdef __SIMT__
      simt::checks::set_uninitialised(buffers[i].data(), buffers[i].data_bytes);
#endif
    }
  }

  // For the checks' messages, and so that they know the guards from the data.
  void name_tensors(Op op, Dtype dtype, const Request& request) const {
#ifdef __SIMT__
    Plan plan;
    if (!arguments_of(op).plan(request.sizes, dtype, &plan)) return;
    for (int i = 0; i < plan.count; i++) {
      const Tensor& tensor = plan.tensors[i];
      if (!tensor.bytes() || buffers[tensor.buffer].data_bytes != plan.bytes[tensor.buffer]) continue;
      simt::checks::name_buffer(buffers[tensor.buffer].data() + tensor.offset, tensor.name, tensor.rows, tensor.cols,
                                tensor.element_bytes);
    }
#else
    (void)op, (void)dtype, (void)request;
#endif
  }
};

}  // namespace rung
