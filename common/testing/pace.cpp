#include "pace.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace testing_ {

double times_longer(double load, unsigned cores) {
  constexpr double most = 8;
  return cores ? std::clamp(load / cores, 1.0, most) : 1.0;
}

double times_longer() {
  double load = -1;
  return times_longer(getloadavg(&load, 1) == 1 ? load : -1, std::thread::hardware_concurrency());
}

std::string about(double seconds) {
  const bool minutes = seconds >= 90;
  return "about " + std::to_string(std::lround(std::ceil(minutes ? seconds / 60 : seconds))) +
         (minutes ? " min" : " s");
}

const Planned* Pace::find(const std::string& section) const {
  for (const Planned& each : planned_) {
    if (each.section == section) return &each;
  }
  return nullptr;
}

double Pace::estimate(const std::string& label, double cost) const {
  const auto seen = seen_.find(label);
  return seen == seen_.end() ? 0 : cost * seen->second.seconds / seen->second.cost;
}

std::string Pace::line(const std::string& section) const {
  const Planned* now = find(section);
  if (!now || !now->tells) return "";
  double left = 0;
  for (const Planned& each : planned_) {
    if (ended_.count(each.section) == 0) left += estimate(each.label, each.cost);
  }
  return section + ": case " + std::to_string(ended_.size() + 1) + " of " + std::to_string(planned_.size()) +
         (left >= 1 ? ", " + about(left) + " left" : "");
}

void Pace::ended(const std::string& section, double seconds) {
  const Planned* over = find(section);
  if (!over) return;
  ended_.insert(section);
  if (!over->tells) return;
  Seen& seen = seen_[over->label];
  seen.seconds += seconds;
  seen.cost += over->cost;
}

void Pace::show(const std::string& section) {
  static const bool on_screen = isatty(STDOUT_FILENO);
  const std::string text = on_screen ? line(section) : "";
  if (text.empty()) return;
  printf("\r\033[K%s", text.c_str());
  fflush(stdout);
  shown_ = true;
}

void Pace::hide() {
  if (shown_) printf("\r\033[K");
  shown_ = false;
}

}  // namespace testing_
