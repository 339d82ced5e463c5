// Counts the bytes that a variant moves, on the executor, with the rung's instrumented build. They depend on the shape,
// not on the machine: points that were measured on a GPU get theirs here too.
#pragma once

#include <cstdint>
#include <string>

#include "client.h"
#include "measure.h"

namespace bench {

struct Traffic {
  int64_t l1_bytes = 0;         // sector bytes: sectors of all requests of global loads, stores and atomics, x 32
  int64_t footprint_bytes = 0;  // distinct sectors that a launch reads, and that it writes, x 32: what DRAM must move
  int counted_rows = 0;         // scaled up from these; 0: not counted
};

// How many rows of a shape are counted: all rows of a small shape, else a part that the other rows repeat exactly. Each
// row of such a part begins at the same offset in its sector as the corresponding row of the next part, and the part is
// a multiple of 32 rows, for kernels with one row per lane. most: at most this many, if such a part exists.
int rows_to_count(const rung::VariantInfo& variant, int rows, int cols, int k, int most);

// Adds up the launches of a report (simt/counters/counters.h, to_json). Throws Error if `report` is not such a report.
Traffic traffic_of(const std::string& report);

// Counts one launch on `part`, which has rows_to_count() rows, and scales the counts to `rows`. client: runs the
// instrumented rung in the executor's worker. like: the variant. If nothing could be counted, *problem says why.
Traffic count(rung::Client& client, const rung::VariantInfo& like, Workload& part, int rows, std::string* problem);

// Seconds after which counting gives up.
constexpr double count_time_limit = 30;

}  // namespace bench
