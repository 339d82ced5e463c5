// The seventh set: pictures, signals and scenes, steps of networks, and kinds of public benchmarks of science (Rodinia,
// Parboil, PolyBench) and of data. Written and predicted before anything of it was timed.
#include "../calibration/calibration.h"

namespace calibration {

std::vector<Case> seventh_pictures();
std::vector<Case> seventh_networks();
std::vector<Case> seventh_science();
std::vector<Case> seventh_data();

std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (const auto& list : {seventh_pictures(), seventh_networks(), seventh_science(), seventh_data()})
    all.insert(all.end(), list.begin(), list.end());
  return all;
}

}  // namespace calibration
