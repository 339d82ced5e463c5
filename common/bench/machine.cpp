#include "machine.h"

#include <sched.h>
#include <sys/utsname.h>

#include <cctype>
#include <ctime>
#include <fstream>

namespace bench {

namespace {

std::string processor_name() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    const size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) return line.substr(colon + 2);
  }
  utsname name{};
  if (uname(&name) != 0) return "unknown processor";
  return std::string(name.machine) + " (" + name.sysname + ")";
}

// "Intel(R) Xeon(R)" -> "Intel Xeon": the marks add nothing to a title or a file name.
std::string without_marks(std::string text) {
  for (const char* mark : {"(R)", "(r)", "(TM)", "(tm)"}) {
    for (size_t at; (at = text.find(mark)) != std::string::npos;) text.erase(at, std::string(mark).size());
  }
  return text;
}

}  // namespace

int cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return CPU_COUNT(&set);
}

std::string machine_name() {
  const int n = cores();
  return without_marks(processor_name()) + ", " + std::to_string(n) + (n == 1 ? " core" : " cores");
}

std::string machine_slug() { return slug_of(machine_name()); }

std::string slug_of(const std::string& name) {
  std::string slug;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      slug += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!slug.empty() && slug.back() != '-') {
      slug += '-';
    }
  }
  while (!slug.empty() && slug.back() == '-') slug.pop_back();
  return slug;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", &local);
  return text;
}

}  // namespace bench
