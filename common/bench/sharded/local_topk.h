// Softmax + top-K of one device's rows: lab 06's solution (local_topk.cu), which the sharded variants call.
#pragma once

#include <cuda_runtime.h>

namespace sharded {

// logits: row-major (rows, cols). index, prob: row-major (rows, k), sorted by falling probability, the lower index
// first of equal logits. k: at most 1024, and at most cols. T: float, __half or __nv_bfloat16.
template <typename T>
cudaError_t topk_of_rows(const T* logits, int* index, float* prob, int rows, int cols, int k, cudaStream_t stream);

}  // namespace sharded
