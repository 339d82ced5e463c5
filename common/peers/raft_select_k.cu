// RAFT's select_k behind a C function that Python calls (raft.py). Selection alone: no softmax.
#include <cuda_fp16.h>

#include <cstdio>
#include <exception>
#include <raft/core/device_mdspan.hpp>
#include <raft/core/resource/cuda_stream.hpp>
#include <raft/core/resource/device_memory_resource.hpp>
#include <raft/core/resources.hpp>
#include <raft/matrix/select_k.cuh>
#include <rmm/mr/cuda_async_memory_resource.hpp>

namespace {

template <typename T>
void select(const raft::resources& handle, const void* x, void* values, int* index, int64_t rows, int64_t cols,
            int64_t k) {
  raft::matrix::select_k<T, int>(
      handle, raft::make_device_matrix_view<const T, int64_t>(static_cast<const T*>(x), rows, cols), std::nullopt,
      raft::make_device_matrix_view<T, int64_t>(static_cast<T*>(values), rows, k),
      raft::make_device_matrix_view<int, int64_t>(index, rows, k), /*select_min=*/false, /*sorted=*/true);
}

// What RAFT allocates comes from cudaMallocAsync, which a graph may capture.
raft::resources& handle_of_this_thread() {
  static thread_local raft::resources handle;
  static thread_local bool is_new = true;
  if (is_new) raft::resource::set_workspace_resource(handle, rmm::mr::cuda_async_memory_resource());
  is_new = false;
  return handle;
}

}  // namespace

// x: (rows, cols); values, index: (rows, k), the largest first; device memory. half: x and values are 16-bit floats,
// else float. Returns 0, or 1 with the reason in `why` (size bytes).
extern "C" int raft_select_k(const void* x, void* values, int* index, int64_t rows, int64_t cols, int64_t k, int half,
                             cudaStream_t stream, char* why, size_t size) {
  try {
    raft::resources& handle = handle_of_this_thread();
    raft::resource::set_cuda_stream(handle, stream);
    (half ? select<__half> : select<float>)(handle, x, values, index, rows, cols, k);
    return 0;
  } catch (const std::exception& error) {
    std::snprintf(why, size, "%s", error.what());
    return 1;
  }
}
