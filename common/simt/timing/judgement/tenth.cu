// The tenth set: steps of networks, pictures, methods of science, sparse formats and graphs, tables and ciphers, in the
// ways of public repositories. Written and predicted before anything of it was timed.
#include "../calibration/calibration.h"

namespace calibration {

std::vector<Case> tenth_layers();
std::vector<Case> tenth_steps();
std::vector<Case> tenth_pictures();
std::vector<Case> tenth_science();
std::vector<Case> tenth_data();
std::vector<Case> tenth_texts();

std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (const auto& list :
       {tenth_layers(), tenth_steps(), tenth_pictures(), tenth_science(), tenth_data(), tenth_texts()})
    all.insert(all.end(), list.begin(), list.end());
  return all;
}

}  // namespace calibration
