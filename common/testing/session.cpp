#include "session.h"

#include <fnmatch.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>

#include "backend.h"
#include "check.h"
#include "drawn_shapes.h"
#include "events.h"
#include "offsets.h"
#include "operator.h"
#include "request.h"
#include "words.h"

namespace testing_ {
namespace {

// A variant whose cost grows with cols^2 leaves out the cases that touch more elements than this.
constexpr double quadratic_limit = 8e6;

std::string or_else(const std::string& value, const std::string& otherwise) {
  return value.empty() ? otherwise : value;
}

std::string label_of(const std::string& name, rung::Dtype dtype) { return name + " " + rung::name_of(dtype); }

int fail(int status, const std::string& message) {
  const std::string text = "error: " + message;
  fprintf(stderr, "%s\n", (terminal_columns() ? wrapped(text) : text).c_str());
  return status;
}

bool expected(const rung::VariantInfo& info) {
  return std::any_of(lab.variants.begin(), lab.variants.end(),
                     [&](const Expected& e) { return info.name == e.name && info.dtype == e.dtype; });
}

// Is the variant to make this move?
bool held_to(const rung::VariantInfo& info, const Move& move) {
  if (!expected(info)) return move.others_too;
  return move.variants.empty() ||
         std::find(move.variants.begin(), move.variants.end(), info.name) != move.variants.end();
}

Case case_of(const Move& move) {
  Case c = counted_case(move.name, "move", counted_shapes(move.shape, move.widths, nullptr).front());
  c.move = &move;
  if (move.stands_for && judged()) c.group = "time";
  return c;
}

// As Request::as asks: one variant of the rung, by another's name. Index -1 if it is not there, or nothing is asked.
struct Alias {
  int index = -1;
  rung::VariantInfo info = {};
};

Alias alias_of(const std::vector<rung::VariantInfo>& variants) {
  const std::string asked = request().as, name = asked.substr(0, asked.find(' '));
  for (size_t i = 0; i < variants.size() && !asked.empty(); i++) {
    const rung::VariantInfo& v = variants[i];
    if (v.op == lab.op && asked == label_of(name, v.dtype) + "=" + label_of(v.name, v.dtype))
      return {static_cast<int>(i), {name, v.op, v.dtype}};
  }
  return {};
}

// Those of the lab's predictions that are to be checked, with what the rung says. A file that makes none of them is
// somebody's own kernel or another lab's; one that makes some must make all, as the lab's own files must.
void add_predictions(const std::string& solution) {
  Session& s = session();
  std::map<std::string, double> values;
  for (const rung::PredictionInfo& p : s.client->predictions()) values[p.name] = p.value;
  const bool makes_any = std::any_of(lab.predictions.begin(), lab.predictions.end(),
                                     [&](const Prediction& p) { return values.count(p.name) > 0; });
  if (!makes_any && !s.own_file) return;
  for (const Prediction& p : lab.predictions) {
    if (!s.wants(p.case_name()) || !s.wants_variant(label_of(p.variant, p.dtype))) continue;
    const auto value = values.find(p.name);
    const bool made = value != values.end();
    // Files from before there were predictions of time do not have them.
    if (!made && !p.timed.empty()) continue;
    s.predicted.push_back({&p, made, made ? value->second : 0});
  }
  if (!s.predicted.empty()) s.solution.reset(new rung::Client(request().counter, solution));
}

void add_steps(int variant, const rung::VariantInfo& info, const std::vector<Case>& cases, bool everything) {
  Session& s = session();
  const Expected expected = expectation(info);
  const std::string label = label_of(info.name, info.dtype);
  const int claimed = widest_in_shared_memory();
  const bool quadratic = expected.cost == Cost::quadratic;
  for (const Case& c : cases) {
    if (c.move && !(s.checked && held_to(info, *c.move))) continue;
    if (c.group == "integrity" && !s.checked) continue;
    if (is_offsets_case(c) && s.backend != "cpu") continue;  // CASES=huge is for a GPU
    const double cost = operator_of(lab.op).cost(c.sizes, quadratic);
    if (quadratic && !everything && cost > quadratic_limit) {
      s.left_out[label].cases++;
      s.left_out[label].cost += cost;
      continue;
    }
    const bool too_wide = expected.width == Width::shared_memory && c.sizes.cols > claimed;
    const bool too_many = expected.most_k && operator_of(lab.op).results(c.sizes) > expected.most_k;
    s.steps.push_back({variant, info.dtype, label, c, too_wide || too_many, cost});
  }
}

}  // namespace

Session& session() {
  static Session instance;
  return instance;
}

rung::Client& counting_client() {
  Session& s = session();
  if (request().counting.empty()) return *s.checked;
  if (!s.counting) {
    if (!s.made.is_open()) s.made.open(request().made);
    while (s.made.get() != std::ifstream::traits_type::eof()) continue;  // nothing is written to it
    s.counting.reset(new rung::Client(or_else(request().worker, rung::choose_backend().worker), request().counting));
    s.counting->print_together_with(*s.client);
  }
  return *s.counting;
}

Case counted_case(const std::string& name, const std::string& group, Shape shape) {
  Case c;
  c.name = name;
  c.group = group;
  c.sizes = c.called_with = shape;
  return c;
}

std::string Session::command() const {
  std::string text = "make lab" + lab.number();
  if (source == "solutions/" + lab.name + "/" + lab.file) return text + " SOLUTION=1";
  if (!own_file) text += " FILE=" + source;
  return todo.empty() ? text : text + " TODO=" + todo;
}

std::string Session::command(const std::string& label, const std::string& case_name) const {
  const std::string name = label.substr(0, label.find(' '));
  int variants = 0, of_this_name = 0;
  for (const rung::VariantInfo& v : client->variants()) {
    variants += v.op == lab.op;
    of_this_name += v.op == lab.op && v.name == name;
  }
  const std::string variant = variants == 1 ? "" : " VARIANT=" + (of_this_name == 1 ? name : "'" + label + "'");
  return command() + variant + " CASE=" + case_name;
}

bool Session::wants_variant(const std::string& label) const {
  return wanted_variant.empty() || fnmatch(wanted_variant.c_str(), label.c_str(), 0) == 0 ||
         fnmatch(wanted_variant.c_str(), label.substr(0, label.find(' ')).c_str(), 0) == 0;
}

bool Session::wants(const std::string& case_name) const {
  return wanted.empty() || fnmatch(wanted.c_str(), case_name.c_str(), 0) == 0;
}

int Session::find(const std::string& name, rung::Dtype dtype) const {
  const auto& variants = client->variants();
  for (size_t i = 0; i < variants.size(); i++) {
    if (variants[i].name == name && variants[i].dtype == dtype && variants[i].op == lab.op) return static_cast<int>(i);
  }
  return -1;
}

int prepare() {
  Session& s = session();
  const std::string own = "labs/" + lab.name + "/" + lab.file, solution = "solutions/" + lab.name + "/" + lab.file;
  s.source = shortened(or_else(request().file, own));
  s.source_copy = or_else(request().source, s.source);
  s.todo = request().todo;
  s.has_solution = access(solution.c_str(), R_OK) == 0;
  s.own_file = s.source == own || s.source == solution;
  s.seed = request().seed;

  std::vector<Case> cases = operator_of(lab.op).cases();
  if (judged()) {
    for (Case& c : operator_of(lab.op).hidden_cases(s.seed)) cases.push_back(std::move(c));
  }
  // Before the moves: a wrong result comes first, and few cases of a variant are told in full.
  if (!judged() && rung::arguments_of(lab.op).far) {
    for (const Case& c : offsets_cases()) cases.push_back(c);
  }
  for (const Move& move : lab.moves) {
    if (!move.stands_for || !judged() || request().timed) cases.push_back(case_of(move));
  }
  if (judged()) cases.push_back(operator_of(lab.op).integrity_case(s.seed));
  for (const Prediction& p : lab.predictions) cases.push_back(counted_case(p.case_name(), "predict", p.shape));
  s.wanted = request().wanted;
  const std::vector<Case> all = cases;
  cases.erase(std::remove_if(cases.begin(), cases.end(), [&](const Case& c) { return !s.wants(c.name); }), cases.end());
  if (cases.empty()) {
    std::string message = "no case is called " + s.wanted + "; near names:";
    for (const std::string& name : similar_names(all, s.wanted)) message += " " + name;
    return fail(2, message);
  }
  cases.erase(std::remove_if(cases.begin(), cases.end(), [](const Case& c) { return c.group == "predict"; }),
              cases.end());  // not run as the others are: add_predictions()
  const bool everything = !s.wanted.empty() || request().cases == "all";

  const rung::Backend backend = rung::choose_backend();
  if (backend.name.empty()) return fail(2, backend.error);
  s.backend = backend.name;
  s.backend_line = backend.line;

  const std::string worker = or_else(request().worker, backend.worker);
  s.client.reset(new rung::Client(worker, request().rung));
  const auto& variants = s.client->variants();
  if (variants.empty()) {
    note_problem(s.client->problem());
    return fail(1, s.client->problem());
  }
  if (!request().checked.empty()) {
    s.checked.reset(new rung::Client(worker, request().checked));
    s.checked->print_together_with(*s.client);
  }
  s.wanted_variant = request().variant;
  std::string labels;
  bool any_wanted = false;
  for (const rung::VariantInfo& v : variants) {
    if (v.op != lab.op) continue;
    labels += (labels.empty() ? "" : ", ") + label_of(v.name, v.dtype);
    any_wanted = any_wanted || s.wants_variant(label_of(v.name, v.dtype));
  }
  for (const Expected& e : lab.variants) any_wanted = any_wanted || s.wants_variant(label_of(e.name, e.dtype));
  if (!any_wanted && !labels.empty())
    return fail(2, "no variant is called " + s.wanted_variant + "; " + s.source + " has " + labels);
  for (const Expected& e : lab.variants) {
    if (!s.wants_variant(label_of(e.name, e.dtype))) continue;
    if (s.own_file && s.find(e.name, e.dtype) < 0) s.missing.push_back(label_of(e.name, e.dtype));
  }
  const Alias alias = alias_of(variants);
  if (alias.index < 0 && !request().as.empty())
    return fail(2, "\"as\": \"" + request().as + "\": " + s.source + " has " + labels);
  bool any_tested = false;
  for (size_t i = 0; i < variants.size(); i++) {
    const auto& apart = lab.tested_apart;
    if (alias.index >= 0) break;
    if (variants[i].op != lab.op || std::find(apart.begin(), apart.end(), variants[i].name) != apart.end()) continue;
    // What is graded is the lab's list, and of two with one name the first.
    if (judged() && !(expected(variants[i]) && s.find(variants[i].name, variants[i].dtype) == static_cast<int>(i))) {
      continue;
    }
    any_tested = true;
    const std::string label = label_of(variants[i].name, variants[i].dtype);
    const std::vector<std::string>& without = request().without;
    if (!s.wants_variant(label) || std::find(without.begin(), without.end(), label) != without.end()) continue;
    add_steps(static_cast<int>(i), variants[i], cases, everything);
  }
  if (alias.index >= 0) {
    any_tested = true;
    s.missing.clear();
    add_steps(alias.index, alias.info, cases, everything);
  }
  if (request().cases == "small" && s.wanted.empty()) {
    const auto large = [](const Step& step) { return !is_small(step); };
    s.steps.erase(std::remove_if(s.steps.begin(), s.steps.end(), large), s.steps.end());
  }
  const std::string& counted = request().solution;
  if (!counted.empty()) add_predictions(counted);
  if (!counted.empty() && request().timed && !s.solution)
    s.solution.reset(new rung::Client(request().counter, counted));
  const bool apart =
      !s.wanted_variant.empty() && std::any_of(lab.tested_apart.begin(), lab.tested_apart.end(),
                                               [&](const std::string& name) { return s.wants_variant(name); });
  if (s.steps.empty() && s.missing.empty() && !apart && (!any_tested || s.predicted.empty())) {
    if (!any_tested) {
      return fail(1, s.source + " exports nothing that " + lab.name +
                         " tests: it needs variants of rung::" + rung::name_of(lab.op));
    }
    const std::string asked =
        (s.wanted_variant.empty() ? "" : "VARIANT=" + s.wanted_variant + " ") + "CASE=" + s.wanted;
    if (cases.empty() && !counted.empty() && !s.wanted_variant.empty())
      return fail(2, asked + ": nothing of this variant is predicted");
    if (cases.empty()) {
      return fail(2, asked + ": " +
                         (counted.empty() ? "predictions are counted on the solution, which is not there"
                                          : s.source + " predicts nothing of " + lab.name + " (RUNG_PREDICT)"));
    }
    // Only moves can be for some variants and not for others.
    return fail(2, asked + ": " +
                       (s.checked ? "for none of the variants in " + s.source
                                  : "moves are counted by the CPU executor: BACKEND=cpu, without CHECKS=off"));
  }
  const auto timed = [](const Step& step) { return step.test_case.move && step.test_case.move->stands_for; };
  if (!request().made.empty() && std::any_of(s.steps.begin(), s.steps.end(), timed)) s.made.open(request().made);
  note_begin();
  return 0;
}

std::string shortened(std::string text) {
  std::string prefix = request().course;
  char folder[4096];
  if (prefix.empty() && getcwd(folder, sizeof folder)) prefix = folder;
  prefix += "/";
  for (size_t at = 0; (at = text.find(prefix, at)) != std::string::npos;) {
    if (at == 0 || text[at - 1] == ' ')
      text.erase(at, prefix.size());
    else
      at++;
  }
  return text;
}

}  // namespace testing_
