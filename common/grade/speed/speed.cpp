// Measures the variants of a submission beside those of the solution. Everything that decides is here, outside of the
// sandbox: inputs' seeds, clock, comparison.
//
//     speed <plan.json >result.json
//
// plan:   {"solution": {"worker": path, "rung": path}, "submission": {the same}, "memory_mib": n, "samples": n, "seed":
// n,
//          "shapes": {"softmax": [{"rows": n, "cols": n, "k": 0}], "softmax_topk": [the same]},
//          "variants": [{"name": "tree", "dtype": "f32"}]}
// result: {"variants": [{"name", "dtype", "problem": "", "blame": "submission" or "grader", "shapes": [{"rows", "cols",
// "k", "sets", "solution_seconds",
//          "seconds", "bytes", "aside_seconds", "solution_aside_seconds", "throttled"}]}]}
//
// A shape is measured in samples. One is a few milliseconds of launches, each on an input and an output of its own, so
// that none finds its data in a cache and none can be left out. Before every sample the inputs are new; after it rows
// are drawn, fetched and compared. The solution's samples and the submission's take turns. `aside` is what getting
// ready and fetching take, where a submission has nothing to do.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>

#include "client.h"
#include "clocks.h"
#include "timed.h"
#include "timing.h"
#include "verify.h"

namespace {

using nlohmann::json;
using rung::Client;
using rung::Outcome;
using rung::Sizes;

constexpr double sample_seconds = 3e-3;  // of the solution: long beside an answer's way, some 50 us
constexpr double long_launch = 2e-3;     // a launch of the solution that takes longer gets fewer rows
constexpr int fewest_rows = 64, fewest_sets = 4, most_sets = 256;
constexpr double sabotaged = 1.1;  // times as slow beside a submission as alone: its doing
constexpr double hopeless = 30;    // times as long as the solution: a few launches are enough to know

struct Wrong : std::runtime_error {
  using runtime_error::runtime_error;
};

struct Sample {
  double seconds = 0, aside = 0;
};

struct Measured {
  Sizes shape;
  int sets = fewest_sets;
  double alone = 0;  // seconds of a launch of the solution, before there was a submission
};

// A variant that both have.
struct Wanted {
  std::string name;
  rung::Dtype dtype;
  rung::Op op;
};

// One of the two that are measured.
class Runner {
 public:
  Runner(const json& paths, size_t memory) : worker_(paths.at("worker")), rung_(paths.at("rung")), memory_(memory) {}

  size_t memory() const { return memory_; }

  // Starts its process, unless it has one.
  Client& client() {
    if (!client_) client_ = std::make_unique<Client>(worker_, rung_);
    return *client_;
  }
  void stop() { client_.reset(); }

  // Index of the first variant of this name and type; -1 if there is none.
  int find(const std::string& name, rung::Dtype dtype) {
    const auto& variants = client().variants();
    const auto found = std::find_if(variants.begin(), variants.end(),
                                    [&](const auto& v) { return v.name == name && v.dtype == dtype; });
    return found == variants.end() ? -1 : static_cast<int>(found - variants.begin());
  }

  // Throws Wrong if there is no right result.
  Sample sample(const Wanted& wanted, const Sizes& shape, int sets) {
    if (client().variants().empty()) throw Wrong(without_path(client().problem()));
    const int index = find(wanted.name, wanted.dtype);
    if (index < 0) throw Wrong("there is no such variant");
    if (client().variants()[static_cast<size_t>(index)].op != wanted.op) throw Wrong("it is not of this lab's kind");
    const rung::TimedSets launches = {index, shape, sets, random_(), memory_};
    Sample sample;
    sample.aside = waited(client().prepare(launches));
    sample.seconds = waited(client().launch(launches)) / sets;
    const std::vector<rung::Pick> picks = speed::draw(random_, shape.rows, sets);
    std::vector<unsigned char> rows;
    sample.aside += waited(client().fetch(launches, picks, &rows));
    const std::string wrong = speed::verify(picks, rows, launches.seed, wanted.op, wanted.dtype, shape);
    if (!wrong.empty()) throw Wrong("the results of the timed launches are wrong: " + wrong);
    return sample;
  }

 private:
  // A student reads it: not where the file lies while it is graded.
  std::string without_path(const std::string& problem) const {
    const std::string begin = "cannot load " + rung_ + ": ";
    return problem.compare(0, begin.size(), begin) ? problem : problem.substr(begin.size());
  }

  double waited(const Outcome& outcome) const {
    const std::string& text = outcome.message;
    if (outcome.kind != Outcome::Kind::returned) throw Wrong(without_path(text.substr(0, text.find('\n'))));
    if (outcome.error) throw Wrong("it returned the error " + std::to_string(outcome.error));
    return outcome.waited;
  }

  std::string worker_, rung_;
  size_t memory_;
  std::mt19937_64 random_{std::random_device{}()};
  std::unique_ptr<Client> client_;
};

double least(const std::vector<double>& values) { return *std::min_element(values.begin(), values.end()); }

double median(std::vector<double> values) { return bench::summarise(std::move(values)).median; }

rung::Dtype dtype_named(const std::string& name) {
  for (const auto dtype : {rung::Dtype::f32, rung::Dtype::f16, rung::Dtype::bf16}) {
    if (name == rung::name_of(dtype)) return dtype;
  }
  throw std::runtime_error("there is no element type " + name);
}

// How many sets a sample of the solution has, of how many rows; and its time while it is alone.
Measured settle(Runner& solution, const Wanted& wanted, Sizes shape) {
  const auto sets_that_fit = [&] {
    rung::Plan plan;
    if (!rung::arguments_of(wanted.op).plan(shape, wanted.dtype, &plan)) throw std::runtime_error("a wrong shape");
    const size_t left = solution.memory() - rung::flushed_bytes(solution.memory()), set = rung::bytes_of_set(plan);
    if (left < set * fewest_sets) throw std::runtime_error("too little memory for the sets");
    return static_cast<int>(std::min<size_t>(left / set, most_sets));
  };
  solution.sample(wanted, shape, fewest_sets);  // loads the code
  double once = solution.sample(wanted, shape, fewest_sets).seconds;
  if (once > long_launch && shape.rows > fewest_rows) {
    shape.rows = std::max(fewest_rows, static_cast<int>(shape.rows * long_launch / once));
    once = solution.sample(wanted, shape, fewest_sets).seconds;
  }
  Measured measured;
  measured.shape = shape;
  measured.sets = std::clamp(static_cast<int>(std::ceil(sample_seconds / once)), fewest_sets, sets_that_fit());
  std::vector<double> alone;
  for (int i = 0; i < 3; i++) alone.push_back(solution.sample(wanted, shape, measured.sets).seconds);
  measured.alone = least(alone);
  return measured;
}

// Runs the solution; if that fails while a submission is there, once more without it.
Sample sample_of_solution(Runner& solution, Runner& submission, const Wanted& wanted, const Measured& m) {
  try {
    return solution.sample(wanted, m.shape, m.sets);
  } catch (const Wrong& wrong) {
    submission.stop();
    solution.stop();
    solution.sample(wanted, m.shape, m.sets);  // or this machine is not in order: to the outside
    throw Wrong(std::string("the solution does not run beside it: ") + wrong.what());
  }
}

json measure(Runner& solution, Runner& submission, const bench::ClockReader& reader, int samples, const Wanted& wanted,
             const Measured& m) {
  std::vector<double> ours, theirs, our_aside, their_aside;
  std::string wrong;  // kept, as nothing may be thrown through the watch over the clock
  const auto take = [&] {
    ours.clear(), theirs.clear(), our_aside.clear(), their_aside.clear();
    try {
      submission.sample(wanted, m.shape, fewest_sets);  // loads the code
      const Sample few = submission.sample(wanted, m.shape, fewest_sets);
      if (few.seconds > hopeless * m.alone) {
        ours = {m.alone}, our_aside = {few.aside}, theirs = {few.seconds}, their_aside = {few.aside};
        return false;
      }
      submission.sample(wanted, m.shape, m.sets);
      for (int i = 0; i < samples; i++) {
        const Sample mine = sample_of_solution(solution, submission, wanted, m);
        const Sample other = submission.sample(wanted, m.shape, m.sets);
        ours.push_back(mine.seconds), our_aside.push_back(mine.aside);
        theirs.push_back(other.seconds), their_aside.push_back(other.aside);
      }
    } catch (const Wrong& caught) {
      wrong = caught.what();
      return false;
    }
    return true;
  };
  // A time that was taken while the device had lowered its clock is taken again.
  const bench::Watched watched = bench::unthrottled(reader, take, 3, std::chrono::milliseconds(1000));
  if (!wrong.empty()) throw Wrong(wrong);
  // The least of the samples: what other programs of this machine do only adds to a time, and every sample's work was
  // looked at. Whoever slows the solution down does not gain by it.
  const double beside = least(ours);
  const double solution_seconds = beside > sabotaged * m.alone ? m.alone : beside;
  const double element = rung::bytes_of(wanted.dtype), elements = 1.0 * m.shape.rows * m.shape.cols;
  const int k = m.shape.more[0];
  return {
      {"rows", m.shape.rows},
      {"cols", m.shape.cols},
      {"k", k},
      {"sets", m.sets},
      {"solution_seconds", solution_seconds},
      {"solution_beside_seconds", beside},
      {"seconds", least(theirs)},
      {"bytes", wanted.op == rung::Op::softmax ? 2 * elements * element : elements * element + 8.0 * m.shape.rows * k},
      {"aside_seconds", median(their_aside)},
      {"solution_aside_seconds", median(our_aside)},
      {"throttled", watched.clocks.throttled}};
}

json run(const json& plan) {
  const size_t memory = plan.at("memory_mib").get<size_t>() << 20;
  Runner solution(plan.at("solution"), memory), submission(plan.at("submission"), memory);
  if (solution.client().variants().empty())
    throw std::runtime_error("the solution cannot be timed: " + solution.client().problem());
  const bench::ClockReader reader = bench::nvml_reader();

  // The solution first, alone: also takes its memory before a submission can.
  struct Line {
    Wanted wanted;
    std::vector<Measured> shapes;
  };
  std::vector<Line> lines;
  for (const json& variant : plan.at("variants")) {
    Wanted wanted{variant.at("name"), dtype_named(variant.at("dtype")), rung::Op::softmax};
    const int index = solution.find(wanted.name, wanted.dtype);
    if (index < 0) throw std::runtime_error("the solution has no variant " + wanted.name);
    wanted.op = solution.client().variants()[static_cast<size_t>(index)].op;
    Line line{wanted, {}};
    const bool known = wanted.op == rung::Op::softmax || wanted.op == rung::Op::softmax_topk;
    const json& shapes = plan.at("shapes");
    const std::string name = rung::name_of(wanted.op);
    for (const json& s : known&& shapes.contains(name) ? shapes.at(name) : json::array())
      line.shapes.push_back(settle(solution, wanted, {s.at("rows"), s.at("cols"), {s.at("k").get<int>()}}));
    lines.push_back(line);
  }

  json result = {{"variants", json::array()}};
  for (const Line& line : lines) {
    json told = {{"name", line.wanted.name},
                 {"dtype", rung::name_of(line.wanted.dtype)},
                 {"problem", line.shapes.empty() ? "kernels of this kind are not timed" : ""},
                 {"blame", line.shapes.empty() ? "grader" : "submission"},
                 {"shapes", json::array()}};
    try {
      for (const Measured& m : line.shapes) {
        told["shapes"].push_back(measure(solution, submission, reader, plan.at("samples"), line.wanted, m));
      }
    } catch (const Wrong& wrong) {
      told["problem"] = wrong.what();
    }
    result["variants"].push_back(told);
  }
  return result;
}

}  // namespace

int main(int argc, char**) {
  if (argc != 1) {
    std::cerr << "usage: speed <plan.json >result.json, started by the grader\n";
    return 2;
  }
  try {
    std::cout << run(json::parse(std::cin)).dump(-1, ' ', true, json::error_handler_t::replace) << "\n";
  } catch (const std::exception& error) {
    std::cerr << "speed: " << error.what() << "\n";
    return 2;
  }
}
