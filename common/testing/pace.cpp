#include "pace.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>

#include "check.h"

namespace testing_ {
namespace {

std::string section_of(const Step& step) {
  return step.label + " / " + step.test_case.group + " / " + step.test_case.name;
}

const Step* find(const std::string& section) {
  for (const Step& step : session().steps) {
    if (section_of(step) == section) return &step;
  }
  return nullptr;
}

// A case whose cost and time say something of larger ones.
bool tells(const Step& step) { return !step.test_case.move && !is_small(step); }

}  // namespace

std::string about(double seconds) {
  const bool minutes = seconds >= 90;
  return "about " + std::to_string(std::lround(std::ceil(minutes ? seconds / 60 : seconds))) +
         (minutes ? " min" : " s");
}

double Pace::estimate(const std::string& label, double cost) const {
  const auto seen = seen_.find(label);
  return seen == seen_.end() ? 0 : cost * seen->second.seconds / seen->second.cost;
}

void Pace::begin(const std::string& section) {
  static const bool on_screen = isatty(STDOUT_FILENO);
  const Step* step = on_screen ? find(section) : nullptr;
  if (!step || !tells(*step)) return;
  double left = 0;
  for (const Step& other : session().steps) {
    if (ended_.count(section_of(other)) == 0) left += estimate(other.label, other.cost);
  }
  printf("\r\033[K%s: case %zu of %zu", section.c_str(), ended_.size() + 1, session().steps.size());
  if (left >= 1) printf(", %s left", about(left).c_str());
  fflush(stdout);
  shown_ = true;
}

void Pace::end(const std::string& section, double seconds) {
  const Step* step = find(section);
  if (!step) return;
  ended_.insert(section);
  if (!tells(*step)) return;
  Seen& seen = seen_[step->label];
  seen.seconds += seconds;
  seen.cost += step->cost;
}

void Pace::hide() {
  if (shown_) printf("\r\033[K");
  shown_ = false;
}

}  // namespace testing_
