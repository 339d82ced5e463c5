// The calibration's set.
#include "calibration.h"

namespace calibration {

std::vector<Case> reductions();
std::vector<Case> rows();
std::vector<Case> copies();
std::vector<Case> compute();
std::vector<Case> chains();

std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (const auto& list : {reductions(), rows(), copies(), compute(), chains()})
    all.insert(all.end(), list.begin(), list.end());
  // Every third family is held out: by families, since kernels of one are alike.
  std::vector<std::string> families;
  for (Case& one : all) {
    size_t number = 0;
    while (number < families.size() && families[number] != one.family) number++;
    if (number == families.size()) families.push_back(one.family);
    one.held_out = number % 3 == 2;
  }
  return all;
}

}  // namespace calibration
