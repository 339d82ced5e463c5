// For tests of kernels that end their process: run one in a child and read what it said.
#pragma once

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <string>

#include "testing.h"

struct ChildResult {
  std::string text;  // what it wrote to stderr
  int status;        // its exit status
};

// Forks and runs `body`, which must end in _exit. After `signal_after_ms`, if not 0, the child gets SIGUSR1. The child
// has only the OS thread that forked, so kernels in it must run on one core.
// Not inline: in instrumented tests the compiler would put it, with Catch2's macros, into every caller.
[[gnu::noinline]] inline ChildResult run_in_child(const std::function<void()>& body, unsigned signal_after_ms = 0) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    body();
    _exit(99);
  }
  close(ends[1]);
  if (signal_after_ms) {
    usleep(signal_after_ms * 1000);
    kill(child, SIGUSR1);
  }
  ChildResult result = {"", -1};
  char buffer[4096];
  for (ssize_t got; (got = read(ends[0], buffer, sizeof buffer)) > 0;) {
    result.text.append(buffer, static_cast<size_t>(got));
  }
  close(ends[0]);
  int status = 0;
  pid_t ended;
  while ((ended = waitpid(child, &status, 0)) < 0 && errno == EINTR) continue;
  INFO(result.text);
  REQUIRE(ended == child);
  REQUIRE(WIFEXITED(status));
  result.status = WEXITSTATUS(status);
  return result;
}

// The number of the first line in a source file that holds `code`.
[[gnu::noinline]] inline int line_with(const char* path, const std::string& code) {
  FILE* file = std::fopen(path, "r");
  REQUIRE(file);
  char buffer[512];
  int line = 0;
  for (int number = 1; !line && std::fgets(buffer, sizeof buffer, file); number++) {
    if (std::string(buffer).find(code) != std::string::npos) line = number;
  }
  std::fclose(file);
  REQUIRE(line > 0);
  return line;
}
