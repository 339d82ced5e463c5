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

// TODO 0: predict before you write code, in place of each rung::unknown; `make lab07 CASE='predict-*'` says how far off you
// are. Sizes: 32 cores, d_model 32, d_ff 64, 2 events of 2 FFN steps.
RUNG_PREDICT(
    // unfused: kernels and GEMMs that are launched.
    {"unfused_launches", rung::unknown},
    // fused_per_core, bf16: requested bytes of the FFN's weights, of all loads.
    {"per_core_weight_bytes", rung::unknown},
    // fused_tiled, bf16, tiles of 16 cores: the same.
    {"tiled_weight_bytes", rung::unknown},
    // The same with cuBLAS, if every GEMM reads each of its operands once.
    {"unfused_weight_bytes", rung::unknown},
    // bf16, at the course's sizes on an H200: how many times longer than graphed does fused_per_core take? A
    // factor of 2 counts as right.
    {"per_core_slower", rung::unknown},
    // fused_per_core, bf16, the same: what limits it? rung::limit::dram, l2, lsu, issue, mufu or latency.
    {"per_core_limit", rung::unknown})
// END 0

#include "fusion/panel.h"
#include "fusion/per_core.h"
#include "fusion/tile.h"
#include "fusion/unfused.h"

// ---- graphed --------------------------------------------------------------------------------------------------------

// The graph of one step: what unfused launches, recorded and not run.
template <typename T>
cudaError_t record(const SwapFfn<T>& step, cudaGraphExec_t* exec) {
  // TODO 1: make a stream of your own (the null stream cannot be captured), begin to capture, call unfused() on it, end
  // the capture in any case, instantiate the graph, and destroy what is no longer needed. Return the first error.
  (void)step, (void)exec;
  return cudaErrorUnknown;
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
  // TODO 2: the block's threads take the panel's packs of 16 bytes in turn, neighbouring threads neighbouring packs.
  // copy_pack(to, from) moves one. Rows of the panel are panel_width<T, Chunk> apart, rows of the matrix k_end.
  (void)panel, (void)from, (void)rows, (void)k, (void)k_end;
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
  // TODO 3: the plain path: each lane computes its own sums (Sums says which they are) over 16 columns of k. widen()
  // makes a float of a T. Skip cores that do not exist, and tiles 4 to 7 where there is no second half.
  (void)sums, (void)a, (void)w, (void)w_second, (void)width, (void)cores;
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
    // TODO 4: hidden = silu(gate) * up for every sum of this lane. Tile j + 4 has the up of tile j's gate, at the same
    // place in the same lane. Skip cores that do not exist.
    (void)lane;
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
    // TODO 5: every warp stores its sums to its own part of `parts`; a barrier; then each thread adds up the eight warps'
    // sums of one element after another and stores the result to tile.state.
    (void)parts, (void)lane;
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
  // TODO 6: how far to fuse. Cores per tile, 16 or 64: how often are the weights read with each, and how many tiles are
  // there for the chip's SMs? Then the blocks of a tile: what must be true of all of them, if they wait for each other?
  // Does every warp of a block still have 32 columns of d_ff?
  return {};
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
  // TODO 7: launch tiled_kernel<T, M>: how many tiles, and how many bytes of dynamic shared memory (Cut), which is more
  // than 48 KB? What kind of launch do blocks need that wait for each other? With one block per tile none waits.
  (void)step, (void)scratch, (void)blocks, (void)stream;
  return cudaErrorNotSupported;
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
