#include "source_lines.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

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

// An addr2line that stays for more questions about one module: to read what the compiler says of its lines takes as
// long as to run a kernel of thousands of elements. It ends when its input does, with this process at the latest.
class Answers {
 public:
  explicit Answers(const std::string& module) : module(module) {
    int questions[2], answers[2];
    if (pipe2(questions, O_CLOEXEC) != 0) return;
    if (pipe2(answers, O_CLOEXEC) != 0) {
      close(questions[0]), close(questions[1]);
      return;
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, questions[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, answers[1], STDOUT_FILENO);
    // -a prints each address before its lines, -i the lines of all calls that were inlined there, innermost first.
    std::string words[] = {"addr2line", "-a", "-i", "-e", module};
    char* const arguments[] = {words[0].data(), words[1].data(), words[2].data(),
                               words[3].data(), words[4].data(), nullptr};
    if (posix_spawnp(&child_, arguments[0], &actions, nullptr, arguments, environ) != 0) child_ = 0;
    posix_spawn_file_actions_destroy(&actions);
    close(questions[0]), close(answers[1]);
    to_ = questions[1];
    from_ = fdopen(answers[0], "r");
  }
  ~Answers() {
    if (to_ >= 0) close(to_);
    if (from_) fclose(from_);
    if (child_ && is_mine()) waitpid(child_, nullptr, 0);
  }
  Answers(const Answers&) = delete;

  bool is_mine() const { return owner_ == getpid(); }

  // Adds what it prints for these offsets; false if it has ended, or a signal came in between: then another must be
  // asked. So few offsets that neither side waits for the other to read.
  bool add(const uintptr_t* offsets, size_t count, std::string* output) {
    std::string asked, answer;
    for (size_t i = 0; i < count; i++) asked += hexadecimal(offsets[i]) + "\n";
    if (!child_ || !from_ || !write_all(asked + hexadecimal(no_offset) + "\n")) return false;
    bool last = false;
    char* line = nullptr;
    size_t room = 0;
    while (getline(&line, &room, from_) > 0 && !last) {
      last = std::strtoull(line, nullptr, 16) == no_offset;
      if (!last) answer += line;
    }
    free(line);  // that of no_offset was the last one that was read
    if (last) *output += answer;
    return last;
  }

  const std::string module;

 private:
  static constexpr uintptr_t no_offset = ~uintptr_t{0} - 15;

  static std::string hexadecimal(uintptr_t number) {
    char text[32];
    std::snprintf(text, sizeof text, "0x%zx", static_cast<size_t>(number));
    return text;
  }

  // If it has ended, no signal says so to the program that is counted.
  bool write_all(const std::string& text) const {
    sigset_t pipe, before;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    const bool written = write(to_, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    const timespec now = {};
    if (!written && !sigismember(&before, SIGPIPE)) sigtimedwait(&pipe, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return written;
  }

  const pid_t owner_ = getpid();
  pid_t child_ = 0;
  int to_ = -1;
  FILE* from_ = nullptr;
};

}  // namespace

std::string shorten(const std::string& path) {
  char directory[4096];
  if (!getcwd(directory, sizeof directory)) return path;
  const std::string prefix = std::string(directory) + "/";
  return path.rfind(prefix, 0) == 0 ? path.substr(prefix.size()) : path;
}

std::vector<SourceLine> source_lines(const std::string& module, const std::vector<uintptr_t>& offsets) {
  std::vector<SourceLine> lines(offsets.size());
  static std::unique_ptr<Answers> answers;
  constexpr size_t at_once = 128;
  std::string output;
  for (size_t i = 0; i < offsets.size(); i += at_once) {
    const size_t count = std::min(at_once, offsets.size() - i);
    bool answered = false;
    for (int tries = 0; tries < 3 && !answered; tries++) {
      if (tries > 0 || !answers || answers->module != module || !answers->is_mine())
        answers = std::make_unique<Answers>(module);
      answered = answers->add(offsets.data() + i, count, &output);
    }
    // Lines go to offsets by their order: without an answer each of these has none.
    for (size_t one = 0; one < count && !answered; one++) output += "0x0\n??:0\n";
  }
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
