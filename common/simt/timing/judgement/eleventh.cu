// The eleventh set: what public collections of benchmarks, mini-applications, courses and operators have, naive code
// and doubles included. Written and predicted before anything of it was timed.
#include "../calibration/calibration.h"

namespace calibration {

std::vector<Case> eleventh_benchmarks();
std::vector<Case> eleventh_loops();
std::vector<Case> eleventh_meshes();
std::vector<Case> eleventh_courses();
std::vector<Case> eleventh_operators();

std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (const auto& list :
       {eleventh_benchmarks(), eleventh_loops(), eleventh_meshes(), eleventh_courses(), eleventh_operators()})
    all.insert(all.end(), list.begin(), list.end());
  return all;
}

}  // namespace calibration
