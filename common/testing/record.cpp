#include "record.h"

#include <stdlib.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace testing_ {
namespace {

using nlohmann::json;

void write(const json& line) {
  static std::ofstream file(getenv("LADDER_RECORD"), std::ios::app);
  // A text may quote the submission, which need not be UTF-8.
  file << line.dump(-1, ' ', true, json::error_handler_t::replace) << std::endl;
}

json of(const char* type, const Step& step) {
  return {{"type", type}, {"variant", step.label}, {"group", step.test_case.group}, {"case", step.test_case.name}};
}

}  // namespace

bool recording() {
  static const bool on = getenv("LADDER_RECORD") && *getenv("LADDER_RECORD");
  return on;
}

void record_plan() {
  for (const Step& step : session().steps) {
    json line = of("plan", step);
    line["checked"] =
        session().checked && !step.test_case.move && step.test_case.group != "integrity" && is_small(step);
    write(line);
  }
  for (const std::string& variant : session().missing) write({{"type", "missing"}, {"variant", variant}});
}

void record_problem(const std::string& text) { write({{"type", "problem"}, {"text", text}}); }

void record_check(const Step& step, const Finding& finding) {
  json line = of("check", step);
  line["verdict"] = finding.kind == Finding::Kind::right ? "clean" : finding.by_checks ? "found" : "wrong";
  line["text"] = told(step, finding);
  write(line);
}

void record_case(const std::string& variant, const std::string& group, const std::string& name, bool ok,
                 const std::string& text) {
  write({{"type", "case"}, {"variant", variant}, {"group", group}, {"case", name}, {"ok", ok}, {"text", text}});
}

void record_end() { write({{"type", "end"}}); }

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
