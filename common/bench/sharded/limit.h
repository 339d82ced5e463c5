// How long a case may take. One that takes longer waits for what does not come, or its loop does not end.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace sharded {

// From now until it goes. If the time is over, the process ends: first with `text`, then, on the executor, with the
// line that a kernel or the host has come to (SIGUSR1).
class Limit {
 public:
  explicit Limit(const std::string& case_name) {
    text() = "FAIL " + case_name + ": not done after " + std::to_string(seconds()) + " s\n";
    struct sigaction action = {};
    action.sa_handler = [](int) {
      if (write(STDOUT_FILENO, text().data(), text().size()) < 0) _exit(1);
      kill(getpid(), SIGUSR1);
    };
    action.sa_flags = SA_ONSTACK;  // a kernel's thread, on which it may run, has a small stack
    sigaction(SIGALRM, &action, nullptr);
    alarm(seconds());
  }
  Limit(const Limit&) = delete;
  ~Limit() { alarm(0); }

 private:
  // More than a hundred times what a case takes under the checks. LADDER_PATIENCE: a factor, as for other labs.
  static unsigned seconds() {
    const char* const factor = std::getenv("LADDER_PATIENCE");
    const double times = factor ? std::atof(factor) : 1;
    return static_cast<unsigned>(20 * (times > 0 ? times : 1)) + 1;
  }
  static std::string& text() {
    static auto* const text = new std::string;
    return *text;
  }
};

}  // namespace sharded
