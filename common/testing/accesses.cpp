// Whether accesses of global memory are made as the hardware serves them best: neighbouring lanes at neighbouring
// addresses, and 16 bytes per lane.
#include <algorithm>
#include <cmath>

#include "moves.h"
#include "words.h"

namespace testing_ {
namespace {

std::string sectors_per_request(const Traffic& all) {
  const std::string sectors = brief(all.sectors / std::max(1.0, all.requests));
  return sectors + (sectors == "1" ? " sector" : " sectors") + " per request";
}

// Loads and stores, each with its name, for demands on both.
struct Direction {
  const char *past, *plural;
  Traffic Count::*total;
  Traffic LineCount::*of_line;
};
constexpr Direction directions[] = {{"read", "loads", &Count::load, &LineCount::load},
                                    {"written", "stores", &Count::store, &LineCount::store}};

// Without the lines that are not half as wide, if all of them are for little: partial results, a factor of the row, its
// ends.
Traffic besides_narrow_lines(const Count& count, const Direction& direction, int bytes) {
  constexpr double little = 1.0 / 8;
  Traffic narrow;
  for (const LineCount& line : count.lines) {
    const Traffic& mine = line.*direction.of_line;
    if (mine.bytes >= 16.0 * bytes * mine.requests) continue;
    narrow.requests += mine.requests, narrow.sectors += mine.sectors, narrow.bytes += mine.bytes;
  }
  Traffic all = count.*direction.total;
  if (narrow.sectors * 32 > little * count.matrix_bytes()) return all;
  all.requests -= narrow.requests, all.sectors -= narrow.sectors, all.bytes -= narrow.bytes;
  return all;
}

}  // namespace

Demand coalesced() {
  return [](const Count& count) -> Judgement {
    const bool aligned = count.cols * count.element_bytes % 32 == 0;
    for (const Direction& direction : directions) {
      const Traffic& all = count.*direction.total;
      const double needed = all.bytes / 32 + (aligned ? 0 : all.requests);
      // Of each row something may be read or written that is no element, as a counter or a flag is.
      if (all.requests == 0 || all.sectors <= needed + (aligned ? count.rows : 0)) continue;
      return unmet(std::string(direction.past) + " with " + sectors_per_request(all) + ", but " +
                   brief(needed / all.requests) + " would be enough: " + whole(all.sectors) + " sectors for " +
                   whole(all.bytes) + " bytes" + worst_line(count, [&](const LineCount& line) {
                     const Traffic& mine = line.*direction.of_line;
                     return mine.sectors - mine.bytes / 32;
                   }));
    }
    return {};
  };
}

Demand bytes_per_lane(int bytes) {
  return [bytes](const Count& count) -> Judgement {
    for (const Direction& direction : directions) {
      const Traffic all = besides_narrow_lines(count, direction, bytes);
      if (all.requests == 0) return unmet(std::string("no ") + direction.plural + " of global memory were counted");
      const double per_lane = all.bytes / all.requests / 32;
      if (per_lane >= bytes && all.sectors <= all.bytes / 32) continue;
      // Nearly all lanes are as wide as they should be: what is left are the ends of rows.
      if (per_lane >= 0.9 * bytes && all.sectors > 1.02 * all.bytes / 32) {
        return unmet(
            std::string(direction.plural) + " move " + brief(per_lane) + " bytes per lane, but with " +
            sectors_per_request(all) + ", and " + brief(all.bytes / 32 / all.requests) +
            " would be enough: a request does not begin at the start of a sector (a multiple of 32 bytes). Where "
            "does the first wide access of a row begin?" +
            worst_line(count, [&](const LineCount& line) {
              const Traffic& mine = line.*direction.of_line;
              return mine.sectors - mine.bytes / 32;
            }));
      }
      return unmet(std::string(direction.plural) + " move " + brief(per_lane) + " bytes per lane, " +
                   sectors_per_request(all) + "; with " + std::to_string(bytes) + " bytes per lane it would be " +
                   std::to_string(bytes) + ": " + whole(all.requests) + " requests instead of " +
                   whole(all.bytes / bytes / 32) + worst_line(count, [&](const LineCount& line) {
                     const Traffic& mine = line.*direction.of_line;
                     return mine.requests - mine.bytes / bytes / 32;
                   }));
    }
    return {};
  };
}

Demand nearly_bytes_per_lane(int bytes, int spare) {
  return [bytes, spare](const Count& count) -> Judgement {
    const double needed = std::ceil(static_cast<double>(count.cols) * count.element_bytes / bytes / 32);
    for (const Direction& direction : directions) {
      const Traffic all = besides_narrow_lines(count, direction, bytes);
      if (all.requests == 0) return unmet(std::string("no ") + direction.plural + " of global memory were counted");
      const double passes = all.bytes / count.matrix_bytes();
      const double per_row = all.requests / passes / count.rows;
      if (per_row <= needed + spare) continue;
      return unmet(brief(per_row) + " requests per row that is " + direction.past + "; with " + std::to_string(bytes) +
                   " bytes per lane " + whole(needed) + " are enough, and at most " + std::to_string(spare) +
                   " more for the row's ends" +
                   worst_line(count, [&](const LineCount& line) { return (line.*direction.of_line).requests; }));
    }
    return {};
  };
}

Demand bytes_per_element(int bytes) {
  return [bytes](const Count& count) -> Judgement {
    // Several kernels may read the matrix, and what parts of rows have found.
    const double sectors = count.largest_footprint, counted = sectors * 32 / count.elements();
    const bool besides_nothing = count.footprint_read == sectors;
    if (besides_nothing ? counted <= bytes
                        : sectors * 32 <= count.elements() * bytes + partial_results(count) && !keeps_a_copy(count))
      return {};
    return unmet("the matrix takes " + brief(counted) + " bytes per element: " + whole(sectors) +
                 " different sectors were read; with " + std::to_string(bytes) + " bytes per element it would be " +
                 whole(count.elements() * bytes / 32) +
                 worst_line(count, [](const LineCount& line) { return line.load.bytes; }));
  };
}

Demand said_what_loads_cost() {
  return [](const Count& count) -> Judgement {
    return {true, "what it costs, counted on " + std::to_string(count.rows) + " x " + std::to_string(count.cols) +
                      ": every element is read " + times_of(count.load.bytes / count.matrix_bytes()) + ", with " +
                      sectors_per_request(count.load) +
                      worst_line(count, [](const LineCount& line) { return line.load.sectors; })};
  };
}

}  // namespace testing_
