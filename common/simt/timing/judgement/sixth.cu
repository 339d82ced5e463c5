// The sixth set: what challenges and courses on GPUs set, layers and losses of networks, small methods of numerics.
// Written and predicted before anything of it was timed.
#include "../calibration/calibration.h"

namespace calibration {

std::vector<Case> sixth_challenges();
std::vector<Case> sixth_layers();
std::vector<Case> sixth_numerics();

std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (const auto& list : {sixth_challenges(), sixth_layers(), sixth_numerics()})
    all.insert(all.end(), list.begin(), list.end());
  return all;
}

}  // namespace calibration
