// How long cases take: an estimate for those that have not run, and a line on the terminal while a long one runs.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace testing_ {

// How many times longer work takes on a machine that has more to do than it has cores; 1 to 8. A limit of time that is
// meant for a core of one's own is multiplied by it, or a busy machine would end what is right. load: processes that
// run or want to; negative where that is not known.
double times_longer(double load, unsigned cores);
double times_longer();  // on this machine, now

// A case that a run is to run.
struct Planned {
  std::string section;  // "tree f32 / widths / normal-7x33"
  std::string label;    // of its variant: "tree f32"
  double cost = 0;      // Step::cost
  bool tells = true;    // its cost and its time say something of larger ones
};

class Pace {
 public:
  void plan(std::vector<Planned> cases) { planned_ = std::move(cases); }

  // Where the run is while the case of this section runs: "tree f32 / widths / normal-7x33: case 4 of 52, about 12 s
  // left". "" for a case that is over at once.
  std::string line(const std::string& section) const;
  void ended(const std::string& section, double seconds);

  // On a terminal show() writes that line, and hide() takes it away.
  void show(const std::string& section);
  void hide();

  // What cases of a variant with this cost are likely to take, in seconds; 0 if none of its cases has run that was
  // large enough to tell.
  double estimate(const std::string& label, double cost) const;

 private:
  struct Seen {
    double seconds = 0, cost = 0;
  };
  const Planned* find(const std::string& section) const;

  std::vector<Planned> planned_;
  std::map<std::string, Seen> seen_;  // by the label of the variant; of the cases that tell
  std::set<std::string> ended_;
  bool shown_ = false;
};

// "about 40 s", "about 12 min".
std::string about(double seconds);

}  // namespace testing_
