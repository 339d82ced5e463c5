#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "loaded_module.h"
#include "simt.h"

namespace simt {

namespace {

// What addr2line says of the address: "" if it cannot be asked. fork, exec and read: nothing that a signal handler must
// not do.
void ask(const char* module, uintptr_t offset, const char* options, char* output, size_t size) {
  output[0] = '\0';
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) return;
  char address[32];
  std::snprintf(address, sizeof address, "0x%zx", static_cast<size_t>(offset));
  const pid_t child = fork();
  if (child == 0) {
    dup2(pipe_ends[1], STDOUT_FILENO);
    const int null = open("/dev/null", O_WRONLY);
    dup2(null, STDERR_FILENO);
    // The judge has its own way to run it: the module is a submission's (common/grade).
    const char* own = std::getenv("LADDER_ADDR2LINE");
    const char* program = own && *own ? own : "addr2line";
    execlp(program, program, options, "-e", module, address, static_cast<char*>(nullptr));
    _exit(127);
  }
  close(pipe_ends[1]);
  size_t length = 0;
  for (ssize_t got; length < size - 1; length += static_cast<size_t>(got)) {
    got = read(pipe_ends[0], output + length, size - 1 - length);
    if (got <= 0) break;
  }
  output[length] = '\0';
  close(pipe_ends[0]);
  if (child > 0) waitpid(child, nullptr, 0);
}

// Ends the first line of text and returns the next one.
char* cut_line(char* text) {
  char* end = std::strchr(text, '\n');
  if (!end) return text + std::strlen(text);
  *end = '\0';
  return end + 1;
}

// "path/file.cu:42", perhaps " (discriminator 3)" behind it, is cut to the path: the line, or 0 of "??:0".
int cut_number(char* place) {
  char* colon = std::strrchr(place, ':');
  if (!colon || place[0] == '?') return 0;
  *colon = '\0';
  return std::atoi(colon + 1);
}

bool is_in_executor(const char* file) {
  return std::strstr(file, "/common/simt/include/") || std::strncmp(file, "/usr/", 5) == 0;
}

// The compiler's own path may be relative to the folder in which it ran; that in the debug information is not.
bool is_same_file(const char* full, const char* other) {
  const size_t length = std::strlen(full), end = std::strlen(other);
  if (length < end || std::strcmp(full + length - end, other) != 0) return false;
  return length == end || full[length - end - 1] == '/';
}

}  // namespace

int source_line(uintptr_t pc, char* file, size_t file_size) {
  const LoadedModule module = loaded_module(pc);
  char path[512];
  module.path(path, sizeof path);
  file[0] = '\0';
  return module ? source_line(path, pc - module.base, file, file_size) : 0;
}

int source_line(const char* module, uintptr_t offset, char* file, size_t file_size) {
  char output[4096];
  ask(module, offset, "-i", output, sizeof output);
  file[0] = '\0';
  // One line a frame, the innermost inlined function first. Intrinsics are inlined into the kernel; the kernel's own
  // line is the first that is not in the executor.
  int line = 0;
  for (char *text = output, *next; *text; text = next) {
    next = cut_line(text);
    const int number = cut_number(text);
    if (number == 0) continue;
    const bool in_executor = is_in_executor(text);
    if (line == 0 || !in_executor) {
      std::snprintf(file, file_size, "%s", text);
      line = number;
    }
    if (!in_executor) break;
  }
  return line;
}

void describe_calls(const char* module, const uintptr_t* offsets, int count, const char* file, int line, char* text,
                    size_t size) {
  text[0] = '\0';
  struct Place {
    char file[512];
    int line;
  } calls[8];
  int found = 0;
  for (int i = 0; i < count && found < 8; i++) {
    char output[16384];
    ask(module, offsets[i], "-if", output, sizeof output);
    // Two lines a frame, the innermost first: the function's name and the place. The places, the outermost first.
    const int first = found;
    bool is_launch = false;
    for (char *name = output, *next; *name; name = next) {
      char* place = cut_line(name);
      next = cut_line(place);
      const int number = cut_number(place);
      if (number == 0 || is_in_executor(place)) continue;
      if (found == 8) break;
      std::snprintf(calls[found].file, sizeof calls[found].file, "%s", place);
      calls[found].line = number;
      // A launch is a lambda around the kernel's call (include/simt/launch.h). For the innermost frame addr2line has
      // the symbol's name, which is the lambda's own only where no kernel is inlined into it.
      is_launch = std::strncmp(name, "operator()", 10) == 0 || std::strstr(name, "UlDpRKT_E_clI") ||
                  (found == first && std::strstr(name, "simt9BoundCall"));
      found++;
    }
    if (i == 0 && is_launch) found--;
    std::reverse(calls + first, calls + found);
  }
  // The innermost place is where it hangs.
  if (found > 0 && calls[found - 1].line == line && is_same_file(calls[found - 1].file, file)) found--;
  if (found == 0) return;
  std::snprintf(text, size, found == 1 ? "The kernel called this function at " : "The kernel got there by calls at ");
  for (int i = 0; i < found; i++) {
    const size_t length = std::strlen(text);
    const char* const before = i == 0 ? "" : i + 1 < found ? ", " : " and ";
    if (is_same_file(calls[i].file, file))
      std::snprintf(text + length, size - length, "%sline %d", before, calls[i].line);
    else
      std::snprintf(text + length, size - length, "%s%s:%d", before, calls[i].file, calls[i].line);
  }
  const size_t length = std::strlen(text);
  std::snprintf(text + length, size - length, ".");
}

}  // namespace simt
