#include "busiest.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace simt::timing {

uint64_t steps_of(const BlockProgram& program) {
  uint64_t steps = 0;
  for (const WarpProgram& warp : program.warps) {
    for (const WindowUse& use : warp.windows) steps += use.window->steps.size();
  }
  return steps;
}

bool differ(const std::vector<uint32_t>& work) {
  const auto [least, longest] = std::minmax_element(work.begin(), work.end());
  return !work.empty() && *longest > 1.5 * *least;
}

namespace {

uint64_t lines_of(const BlockProgram& program) {
  uint64_t lines = 0;
  for (const WarpTrace& warp : program.trace->warps) lines += warp.lines.size();
  return lines;
}

}  // namespace

Busiest busiest(const std::vector<uint32_t>& work, const std::vector<BlockProgram>& programs, const Machine& machine) {
  const auto sms = std::min(static_cast<size_t>(machine.multiprocessors), work.size());
  std::map<uint32_t, std::vector<const BlockProgram*>> by_work;
  for (const BlockProgram& program : programs) by_work[work[program.trace->number]].push_back(&program);
  std::vector<double> steps(sms, 0), lines(sms, 0);
  std::vector<const BlockProgram*> nearest(work.size());
  for (size_t block = 0; block < work.size(); block++) {
    auto found = by_work.lower_bound(work[block]);
    if (found == by_work.end() ||
        (found != by_work.begin() && work[block] - std::prev(found)->first < found->first - work[block]))
      --found;
    const double share = static_cast<double>(work[block]) / std::max(1u, found->first);
    // In turn: the same one again and again would find its own lines in L1.
    nearest[block] = found->second[block / sms % found->second.size()];
    steps[block % sms] += share * static_cast<double>(steps_of(*nearest[block]));
    lines[block % sms] += share * static_cast<double>(lines_of(*nearest[block]));
  }
  const auto most = static_cast<size_t>(std::max_element(steps.begin(), steps.end()) - steps.begin());
  Busiest found;
  double own = 0;
  for (size_t block = most; block < work.size(); block += sms) {
    found.programs.push_back(nearest[block]);
    own += static_cast<double>(steps_of(*nearest[block]));
  }
  if (own > 0) found.over_own = steps[most] / own;
  const double all = std::accumulate(lines.begin(), lines.end(), 0.0);
  if (all > 0) found.over_mean = lines[most] * static_cast<double>(sms) / all;
  return found;
}

}  // namespace simt::timing
