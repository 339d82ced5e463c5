#include "events.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "request.h"
#include "solution_figures.h"

namespace testing_ {
namespace {

using nlohmann::json;

struct Counted {
  Step step;
  Count count;
};

struct Notes {
  std::ofstream file;
  std::map<std::string, bool> predictions;  // by the name of the case
  std::vector<Counted> counted;
};

Notes& notes() {
  static Notes instance = [] {
    Notes empty;
    if (!request().events.empty()) empty.file.open(request().events, std::ios::app);
    return empty;
  }();
  return instance;
}

void write(const json& line) {
  if (request().events.empty()) return;
  // A text may quote the submission, which need not be UTF-8.
  notes().file << line.dump(-1, ' ', true, json::error_handler_t::replace) << std::endl;
}

json of(const char* type, const Step& step) {
  return {{"type", type}, {"variant", step.label}, {"group", step.test_case.group}, {"case", step.test_case.name}};
}

json traffic(const Count& count) {
  return {{"load_requests", count.load.requests},
          {"load_sectors", count.load.sectors},
          {"store_requests", count.store.requests + count.atomic.requests},
          {"store_sectors", count.store.sectors + count.atomic.sectors}};
}

const char* outcome_of(const Predicted& predicted, bool ok) {
  if (!predicted.made) return "missing";
  if (std::isnan(predicted.value)) return "open";
  return ok ? "right" : "wrong";
}

void write_predictions() {
  for (const Predicted& predicted : session().predicted) {
    const auto ran = notes().predictions.find(predicted.prediction->case_name());
    if (ran == notes().predictions.end()) continue;
    write({{"type", "prediction"},
           {"name", predicted.prediction->name},
           {"outcome", outcome_of(predicted, ran->second)}});
  }
}

void write_counts() {
  for (const auto& [step, count] : notes().counted) {
    const int k = rung::arguments_of(lab.op).has_k ? count.sizes.more[0] : 0;
    json entry = {{"type", "count"}, {"variant", step.label},  {"rows", count.rows}, {"cols", count.cols},
                  {"k", k},          {"yours", traffic(count)}};
    Count of_solution;
    if (count_on_solution(step, &of_solution)) entry["solution"] = traffic(of_solution);
    write(entry);
  }
}

}  // namespace

bool judged() { return request().judged; }

void note_begin() {
  const Session& s = session();
  write({{"type", "begin"},
         {"lab", lab.name},
         {"backend", s.backend},
         {"checked", s.checked != nullptr},
         {"whole", s.whole()}});
  for (const Step& step : s.steps) {
    json line = of("plan", step);
    line["checked"] = s.checked && !step.test_case.move && step.test_case.group != "integrity" && is_small(step);
    write(line);
  }
  for (const std::string& variant : s.missing) write({{"type", "missing"}, {"variant", variant}});
}

void note_problem(const std::string& text) { write({{"type", "problem"}, {"text", text}}); }

void note_check(const Step& step, const Finding& finding) {
  json line = of("check", step);
  line["verdict"] = finding.kind == Finding::Kind::right ? "clean" : finding.by_checks ? "found" : "wrong";
  line["text"] = told(step, finding);
  write(line);
}

void note_case(const std::string& variant, const std::string& group, const std::string& name, bool ok,
               const std::string& text) {
  if (group == "predict") notes().predictions[name] = ok;
  write({{"type", "case"}, {"variant", variant}, {"group", group}, {"case", name}, {"ok", ok}, {"text", text}});
}

void note_count(const Step& step, const Count& count) {
  std::vector<Counted>& counted = notes().counted;
  const auto known = [&](const Counted& c) { return c.step.label == step.label; };
  if (std::none_of(counted.begin(), counted.end(), known)) counted.push_back({step, count});
}

void note_time(const Step& step, const Count& count, double solution) {
  const auto known = [](double seconds) { return std::isnan(seconds) ? json() : json(seconds); };
  json line = of("time", step);
  line["rows"] = count.rows * count.stands_for;
  line["cols"] = count.cols;
  line["seconds"] = known(count.predicted);
  line["at_least"] = known(count.at_least);
  line["solution"] = known(solution);
  line["words"] = count.predicted_words;
  write(line);
}

void note_over(const Step& step, double times) {
  json line = of("over", step);
  line["times"] = times;
  write(line);
}

void note_launched(const Step& step, const std::set<std::string>& symbols) {
  json line = of("launched", step);
  line["symbols"] = symbols;
  write(line);
}

void note_end(int passed, int failed, int not_run) {
  if (request().events.empty()) return;
  if (!judged()) {
    write_predictions();
    write_counts();
  }
  write({{"type", "end"}, {"passed", passed}, {"failed", failed}, {"not_run", not_run}});
  if (!notes().file) {
    fprintf(stderr, "%s: cannot be written, so nothing of this run is recorded\n", request().events.c_str());
  }
}

std::string told_of_hidden(const Finding& finding) {
  std::istringstream words(finding.brief.empty() ? finding.text : finding.brief);
  std::string told;
  for (std::string word; std::getline(words, word, ' ');) {
    const bool is_figure = word.find_first_of("0123456789") != std::string::npos;
    told += (told.empty() ? "" : " ") + (is_figure ? "..." : word);
  }
  return told;
}

std::string told(const Step& step, const Finding& finding) {
  if (step.test_case.group == "hidden") return told_of_hidden(finding);
  return finding.open.empty() ? finding.text : finding.open;
}

}  // namespace testing_
