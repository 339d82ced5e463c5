// cub::DeviceTransform: a function of one item of each input.
#pragma once

#include "../../cuda/std/tuple"
#include "run.cuh"

namespace cub {

struct DeviceTransform {
  template <typename... In, typename Out, typename Count, typename Function>
  static cudaError_t Transform(::cuda::std::tuple<In...> in, Out out, Count count, Function function,
                               cudaStream_t stream = nullptr) {
    return ::cuda::std::apply([=](auto... each) { return run(out, count, function, stream, each...); }, in);
  }
  template <typename In, typename Out, typename Count, typename Function>
  static cudaError_t Transform(In in, Out out, Count count, Function function, cudaStream_t stream = nullptr) {
    return run(out, count, function, stream, in);
  }

 private:
  template <typename Out, typename Count, typename Function, typename... In>
  static cudaError_t run(Out out, Count count, Function function, cudaStream_t stream, In... in) {
    const ::std::tuple<detail::Bare<In>...> inputs(detail::bare(in)...);
    return thrust::detail::launch(stream, "cub::DeviceTransform::Transform", [=, out = detail::bare(out)] {
      Function own = function;
      for (Count i = 0; i < count; i++)
        out[i] = ::std::apply([&](const auto&... each) { return own(each[i]...); }, inputs);
    });
  }
};

}  // namespace cub
