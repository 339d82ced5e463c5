// What a rung prints is for a human: it goes where errors go, line by line, and no more of it than CUDA keeps of what a
// kernel prints.
#pragma once

#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>

namespace rung {

constexpr size_t most_printed = 1 << 20;  // bytes, in a worker's life

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
  static size_t printed = 0;
  if (printed <= most_printed) {
    write_all(text, std::min(size, most_printed - printed));
    printed += size;
    constexpr char word[] =
        "\nprintf: 1 MiB has been printed, and the rest is left out. One case prints less: CASE=name\n";
    if (printed > most_printed) write_all(word, sizeof word - 1);
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
