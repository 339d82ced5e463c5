// Lab 07: one decode step of a Swap-FFN layer, four ways. common/ops/swap_ffn/arguments.h says what the step is.
//
// All cores run through the same weights. At the course's sizes, 512 cores multiply their state by 24 MB of FFN
// weights 16 times, one product after the other. The variants differ in how often the weights are read:
//
//   unfused         one operation per launch; a product is a GEMM of cuBLAS for all cores at once
//   fused_per_core  one launch, one block per core: every block reads all weights
//   graphed         unfused, recorded once and launched as one graph
//   fused_tiled     one launch, a group of blocks for a tile of cores: a piece of the weights that a block has loaded
//                   to shared memory is used for all cores of the tile
//
// The fused variants leave the collapse at the end to three more launches: it sums over all cores, and only at a
// kernel's end are all cores done.
#include <cublas_v2.h>

#include <cstring>

#include "rung.h"

// STEP 0: what was predicted before there was any code. Sizes: 32 cores, d_model 32, d_ff 64, 2 events of 2 FFN steps.
RUNG_PREDICT(
    // unfused: kernels and GEMMs that are launched.
    {"unfused_launches", 1 + 2 * (4 + 2 * 5) + 3},
    // fused_per_core, bf16: requested bytes of the FFN's weights, of all loads.
    {"per_core_weight_bytes", 32.0 * 2 * 2 * 3 * 32 * 64 * 2},
    // fused_tiled, bf16, tiles of 16 cores: the same.
    {"tiled_weight_bytes", 2.0 * 2 * 2 * 3 * 32 * 64 * 2},
    // The same with cuBLAS, if every GEMM reads each of its operands once.
    {"unfused_weight_bytes", 2 * 2 * 3 * 32 * 64 * 2},
    // bf16, at the course's sizes on an H200: how many times longer than graphed does fused_per_core take? A
    // factor of 2 counts as right.
    {"per_core_slower", 24.0 / 0.6},
    // fused_per_core, bf16, the same: what limits it? rung::limit::dram, l2, lsu, issue, mufu or latency.
    {"per_core_limit", rung::limit::l2})
// END 0

#include "fusion/panel.h"
#include "fusion/per_core.h"
#include "fusion/tile.h"
#include "fusion/unfused.h"

// ---- graphed --------------------------------------------------------------------------------------------------------

// The graph of one step: what unfused launches, recorded and not run.
template <typename T>
cudaError_t record(const SwapFfn<T>& step, cudaGraphExec_t* exec) {
  // STEP 1: recorded on a stream of its own, since the null stream cannot be.
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaError_t error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  if (!error) error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  if (!error) {
    const cudaError_t called = unfused(step, stream);
    error = cudaStreamEndCapture(stream, &graph);  // in any case: the stream must not go on capturing
    if (called) error = called;
  }
  if (!error) error = cudaGraphInstantiate(exec, graph, 0);
  if (graph) cudaGraphDestroy(graph);
  if (stream) cudaStreamDestroy(stream);
  return error;
  // END 1
}

// A graph holds pointers and sizes as they were: another step needs another graph. The last few are kept.
template <typename T>
cudaError_t graphed(const SwapFfn<T>& step, cudaStream_t stream) {
  if (!valid(step)) return cudaErrorInvalidValue;
  constexpr int most = 32;
  static struct {
    SwapFfn<T> step;
    cudaGraphExec_t exec;
  } kept[most] = {};
  static int next = 0;
  for (const auto& entry : kept) {
    if (entry.exec && !memcmp(&entry.step, &step, sizeof step)) return cudaGraphLaunch(entry.exec, stream);
  }
  auto& entry = kept[next];
  if (entry.exec) cudaGraphExecDestroy(entry.exec);
  entry.exec = nullptr;
  if (const cudaError_t error = record(step, &entry.exec)) return error;
  if (!entry.exec) return cudaErrorUnknown;
  entry.step = step;
  next = (next + 1) % most;
  return cudaGraphLaunch(entry.exec, stream);
}

// ---- fused_tiled ----------------------------------------------------------------------------------------------------

// A group of blocks owns a tile of 16 or 64 cores for the whole step. Its blocks divide the columns of every
// product among them: each loads its own part of the weights, once, and multiplies all cores of the tile by it. Results
// of a product go through the workspace, where the other blocks of the group read them after a barrier. That is a
// barrier of the whole grid, so all blocks must be resident at once: a cooperative launch.

// Loads rows 0 to `rows` - 1 and columns [k, k + Chunk), as far as they are below k_end, of a row-major matrix.
template <typename T, int Chunk>
__device__ void load_panel(T* panel, const T* from, int rows, int k, int k_end) {
  // STEP 2: the block's threads take the panel's packs in turn; neighbours take neighbouring packs of a row.
  constexpr int packs = Chunk / pack_size<T>;
  for (int i = threadIdx.x; i < rows * packs; i += threads) {
    const int row = i / packs, column = i % packs * pack_size<T>;
    if (k + column >= k_end) continue;
    copy_pack(panel + row * panel_width<T, Chunk> + column, from + static_cast<size_t>(row) * k_end + k + column);
  }
  // END 2
}

// sums += a w^T over 16 columns of two panels: a has the tile's cores, of which `cores` are there; w 32 rows of
// weights, for tiles 0 to 3, and w_second another 32, for tiles 4 to 7, or none (null).
template <typename T, int M>
__device__ void multiply(Sums<M>& sums, const T* a, const T* w, const T* w_second, int width, int cores) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if constexpr (std::is_same<T, bf16>::value) {
    // A second half that does not exist is multiplied, too; its results are not used.
    return multiply_on_tensor_cores<M>(sums, a, w, w_second ? w_second : w, width);
  }
#endif
  // STEP 3: the plain path: each lane its own sums.
  const int row = threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
  for (int k = 0; k < 16; ++k) {
    float x[M][2];
#pragma unroll
    for (int m = 0; m < M; ++m) {
      x[m][0] = m * 16 + row < cores ? widen(a[(m * 16 + row) * width + k]) : 0.0f;
      x[m][1] = m * 16 + 8 + row < cores ? widen(a[(m * 16 + 8 + row) * width + k]) : 0.0f;
    }
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      if (j >= 4 && !w_second) continue;
      const T* const rows = (j < 4 ? w : w_second) + (j % 4 * 8 + column) * width + k;
      const float left = widen(rows[0]), right = widen(rows[width]);
#pragma unroll
      for (int m = 0; m < M; ++m) {
        sums[m][j][0] += x[m][0] * left;
        sums[m][j][1] += x[m][0] * right;
        sums[m][j][2] += x[m][1] * left;
        sums[m][j][3] += x[m][1] * right;
      }
    }
  }
  // END 3
}

// How the products are cut. Up: 32 columns of gate and the same 32 of up per warp, all of k together. Down: 64 columns,
// of which every warp adds up its own eighth of a chunk of k.
template <typename T, int M>
struct Cut {
  static constexpr int cores = 16 * M;
  // Pieces of weights in flight or in use. Tiles of 16 cores need 99 KB, the most that some chips have.
  static constexpr int up_stages = 2, down_stages = M == 1 || sizeof(T) == 4 ? 2 : 4;
  static constexpr int up_columns = 32 * warps, up_chunk = (M == 1 ? 64 : 128) / sizeof(T),
                       up_rows = cores + 2 * up_columns;
  static constexpr int down_columns = 64, down_chunk = 16 * warps, down_rows = cores + down_columns;
  static constexpr int up_stage = up_rows * panel_width<T, up_chunk>;        // elements
  static constexpr int down_stage = down_rows * panel_width<T, down_chunk>;  // elements
  static constexpr int sum_width = down_columns + 8;                         // floats
  static constexpr int own = 4;  // cores whose norm and router a block computes together

  static size_t shared_bytes(const SwapFfnSizes& s) {
    size_t bytes = sizeof(T) * up_stages * up_stage;
    const size_t down = sizeof(T) * down_stages * down_stage;
    const size_t sums = sizeof(float) * warps * cores * sum_width;
    const size_t rows = sizeof(float) * own * (s.d_model + most_router);
    if (bytes < down) bytes = down;
    if (bytes < sums) bytes = sums;
    return bytes < rows ? rows : bytes;
  }
};

// hidden = silu(norm w1^T) * (norm w3^T), this block's columns.
template <typename T, int M>
__device__ void multiply_up(const SwapFfn<T>& step, const Tile<T>& tile, T* shared) {
  using C = Cut<T, M>;
  constexpr int width = panel_width<T, C::up_chunk>;
  const int d = step.sizes.d_model, f = step.sizes.d_ff, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const Part part(f, tile.rank, tile.blocks);
  for (int first = part.begin; first < part.end; first += C::up_columns) {
    const int columns = min(C::up_columns, part.end - first);
    const bool busy = warp * 32 < columns;
    Sums<M> sums = {};
    const auto load = [&](int stage, int i) {
      T* const to = shared + stage * C::up_stage;
      const size_t row = static_cast<size_t>(first) * d;
      load_panel<T, C::up_chunk>(to, tile.norm, tile.cores, i * C::up_chunk, d);
      load_panel<T, C::up_chunk>(to + C::cores * width, step.w1 + row, columns, i * C::up_chunk, d);
      load_panel<T, C::up_chunk>(to + (C::cores + C::up_columns) * width, step.w3 + row, columns, i * C::up_chunk, d);
    };
    const auto use = [&](int stage, int) {
      if (!busy) return;
      const T* const a = shared + stage * C::up_stage;
      const T* const w = a + (C::cores + warp * 32) * width;
#pragma unroll
      for (int k = 0; k < C::up_chunk; k += 16)
        multiply<T, M>(sums, a + k, w + k, w + C::up_columns * width + k, width, tile.cores);
    };
    pipeline<C::up_stages>(d / C::up_chunk, load, use);
    if (!busy) continue;
      // STEP 4: gate and up of a column are in the same lane, tiles j and j + 4.
#pragma unroll
    for (int m = 0; m < M; ++m) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int core = m * 16 + i / 2 * 8 + lane / 4, column = first + warp * 32 + j * 8 + lane % 4 * 2 + i % 2;
          if (core >= tile.cores) continue;
          narrow(silu(sums[m][j][i]) * sums[m][j + 4][i], &tile.hidden[static_cast<size_t>(core) * f + column]);
        }
      }
    }
    // END 4
  }
}

// state = hidden w2^T, this block's columns.
template <typename T, int M>
__device__ void multiply_down(const SwapFfn<T>& step, const Tile<T>& tile, T* shared) {
  using C = Cut<T, M>;
  constexpr int width = panel_width<T, C::down_chunk>;
  const int d = step.sizes.d_model, f = step.sizes.d_ff, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const Part part(d, tile.rank, tile.blocks);
  for (int first = part.begin; first < part.end; first += C::down_columns) {
    const int columns = min(C::down_columns, part.end - first);
    Sums<M> sums = {};
    const auto load = [&](int stage, int i) {
      T* const to = shared + stage * C::down_stage;
      load_panel<T, C::down_chunk>(to, tile.hidden, tile.cores, i * C::down_chunk, f);
      load_panel<T, C::down_chunk>(to + C::cores * width, step.w2 + static_cast<size_t>(first) * f, columns,
                                   i * C::down_chunk, f);
    };
    const auto use = [&](int stage, int i) {
      if (i * C::down_chunk + warp * 16 >= f) return;
      const T* const a = shared + stage * C::down_stage + warp * 16;
      const T* const w = a + C::cores * width;
      multiply<T, M>(sums, a, w, columns > 32 ? w + 32 * width : nullptr, width, tile.cores);
    };
    pipeline<C::down_stages>((f + C::down_chunk - 1) / C::down_chunk, load, use);

    float* const parts = reinterpret_cast<float*>(shared);  // (warps, cores, sum_width)
    __syncthreads();
    // STEP 5: every warp's sums to shared memory, then a thread adds up what the warps have of one element.
#pragma unroll
    for (int m = 0; m < M; ++m) {
#pragma unroll
      for (int j = 0; j < 8; ++j) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int core = m * 16 + half * 8 + lane / 4;
          *reinterpret_cast<float2*>(parts + (warp * C::cores + core) * C::sum_width + j * 8 + lane % 4 * 2) =
              make_float2(sums[m][j][half * 2], sums[m][j][half * 2 + 1]);
        }
      }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < tile.cores * columns; i += threads) {
      const int core = i / columns, column = i % columns;
      float sum = 0.0f;
      for (int w = 0; w < warps; ++w) sum += parts[(w * C::cores + core) * C::sum_width + column];
      narrow(sum, &tile.state[static_cast<size_t>(core) * d + first + column]);
    }
    // END 5
  }
}

// The whole step of a tile of 16 M cores, by a group of `blocks` blocks.
template <typename T, int M>
__global__ void __launch_bounds__(threads) tiled_kernel(SwapFfn<T> step, Scratch<T> scratch, int blocks) {
  extern __shared__ uint4 dynamic_shared[];
  using C = Cut<T, M>;
  T* const shared = reinterpret_cast<T*>(dynamic_shared);
  const int d = step.sizes.d_model, warp = threadIdx.x / 32, rank = static_cast<int>(blockIdx.x) % blocks;
  const int first = static_cast<int>(blockIdx.x) / blocks * C::cores;
  const size_t row = static_cast<size_t>(first) * d;
  const Tile<T> tile = {scratch.state + row,
                        scratch.norm + row,
                        scratch.gate + static_cast<size_t>(first) * step.sizes.d_ff,
                        first,
                        min(C::cores, step.sizes.cores - first),
                        rank,
                        blocks};
  // Cores whose norm and router are this block's work.
  const int each = (tile.cores + blocks - 1) / blocks;
  const int begin = min(rank * each, tile.cores), end = min(begin + each, tile.cores);

  for (int core = begin; core < end; ++core) {
    T* const state = tile.state + static_cast<size_t>(core) * d;
    begin_core(step, first + core, [&](int i, float value) { narrow(value, &state[i]); });
  }
  for (int event = 0; event < step.sizes.events; ++event) {
    for (int core = begin; core < end; core += C::own)
      route<T, C::own>(step, tile, core, min(C::own, end - core), reinterpret_cast<float*>(shared));
    for (int i = 0; i < step.sizes.ffn_steps; ++i) {
      __syncthreads();
      for (int core = begin + warp; core < end; core += warps) {
        const size_t at = static_cast<size_t>(core) * d;
        normalise_row(tile.state + at, step.ffn_norm, d,
                      [&](int j, const float(&values)[pack_size<T>]) { store_pack(tile.norm + at + j, values); });
      }
      group_sync(blocks);
      multiply_up<T, M>(step, tile, shared);
      group_sync(blocks);
      multiply_down<T, M>(step, tile, shared);
      group_sync(blocks);
    }
  }
}

// ---- How far to fuse, and the launch
// ---------------------------------------------------------------------------------

// 16 m cores per tile, m being 1 or 4, and the blocks of its group.
struct Tiling {
  int m, blocks;
};

struct Chip {
  int sms, shared_bytes;  // shared: that a block can have
};

constexpr int large_tile_bytes = 200 * 1024;  // of shared memory, with which tiles of 64 cores fit

Tiling choose_tiling([[maybe_unused]] const SwapFfnSizes& s, [[maybe_unused]] const Chip& chip) {
  // STEP 6: the larger a tile, the less often the weights are read; the more blocks, the more of the chip has work. All
  // are at work at once, one on an SM. A block that has fewer than 256 columns of d_ff has idle warps.
  const int m = chip.shared_bytes >= large_tile_bytes && s.cores >= 256 ? 4 : 1;
  const int tiles = (s.cores + 16 * m - 1) / (16 * m), most = s.d_ff / 256 > 1 ? s.d_ff / 256 : 1;
  const int blocks = chip.sms / tiles < most ? chip.sms / tiles : most;
  return {m, blocks > 1 ? blocks : 1};
  // END 6
}

// Whether the chip can do that.
bool possible(const Tiling& tiling, const SwapFfnSizes& s, const Chip& chip) {
  if (tiling.m != 1 && (tiling.m != 4 || chip.shared_bytes < large_tile_bytes)) return false;
  const int tiles = (s.cores + 16 * tiling.m - 1) / (16 * tiling.m);
  return tiling.blocks == 1 || (tiling.blocks > 1 && tiling.blocks <= chip.sms / tiles);
}

template <typename T, int M>
cudaError_t launch_tiled(SwapFfn<T> step, Scratch<T> scratch, int blocks, cudaStream_t stream) {
  // STEP 7: a block for each of the tiles, or a group of blocks, which wait for one another.
  const int tiles = (step.sizes.cores + 16 * M - 1) / (16 * M);
  const size_t shared_bytes = Cut<T, M>::shared_bytes(step.sizes);
  const cudaError_t error = cudaFuncSetAttribute(tiled_kernel<T, M>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                 static_cast<int>(shared_bytes));
  if (error) return error;
  if (blocks == 1) {
    tiled_kernel<T, M><<<tiles, threads, shared_bytes, stream>>>(step, scratch, blocks);
    return cudaGetLastError();
  }
  void* arguments[] = {&step, &scratch, &blocks};
  return cudaLaunchCooperativeKernel(tiled_kernel<T, M>, dim3(tiles * blocks), dim3(threads), arguments, shared_bytes,
                                     stream);
  // END 7
}

template <typename T>
cudaError_t fused_tiled(const SwapFfn<T>& step, cudaStream_t stream) {
  if (!valid(step)) return cudaErrorInvalidValue;
  int device = 0;
  Chip chip = {};
  cudaError_t error = cudaGetDevice(&device);
  if (!error) error = cudaDeviceGetAttribute(&chip.sms, cudaDevAttrMultiProcessorCount, device);
  if (!error) error = cudaDeviceGetAttribute(&chip.shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (error) return error;
  const Tiling tiling = choose_tiling(step.sizes, chip);
  if (!possible(tiling, step.sizes, chip)) return cudaErrorInvalidConfiguration;
  const Scratch<T> scratch(step);
  error = tiling.m == 4 ? launch_tiled<T, 4>(step, scratch, tiling.blocks, stream)
                        : launch_tiled<T, 1>(step, scratch, tiling.blocks, stream);
  return error ? error : collapse(step, scratch, false, stream);
}

RUNG_EXPORT(rung::swap_ffn("unfused", unfused<float>), rung::swap_ffn("unfused", unfused<bf16>),
            rung::swap_ffn("fused_per_core", fused_per_core<float>),
            rung::swap_ffn("fused_per_core", fused_per_core<bf16>), rung::swap_ffn("graphed", graphed<float>),
            rung::swap_ffn("graphed", graphed<bf16>), rung::swap_ffn("fused_tiled", fused_tiled<float>),
            rung::swap_ffn("fused_tiled", fused_tiled<bf16>))
