// Compiles a program that is given as a string (include/nvrtc.h): writes it to a folder, and calls simtcc.
#include "include/nvrtc.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "checks/checks.h"
#include "counters/counters.h"

namespace fs = std::filesystem;

struct SimtProgram {
  std::string source, name;
  std::vector<std::pair<std::string, std::string>> headers;  // name and text
  std::vector<std::string> expressions;
  bool was_compiled = false;
  std::string log, image;  // image: empty if it does not compile
};

namespace {

bool write(const fs::path& path, const std::string& text) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  return static_cast<bool>(std::ofstream(path, std::ios::binary) << text);
}
std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// A name that stays within the folder: of a path, what follows the last step up.
fs::path within(const std::string& name) {
  fs::path path;
  for (const fs::path& part : fs::path(name).relative_path()) path = part == ".." ? fs::path() : path / part;
  return path.empty() ? fs::path("program") : path;
}

bool begins(const std::string& text, const char* with) { return text.rfind(with, 0) == 0; }

// As simtcc takes it; "" for what concerns only a GPU.
std::string translated(const std::string& option) {
  if (begins(option, "-I") || begins(option, "-D")) return option;
  if (begins(option, "--include-path=")) return "-I" + option.substr(15);
  if (begins(option, "--define-macro=")) return "-D" + option.substr(15);
  if (begins(option, "-std=c++2") || begins(option, "--std=c++2")) return option;
  return "";
}

// The status, and what it says in `log`.
int run(const std::vector<std::string>& command, const fs::path& log) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child = -1;
  const int failed = posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  while (!failed && waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return failed ? -1 : status;
}

}  // namespace

nvrtcResult nvrtcCreateProgram(nvrtcProgram* program, const char* source, const char* name, int headers,
                               const char* const* header_texts, const char* const* header_names) {
  if (!program || !source || headers < 0 || (headers && (!header_texts || !header_names)))
    return NVRTC_ERROR_INVALID_INPUT;
  auto* const made = new SimtProgram;
  made->source = source;
  made->name = name && *name ? name : "default_program";
  for (int i = 0; i < headers; i++) made->headers.emplace_back(header_names[i], header_texts[i]);
  *program = made;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program) {
  if (!program || !*program) return NVRTC_ERROR_INVALID_PROGRAM;
  delete *program;
  *program = nullptr;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcAddNameExpression(nvrtcProgram program, const char* expression) {
  if (!program) return NVRTC_ERROR_INVALID_PROGRAM;
  if (program->was_compiled) return NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
  program->expressions.emplace_back(expression);
  return NVRTC_SUCCESS;
}

nvrtcResult simt::compile_program(nvrtcProgram program, int count, const char* const* options, const char* header) {
  if (!program) return NVRTC_ERROR_INVALID_PROGRAM;
  std::string folder = (fs::temp_directory_path() / "nvrtc-XXXXXX").string();
  if (!mkdtemp(folder.data())) return NVRTC_ERROR_INTERNAL_ERROR;
  const fs::path inside = folder, log = inside / "log", image = inside / "image";
  fs::path file = inside / within(program->name);
  if (file.extension() != ".cu") file += ".cu";
  bool written = write(file, program->source);
  for (const auto& [name, text] : program->headers) written = write(inside / within(name), text) && written;
  std::vector<std::string> command = {(fs::path(header).parent_path().parent_path() / "simtcc").string(),
                                      "-ptx",
                                      "-D__CUDACC_RTC__",
                                      "-I" + folder,
                                      "-o",
                                      image.string(),
                                      file.string()};
  // A header in quotes may lie where the program runs, or beside the file whose name is given.
  const fs::path beside = fs::path(program->name).parent_path();
  for (const fs::path& place : {fs::path("."), beside.empty() ? fs::path(".") : beside})
    command.push_back("-I" + place.string());
  if (checks::running()) command.emplace_back("--check");
  if (counters::running()) command.emplace_back("--profile");
  for (const std::string& expression : program->expressions) command.push_back("--name-expression=" + expression);
  for (int i = 0; i < count; i++) {
    if (const std::string option = translated(options[i]); !option.empty()) command.push_back(option);
  }
  const int status = written ? run(command, log) : -1;
  program->was_compiled = true;
  program->log = read(log);
  for (size_t at; (at = program->log.find(folder + "/")) != std::string::npos;)
    program->log.erase(at, folder.size() + 1);
  program->image = status == 0 ? read(image) : "";
  std::error_code error;
  fs::remove_all(inside, error);
  return status == 0 ? NVRTC_SUCCESS : status == -1 ? NVRTC_ERROR_INTERNAL_ERROR : NVRTC_ERROR_COMPILATION;
}

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t* bytes) {
  if (!program) return NVRTC_ERROR_INVALID_PROGRAM;
  *bytes = program->log.size() + 1;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char* log) {
  if (!program) return NVRTC_ERROR_INVALID_PROGRAM;
  std::memcpy(log, program->log.c_str(), program->log.size() + 1);
  return NVRTC_SUCCESS;
}
// A kernel that an expression names is found by that expression.
nvrtcResult nvrtcGetLoweredName(nvrtcProgram program, const char* expression, const char** name) {
  if (!program) return NVRTC_ERROR_INVALID_PROGRAM;
  if (!program->was_compiled) return NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
  const auto& all = program->expressions;
  const auto found = std::find(all.begin(), all.end(), expression);
  if (found == all.end()) return NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
  *name = found->c_str();
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t* bytes) {
  if (!program || program->image.empty()) return NVRTC_ERROR_INVALID_PROGRAM;
  *bytes = program->image.size() + 1;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetPTX(nvrtcProgram program, char* image) {
  if (!program || program->image.empty()) return NVRTC_ERROR_INVALID_PROGRAM;
  std::memcpy(image, program->image.c_str(), program->image.size() + 1);
  return NVRTC_SUCCESS;
}

const char* nvrtcGetErrorString(nvrtcResult result) {
  constexpr const char* names[] = {"NVRTC_SUCCESS",
                                   "NVRTC_ERROR_OUT_OF_MEMORY",
                                   "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
                                   "NVRTC_ERROR_INVALID_INPUT",
                                   "NVRTC_ERROR_INVALID_PROGRAM",
                                   "NVRTC_ERROR_INVALID_OPTION",
                                   "NVRTC_ERROR_COMPILATION",
                                   "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
                                   "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
                                   "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
                                   "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
                                   "NVRTC_ERROR_INTERNAL_ERROR"};
  return result >= NVRTC_SUCCESS && result <= NVRTC_ERROR_INTERNAL_ERROR ? names[result] : "NVRTC_ERROR unknown";
}
nvrtcResult nvrtcVersion(int* major, int* minor) {
  *major = 12;
  *minor = 0;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetNumSupportedArchs(int* count) {
  *count = 1;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetSupportedArchs(int* architectures) {
  *architectures = 90;
  return NVRTC_SUCCESS;
}
