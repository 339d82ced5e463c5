#include "softmax_topk/demands.h"

#include "words.h"

namespace testing_ {

Demand writes_only_the_top_k() {
  return [](const Count& count) -> Judgement {
    const int k = rung::softmax_topk_operator::k_of(count.sizes);
    const double copied = count.copies(count.copied_written);
    const double bytes = (count.store.bytes + count.atomic.bytes + copied) / count.rows, needed = 8.0 * k;
    if (bytes == needed && count.atomic.bytes == 0) return {};
    return unmet(brief(bytes) + " bytes written per row where 8 bytes x " + std::to_string(k) + " are " +
                 whole(needed) + by_copies(copied) +
                 worst_line(count, [](const LineCount& line) { return line.store.bytes + line.atomic.bytes; }));
  };
}

Demand few_warp_operations() {
  return [](const Count& count) -> Judgement {
    const double made = count.warp_operations / count.rows, most = count.cols / 8.0;
    if (made <= most) return {};
    return unmet("a row's warps execute " + brief(made) + " shuffles and votes, where one per 8 of its " +
                 std::to_string(count.cols) + " logits would be " + brief(most) +
                 ": set aside what passes the threshold, and process it in bulk");
  };
}

}  // namespace testing_
