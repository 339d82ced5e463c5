// How long cases take: an estimate for those that have not run, and a line on the terminal while a long one runs.
#pragma once

#include <map>
#include <set>
#include <string>

#include "session.h"

namespace testing_ {

class Pace {
 public:
  // section: "tree f32 / widths / normal-7x33". On a terminal the first shows where the run is, if the case may take a
  // moment; hide() takes that line away.
  void begin(const std::string& section);
  void end(const std::string& section, double seconds);
  void hide();

  // What cases of a variant with this cost (Step::cost) are likely to take, in seconds; 0 if none of its cases has run
  // that was large enough to tell.
  double estimate(const std::string& label, double cost) const;

 private:
  struct Seen {
    double seconds = 0, cost = 0;
  };
  std::map<std::string, Seen> seen_;  // by the label of the variant; without the cases that ran under the checks
  std::set<std::string> ended_;
  bool shown_ = false;
};

// "about 40 s", "about 12 min".
std::string about(double seconds);

}  // namespace testing_
