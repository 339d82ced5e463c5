// Other orders of the same items: what a predicate puts first, and back to front.
#pragma once

#include "copying.h"

namespace thrust {
namespace detail {

// keep(i): is it among the first? Those and the others stay in their order. Returns how many are.
template <typename Where, typename It, typename Keep>
std::ptrdiff_t parted(const Where& where, It first, It last, const Keep& keep) {
  const std::ptrdiff_t count = last - first;
  if (count <= 0) return 0;
  ScratchOf<Where, ValueOf<It>> memory(static_cast<size_t>(count));
  return compute<std::ptrdiff_t>(where, "thrust::partition", [=, in = bare(first), others = memory.get()] {
    Keep own = keep;
    std::ptrdiff_t kept = 0, left = 0;
    for (std::ptrdiff_t i = 0; i < count; i++) {
      const ValueOf<It> item = in[i];
      if (own(i))
        in[kept++] = item;
      else
        new (others + left++) ValueOf<It>(item);
    }
    for (std::ptrdiff_t i = 0; i < left; i++) in[kept + i] = others[i];
    return kept;
  });
}

template <typename Where, typename It, typename Predicate>
It stable_partition_(const Where& where, It first, It last, Predicate predicate) {
  return first + parted(where, first, last,
                        [in = bare(first), predicate](std::ptrdiff_t i) mutable { return predicate(in[i]); });
}
template <typename Where, typename It, typename Stencil, typename Predicate>
It stable_partition_(const Where& where, It first, It last, Stencil stencil, Predicate predicate) {
  return first + parted(where, first, last,
                        [s = bare(stencil), predicate](std::ptrdiff_t i) mutable { return predicate(s[i]); });
}
template <typename Where, typename It, typename... Rest>
It partition_(const Where& where, It first, It last, const Rest&... rest) {
  return stable_partition_(where, first, last, rest...);
}

template <typename Where, typename In, typename OutYes, typename OutNo, typename Predicate>
std::pair<OutYes, OutNo> stable_partition_copy_(const Where& where, In first, In last, OutYes yes, OutNo no,
                                                Predicate predicate) {
  const std::ptrdiff_t count = last - first;
  const auto kept =
      compute<std::ptrdiff_t>(where, "thrust::partition_copy", [=, in = bare(first), a = bare(yes), b = bare(no)] {
        Predicate own = predicate;
        std::ptrdiff_t n = 0;
        for (std::ptrdiff_t i = 0; i < count; i++) {
          const ValueOf<In> item = in[i];
          if (own(item))
            a[n++] = item;
          else
            b[i - n] = item;
        }
        return n;
      });
  return {yes + kept, no + (count - kept)};
}
template <typename Where, typename In, typename Stencil, typename OutYes, typename OutNo, typename Predicate>
std::pair<OutYes, OutNo> stable_partition_copy_(const Where& where, In first, In last, Stencil stencil, OutYes yes,
                                                OutNo no, Predicate predicate) {
  const std::ptrdiff_t count = last - first;
  const auto kept = compute<std::ptrdiff_t>(where, "thrust::partition_copy",
                                            [=, in = bare(first), s = bare(stencil), a = bare(yes), b = bare(no)] {
                                              Predicate own = predicate;
                                              std::ptrdiff_t n = 0;
                                              for (std::ptrdiff_t i = 0; i < count; i++) {
                                                if (own(s[i]))
                                                  a[n++] = in[i];
                                                else
                                                  b[i - n] = in[i];
                                              }
                                              return n;
                                            });
  return {yes + kept, no + (count - kept)};
}
template <typename Where, typename It, typename Predicate>
It partition_point_(const Where& where, It first, It last, Predicate predicate) {
  return first + compute<std::ptrdiff_t>(where, "thrust::partition_point", [=, in = bare(first), count = last - first] {
           Predicate own = predicate;
           std::ptrdiff_t i = 0;
           while (i < count && own(in[i])) i++;
           return i;
         });
}
template <typename Where, typename It, typename Predicate>
bool is_partitioned_(const Where& where, It first, It last, Predicate predicate) {
  return compute<bool>(where, "thrust::is_partitioned", [=, in = bare(first), count = last - first] {
    Predicate own = predicate;
    std::ptrdiff_t i = 0;
    while (i < count && own(in[i])) i++;
    while (i < count && !own(in[i])) i++;
    return i == count;
  });
}
template <typename Where, typename... Rest>
auto partition_copy_(const Where& where, const Rest&... rest) {
  return stable_partition_copy_(where, rest...);
}

template <typename Where, typename In, typename Out>
Out reverse_copy_(const Where& where, In first, In last, Out to) {
  const auto back = make_reverse_iterator(last);
  return copy_(where, back, back + (last - first), to);
}
template <typename Where, typename It>
void reverse_(const Where& where, It first, It last) {
  run(where, "thrust::reverse", [=, in = bare(first), count = last - first] {
    for (std::ptrdiff_t i = 0; i < count / 2; i++) {
      const ValueOf<It> item = in[i];
      in[i] = ValueOf<It>(in[count - 1 - i]);
      in[count - 1 - i] = item;
    }
  });
}

}  // namespace detail

SIMT_THRUST(partition)
SIMT_THRUST(stable_partition)
SIMT_THRUST(partition_copy)
SIMT_THRUST(stable_partition_copy)
SIMT_THRUST(partition_point)
SIMT_THRUST(is_partitioned)
SIMT_THRUST(reverse)
SIMT_THRUST(reverse_copy)

}  // namespace thrust
