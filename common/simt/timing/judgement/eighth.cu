// The eighth set: operators of networks, pictures and codecs, physics and numerics, and work on tables and bits, in the
// ways of public repositories. Written and predicted before anything of it was timed.
#include "../calibration/calibration.h"

namespace calibration {

std::vector<Case> eighth_operators();
std::vector<Case> eighth_pictures();
std::vector<Case> eighth_science();
std::vector<Case> eighth_tables();

std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (const auto& list : {eighth_operators(), eighth_pictures(), eighth_science(), eighth_tables()})
    all.insert(all.end(), list.begin(), list.end());
  return all;
}

}  // namespace calibration
