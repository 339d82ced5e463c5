#include "softmax_topk/demands.h"

#include <algorithm>

#include "words.h"

namespace testing_ {

Demand writes_the_top_k() {
  return [](const Count& count) -> Judgement {
    // Parts of a row leave their best behind for whoever merges them, and blocks that draw rows have a counter. All
    // probabilities, or a copy of the row, are as long as the row. A second kernel may write the K probabilities again,
    // and a factor for the row.
    constexpr double part = 1.0 / 4, factor = 16;
    const int k = rung::softmax_topk_operator::k_of(count.sizes);
    const double copied = count.copies(count.copied_written);
    const double bytes = (count.store.bytes + count.atomic.bytes + copied) / count.rows, needed = 8.0 * k;
    const double most = needed + std::max(part * count.matrix_bytes() / count.rows, 4.0 * k + factor);
    if (bytes >= needed && bytes <= most) return {};
    return unmet(brief(bytes) + " bytes written per row; 8 bytes x " + std::to_string(k) + " are " + whole(needed) +
                 ", and with partial results at most " + whole(most) + " are allowed" + by_copies(copied) +
                 worst_line(count, [](const LineCount& line) { return line.store.bytes + line.atomic.bytes; }));
  };
}

Demand few_warp_operations() {
  return [](const Count& count) -> Judgement {
    const double made = count.warp_operations / count.rows, most = count.cols / 8.0;
    if (made <= most) return {};
    return unmet("a row's warps execute " + brief(made) + " shuffles and votes; one per 8 of its " +
                 std::to_string(count.cols) + " logits would be " + brief(most) +
                 ": set aside what passes the threshold, and process it in bulk");
  };
}

}  // namespace testing_
