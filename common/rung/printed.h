// What a rung prints is for a human: it goes where errors go, line by line, and no more of it than CUDA keeps of what a
// kernel prints.
#pragma once

#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>

#include "protocol.h"

namespace rung {

// Of the job that runs: what it has printed, and what it still may. The client counts on from job to job, over all of
// its workers.
inline uint64_t printed = 0, print_left = most_printed;

inline void write_all(const char* text, size_t size) {
  while (size > 0) {
    const ssize_t written = write(STDERR_FILENO, text, size);
    if (written <= 0) return;
    text += written;
    size -= static_cast<size_t>(written);
  }
}

// The stream's lock is held when this is called.
inline ssize_t print_some(void*, const char* text, size_t size) {
  const uint64_t taken = std::min<uint64_t>(size, print_left);
  if (taken > 0) {
    write_all(text, taken);
    printed += taken;
    print_left -= taken;
    constexpr char word[] =
        "\nprintf: 1 MiB has been printed, and the rest is left out. One case prints less: CASE=name\n";
    if (print_left == 0) write_all(word, sizeof word - 1);
  }
  return static_cast<ssize_t>(size);
}

// To be called before a rung is loaded: from then on printf, puts and the like lead here.
inline void limit_what_is_printed() {
  dup2(STDERR_FILENO, STDOUT_FILENO);
  cookie_io_functions_t functions{};
  functions.write = print_some;
  FILE* const limited = fopencookie(nullptr, "w", functions);
  if (limited) stdout = limited;
  setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
}

}  // namespace rung
