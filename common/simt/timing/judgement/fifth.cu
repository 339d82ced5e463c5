// The fifth set: steps of serving and training networks, pictures and rays, sparse and statistical methods, as public
// repositories have them. Written and predicted before anything of it was timed.
#include "../calibration/calibration.h"

namespace calibration {

std::vector<Case> fifth_networks();
std::vector<Case> fifth_layers();
std::vector<Case> fifth_pictures();
std::vector<Case> fifth_science();

std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (const auto& list : {fifth_networks(), fifth_layers(), fifth_pictures(), fifth_science()})
    all.insert(all.end(), list.begin(), list.end());
  return all;
}

}  // namespace calibration
