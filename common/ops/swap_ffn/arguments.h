// The operator of lab 07: one decode step of a Swap-FFN layer, with many tensors where softmax has one matrix.
//
// `cores` states run through the same weights. Each core c has a row x_c and four banks of RAM; a map of four lanes,
// two bits each, says which physical bank each logical bank is: lane i is bits 2i and 2i + 1.
//
//     x_c = x * scale_c + shift_c
//     `events` times:
//       n = x_c / rms(x_c) * router_norm               rms(x)^2 = mean of the squares + epsilon
//       z = router_w n
//       if swap_w . z + biases[0] > 0:                 that is, sigmoid of it above 0.5
//         logical = argmax of bank_w z + biases[1..4], the lower one if equal
//         exchange x_c with bank lane[logical] of RAM; exchange lane[0] with lane[logical]
//       `ffn_steps` times:
//         n = x_c / rms(x_c) * ffn_norm
//         x_c = w2 (silu(w1 n) * (w3 n))               silu(g) = g / (1 + exp(-g))
//     pooled_k = sum over c of alpha_ck x_c
//     s_r = sum over k of basis_kr . pooled_k
//     delta = decoder silu(s)
//
// T is the type of all weights and of the states between operations; sums are at least in fp32.
//
// Plain C++, but for the last part: the judge includes it without CUDA.
#pragma once

#include <initializer_list>

#include "../arguments.h"

namespace rung {

struct SwapFfnSizes {
  int32_t d_model, d_ff;  // multiples of 32
  int32_t cores;
  int32_t events, ffn_steps;
  int32_t d_router;  // a multiple of 8, at most 128
  int32_t collapse_k, collapse_r;
};

constexpr int swap_ffn_banks = 4;
constexpr float swap_ffn_epsilon = 1e-6f;

// The sizes for which the figures of lab 07 are measured, and those by which its counters count.
constexpr SwapFfnSizes swap_ffn_full = {1024, 4096, 512, 8, 2, 64, 8, 224};
constexpr SwapFfnSizes swap_ffn_small = {32, 64, 32, 2, 2, 16, 2, 24};

// For commands that know only rows and columns: all else in proportion to swap_ffn_full, as far as that is valid.
constexpr SwapFfnSizes swap_ffn_of(int cores, int d_model) {
  SwapFfnSizes s = swap_ffn_full;
  s.cores = cores;
  s.d_model = d_model;
  s.d_ff = d_model > 8192 ? 0 : 4 * d_model;
  return s;
}

// Whether a rung must take these sizes.
constexpr bool valid(const SwapFfnSizes& s) {
  return s.d_model > 0 && s.d_model % 32 == 0 && s.d_model <= 8192 && s.d_ff > 0 && s.d_ff % 32 == 0 &&
         s.d_ff <= 32768 && s.cores > 0 && s.cores <= 1 << 16 && s.events >= 0 && s.events <= 1000 &&
         s.ffn_steps >= 0 && s.ffn_steps <= 1000 && s.d_router > 0 && s.d_router % 8 == 0 && s.d_router <= 128 &&
         s.collapse_k > 0 && s.collapse_k <= 64 && s.collapse_r > 0 && s.collapse_r <= 4096;
}

// What a variant is called with: pointers to device memory, each aligned to 256 bytes, tensors row-major and
// contiguous.
template <typename T>
struct SwapFfn {
  SwapFfnSizes sizes;
  const T* x;            // (d_model)
  const T* scale;        // (cores, d_model)
  const T* shift;        // (cores, d_model)
  const T* alpha;        // (cores, collapse_k)
  const T* router_norm;  // (d_model)
  const T* router_w;     // (d_router, d_model)
  const T* swap_w;       // (d_router)
  const T* bank_w;       // (4, d_router)
  const T* biases;       // (5): of the swap, then of the four banks
  const T* ffn_norm;     // (d_model)
  const T* w1;           // (d_ff, d_model)
  const T* w3;           // (d_ff, d_model)
  const T* w2;           // (d_model, d_ff)
  const T* basis;        // (collapse_k, collapse_r, d_model)
  const T* decoder;      // (d_model, collapse_r)
  const T* ram;          // (cores, 4, d_model)
  const uint8_t* lanes;  // (cores)
  float* delta;          // (d_model), output
  T* ram_out;            // (cores, 4, d_model), output
  uint8_t* lanes_out;    // (cores), output
  void* workspace;       // workspace_bytes(sizes, sizeof(T)), for any use by a variant; its contents are undefined
};

template <typename T>
bool valid(const SwapFfn<T>& s) {
  return valid(s.sizes) && s.x && s.scale && s.shift && s.alpha && s.router_norm && s.router_w && s.swap_w &&
         s.bank_w && s.biases && s.ffn_norm && s.w1 && s.w3 && s.w2 && s.basis && s.decoder && s.ram && s.lanes &&
         s.delta && s.ram_out && s.lanes_out && s.workspace;
}

// ---- Where the tensors lie -----------------------------------------------------------------------

// All inputs lie in one buffer, RAM and lanes after the step in another.
constexpr int swap_ffn_inputs = 17;
constexpr int swap_ffn_w1 = 10;  // its index; w3 and w2 follow

struct SwapFfnLayout {
  Tensor inputs[swap_ffn_inputs];  // in the order of SwapFfn, x to lanes
  Tensor delta;                    // of the first output
  Tensor ram, lanes;               // of the second
  size_t input_bytes, output_bytes[2], workspace_bytes;
};

// A step with `element_bytes` per number. 256 bytes or more lie between two tensors, so that an access past the end of
// one is not yet in the next. sizes: valid.
inline SwapFfnLayout layout_of(const SwapFfnSizes& sizes, size_t element_bytes) {
  const size_t d = static_cast<size_t>(sizes.d_model), f = static_cast<size_t>(sizes.d_ff);
  const size_t cores = static_cast<size_t>(sizes.cores), router = static_cast<size_t>(sizes.d_router);
  const size_t k = static_cast<size_t>(sizes.collapse_k), r = static_cast<size_t>(sizes.collapse_r);
  const size_t t = element_bytes, banks = swap_ffn_banks;
  SwapFfnLayout layout = {{{"x", 0, 1, d, t, 0},
                           {"scale", 0, cores, d, t, 0},
                           {"shift", 0, cores, d, t, 0},
                           {"alpha", 0, cores, k, t, 0},
                           {"router_norm", 0, 1, d, t, 0},
                           {"router_w", 0, router, d, t, 0},
                           {"swap_w", 0, 1, router, t, 0},
                           {"bank_w", 0, banks, router, t, 0},
                           {"biases", 0, 1, 1 + banks, t, 0},
                           {"ffn_norm", 0, 1, d, t, 0},
                           {"w1", 0, f, d, t, 0},
                           {"w3", 0, f, d, t, 0},
                           {"w2", 0, d, f, t, 0},
                           {"basis", 0, k * r, d, t, 0},
                           {"decoder", 0, d, r, t, 0},
                           {"ram", 0, cores * banks, d, t, 0},
                           {"lanes", 0, 1, cores, 1, 0}},
                          {"delta", 1, 1, d, sizeof(float), 0},
                          {"ram_out", 2, cores * banks, d, t, 0},
                          {"lanes_out", 2, 1, cores, 1, 0},
                          0,
                          {0, 0},
                          0};
  const auto behind = [](const Tensor& place) { return aligned(place.offset + place.bytes()) + 256; };
  for (int i = 1; i < swap_ffn_inputs; i++) layout.inputs[i].offset = behind(layout.inputs[i - 1]);
  layout.lanes.offset = behind(layout.ram);
  layout.input_bytes = layout.inputs[swap_ffn_inputs - 1].offset + layout.inputs[swap_ffn_inputs - 1].bytes();
  layout.output_bytes[0] = layout.delta.bytes();
  layout.output_bytes[1] = layout.lanes.offset + layout.lanes.bytes();
  // Rows of activations in fp32: gate and up, the state and three more of its width, the router's; then the collapse.
  const size_t row = 2 * f + 4 * d + 2 * router + 64;
  layout.workspace_bytes = 4 * (cores * row + (k + 1) * d + r) + 16 * 256;
  return layout;
}

// The struct that a variant gets, its tensors in four buffers as layout_of says; null for a buffer makes its tensors
// null. The sizes go on as they are, also when they are nonsense; the tensors then all lie at their buffer's start.
// T stands for any element type of `element_bytes`: every pointer to an object is passed alike.
template <typename T>
SwapFfn<T> swap_ffn_arguments(const SwapFfnSizes& sizes, size_t element_bytes, void* input, void* first_output,
                              void* second_output, void* workspace) {
  SwapFfnLayout layout = {};
  if (valid(sizes)) layout = layout_of(sizes, element_bytes);
  int next = 0;
  const auto at = [](void* base, const Tensor& place) -> void* {
    return base ? static_cast<unsigned char*>(base) + place.offset : nullptr;
  };
  const auto tensor = [&] { return static_cast<const T*>(at(input, layout.inputs[next++])); };
  SwapFfn<T> step = {};
  step.sizes = sizes;
  for (const T** pointer :
       {&step.x, &step.scale, &step.shift, &step.alpha, &step.router_norm, &step.router_w, &step.swap_w, &step.bank_w,
        &step.biases, &step.ffn_norm, &step.w1, &step.w3, &step.w2, &step.basis, &step.decoder, &step.ram}) {
    *pointer = tensor();
  }
  step.lanes = static_cast<const uint8_t*>(at(input, layout.inputs[next]));
  step.delta = static_cast<float*>(at(first_output, layout.delta));
  step.ram_out = static_cast<T*>(at(second_output, layout.ram));
  step.lanes_out = static_cast<uint8_t*>(at(second_output, layout.lanes));
  step.workspace = workspace;
  return step;
}

// ---- As an operator -------------------------------------------------------------------------------

// Its rows are the cores, as wide as the model.
inline Sizes sizes_of(const SwapFfnSizes& s) {
  return {s.cores, s.d_model, {s.d_ff, s.events, s.ffn_steps, s.d_router, s.collapse_k, s.collapse_r}};
}
inline SwapFfnSizes swap_ffn_sizes(const Sizes& s) {
  return {s.cols, s.more[0], s.rows, s.more[1], s.more[2], s.more[3], s.more[4], s.more[5]};
}

namespace swap_ffn_operator {

inline bool plan(const Sizes& given, Dtype dtype, Plan* plan) {
  const SwapFfnSizes sizes = swap_ffn_sizes(given);
  if (!valid(sizes)) return false;
  const SwapFfnLayout layout = layout_of(sizes, static_cast<size_t>(bytes_of(dtype)));
  for (const Tensor& input : layout.inputs) plan->add(input);
  for (const Tensor& output : {layout.delta, layout.ram, layout.lanes}) plan->add(output);
  plan->add({"workspace", workspace_buffer, 1, layout.workspace_bytes / 4, 4, 0});
  // The weights of an FFN, which follow each other.
  const Tensor &first = layout.inputs[swap_ffn_w1], &last = layout.inputs[swap_ffn_w1 + 2];
  plan->watched_offset = first.offset;
  plan->watched_bytes = last.offset + last.bytes() - first.offset;
  return true;
}

inline Sizes sizes_of(int rows, int cols, int) { return rung::sizes_of(swap_ffn_of(rows, cols)); }

inline constexpr Arguments arguments = {
    "swap_ffn", false, {"the inputs", "delta", "RAM and lanes", "the workspace"}, plan, sizes_of, true, nullptr};

}  // namespace swap_ffn_operator

#ifdef LADDER_HAS_CUDA
namespace swap_ffn_operator {

// One decode step of a Swap-FFN layer. Returns cudaErrorInvalidValue where valid(step) is false.
template <typename T>
using Function = cudaError_t(const SwapFfn<T>& step, cudaStream_t stream);

inline cudaError_t call(void (*launch)(), void* const* buffers, const Sizes& sizes, Dtype dtype, cudaStream_t stream) {
  return reinterpret_cast<Function<float>*>(launch)(
      swap_ffn_arguments<float>(swap_ffn_sizes(sizes), static_cast<size_t>(bytes_of(dtype)), buffers[0], buffers[1],
                                buffers[2], buffers[workspace_buffer]),
      stream);
}

}  // namespace swap_ffn_operator
#endif

}  // namespace rung
