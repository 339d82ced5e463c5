#include "refusal.h"

#include <cstdio>
#include <set>
#include <string>
#include <utility>

#include "failure.h"
#include "simt.h"

namespace simt {

namespace {

thread_local Refusal last = {};
bool tells = false;

void set_text(const std::string& text) { std::snprintf(last.text, sizeof last.text, "%s", text.c_str()); }

void tell() {
  static auto* const told = new std::set<std::pair<std::string, int>>;
  if (!tells || !last.file || !told->emplace(last.file, last.line).second) return;
  std::fflush(stdout);
  std::fprintf(stderr, "%s:%d: %s (%s)\n", last.file, last.line, last.text, cudaGetErrorName(last.error));
}

}  // namespace

const Refusal& last_refusal() { return last; }
void forget_refusal() { last = {}; }
void tell_refused_launches() { tells = true; }

std::string launch_text(const LaunchConfig& config, const char* kernel) {
  std::string name = kernel;
  if (name.size() > 2 && name.front() == '(' && name.back() == ')') name = name.substr(1, name.size() - 2);
  const auto triple = [](const dim3& d) {
    return "(" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + ")";
  };
  return name.substr(0, 120) + "<<<" + triple(config.grid) + ", " + triple(config.block) + ", " +
         std::to_string(config.shared_bytes) + ">>>";
}

void refuse_launch(const LaunchConfig& config, const char* kernel, const Excess& excess) {
  last = {excess.error, "", config.file, config.line, 0};
  set_text("launch refused: " + excess.limit + "\n" + launch_text(config, kernel) + " " + excess.asked);
  tell();
}

void refuse_call(cudaError_t error, const std::string& text, const char* file, int line) {
  last = {error, "", file, line, file ? 0 : users_caller()};
  set_text(text);
  // In a program that simtcc builds the executor is in the same module. Mere errors are the program's own affair.
  static char name[512];
  if (tells && !file && text.find(" refused: ") != std::string::npos) {
    last.line = source_line(users_frame(), name, sizeof name);
    last.file = last.line ? name : nullptr;
  }
  tell();
}

}  // namespace simt
