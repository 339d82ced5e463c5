// The first set: kinds that the calibration lacks. The model was mended by its errors.
#include "../calibration/calibration.h"

namespace calibration {

std::vector<Case> first_arithmetic();
std::vector<Case> first_grids();
std::vector<Case> first_models();
std::vector<Case> first_more();

std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (const auto& list : {first_arithmetic(), first_grids(), first_models(), first_more()})
    all.insert(all.end(), list.begin(), list.end());
  return all;
}

}  // namespace calibration
