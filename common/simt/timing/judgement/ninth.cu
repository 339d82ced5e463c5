// The ninth set: quantised networks, trees and tables, layers and attention, benchmarks of science, points and graphs,
// in the ways of public repositories. Written and predicted before anything of it was timed.
#include "../calibration/calibration.h"

namespace calibration {

std::vector<Case> ninth_quantised();
std::vector<Case> ninth_tables();
std::vector<Case> ninth_layers();
std::vector<Case> ninth_science();
std::vector<Case> ninth_graphs();

std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (const auto& list : {ninth_quantised(), ninth_tables(), ninth_layers(), ninth_science(), ninth_graphs()})
    all.insert(all.end(), list.begin(), list.end());
  return all;
}

}  // namespace calibration
