// The fourth set: parts of newer networks, geometry of point clouds, sparse formats, integer ciphers, small solvers,
// and launches that fill little of a GPU. Written and predicted before anything of it was timed.
#include "../calibration/calibration.h"

namespace calibration {

std::vector<Case> fourth_models();
std::vector<Case> fourth_methods();
std::vector<Case> fourth_simulation();

std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (const auto& list : {fourth_models(), fourth_methods(), fourth_simulation()})
    all.insert(all.end(), list.begin(), list.end());
  return all;
}

}  // namespace calibration
