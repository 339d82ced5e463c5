// The third set: what neural networks, collections of exercises and vendors' samples are made of. Written and predicted
// before anything of it was timed.
#include "../calibration/calibration.h"

namespace calibration {

std::vector<Case> third_networks();
std::vector<Case> third_exercises();
std::vector<Case> third_samples();

std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (const auto& list : {third_networks(), third_exercises(), third_samples()})
    all.insert(all.end(), list.begin(), list.end());
  return all;
}

}  // namespace calibration
