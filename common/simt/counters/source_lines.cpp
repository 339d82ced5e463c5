#include "source_lines.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace simt::counters {

namespace {

// Is it code of the CUDA headers, or of the C++ library?
bool is_header(const std::string& file) {
  return file.find("/simt/include/") != std::string::npos || file.rfind("/usr/", 0) == 0;
}

// "path/file.cu:42" or "path/file.cu:42 (discriminator 3)"; "??:0" if unknown.
SourceLine parse(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos || text[0] == '?') return {};
  return {shorten(text.substr(0, colon)), std::atoi(text.c_str() + colon + 1)};
}

// What the command prints. Empty if it cannot be run.
std::string output_of(const std::vector<std::string>& command) {
  int ends[2];
  if (pipe(ends) != 0) return "";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addclose(&actions, ends[1]);
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  const bool started = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string output;
  char buffer[4096];
  for (ssize_t got; started && (got = read(ends[0], buffer, sizeof buffer)) > 0;)
    output.append(buffer, static_cast<size_t>(got));
  close(ends[0]);
  if (started) waitpid(child, nullptr, 0);
  return output;
}

}  // namespace

std::string shorten(const std::string& path) {
  char directory[4096];
  if (!getcwd(directory, sizeof directory)) return path;
  const std::string prefix = std::string(directory) + "/";
  return path.rfind(prefix, 0) == 0 ? path.substr(prefix.size()) : path;
}

std::vector<SourceLine> source_lines(const std::string& module, const std::vector<uintptr_t>& offsets) {
  std::vector<SourceLine> lines(offsets.size());
  // -a prints each address before its lines, -i the lines of all calls that were inlined there, innermost first.
  std::vector<std::string> command = {"addr2line", "-a", "-i", "-e", module};
  for (uintptr_t offset : offsets) {
    char text[32];
    std::snprintf(text, sizeof text, "0x%zx", static_cast<size_t>(offset));
    command.push_back(text);
  }
  const std::string output = output_of(command);
  size_t index = 0;
  bool found = false;
  for (size_t at = 0; at < output.size();) {
    const size_t end = output.find('\n', at);
    const std::string line = output.substr(at, end - at);
    at = end == std::string::npos ? output.size() : end + 1;
    if (line.rfind("0x", 0) == 0) {
      index++;
      found = false;
    } else if (!found && index >= 1 && index <= lines.size()) {
      const SourceLine source = parse(line);
      // The first line of all is kept if none is in the kernel's own source.
      if (lines[index - 1].file.empty() || !is_header(source.file)) lines[index - 1] = source;
      found = !source.file.empty() && !is_header(line);
    }
  }
  return lines;
}

}  // namespace simt::counters
