#include "offsets.h"

#include <sys/wait.h>

#include <cstdio>

#include "request.h"

namespace testing_ {
namespace {

constexpr const char* past_int = "past-int";

std::string quoted(const std::string& text) {
  std::string safe = "'";
  for (const char c : text) safe += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return safe + "'";
}

}  // namespace

std::vector<Case> offsets_cases() {
  return {counted_case(past_int, "offsets", {1, 1}), counted_case("past-unsigned", "offsets", {1, 1})};
}

std::string check_offsets(const Step& step) {
  const bool is_int = step.test_case.name == past_int;
  const std::string worker = request().worker.empty() ? "build/cpu/worker" : request().worker;
  const std::string command = "timeout 60 " + quoted(worker) + " " + quoted(request().rung) + " far " +
                              std::to_string(step.variant) + (is_int ? " 31" : " 32") + " 2>&1";
  FILE* const pipe = popen(command.c_str(), "r");
  if (!pipe) return "";
  std::string text;
  char buffer[1024];
  while (std::fgets(buffer, sizeof buffer, pipe)) text += buffer;
  text = shortened(text);
  const int status = pclose(pipe);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  // 2: the machine has no address space for it, or the blocks that are run write nothing there.
  if (code == 0 || code == 2) return "";
  return std::string("a matrix of more than ") + (is_int ? "2^31" : "2^32") +
         " elements, of which the first rows and the last are checked:\n" + text + "Is an offset computed as " +
         (is_int ? "an int, which ends at 2^31" : "an unsigned int, which ends at 2^32") +
         " (row * cols)? static_cast<size_t>(row) * cols does not.";
}

}  // namespace testing_
