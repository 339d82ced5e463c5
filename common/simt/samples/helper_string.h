// Options of the command line, as CUDA's samples read them: -name, --name, --name=value.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <strings.h>
#include <vector>

#ifndef EXIT_WAIVED
#define EXIT_WAIVED 2
#endif

inline int stringRemoveDelimiter(char delimiter, const char* string) {
  int start = 0;
  while (string[start] == delimiter) start++;
  return string[start] ? start : 0;
}

inline int getFileExtension(char* filename, char** extension) {
  char* const dot = strrchr(filename, '.');
  *extension = dot ? dot + 1 : nullptr;
  return dot ? static_cast<int>(dot + 1 - filename) : 0;
}

namespace simt_samples {
// What is behind the name; nullptr if the option is not there.
inline const char* option(int argc, const char** argv, const char* name) {
  const size_t length = strlen(name);
  for (int i = 1; i < argc; i++) {
    const char* const given = argv[i] + stringRemoveDelimiter('-', argv[i]);
    if (given != argv[i] && strncasecmp(given, name, length) == 0 && (given[length] == '=' || given[length] == 0))
      return given + length;
  }
  return nullptr;
}
}  // namespace simt_samples

inline bool checkCmdLineFlag(int argc, const char** argv, const char* name) {
  return simt_samples::option(argc, argv, name) != nullptr;
}

template <typename T>
bool getCmdLineArgumentValue(int argc, const char** argv, const char* name, T* value) {
  const char* const found = simt_samples::option(argc, argv, name);
  if (found && *found == '=') {
    std::istringstream text(found + 1);
    text >> *value;
  }
  return found != nullptr;
}

inline int getCmdLineArgumentInt(int argc, const char** argv, const char* name) {
  const char* const found = simt_samples::option(argc, argv, name);
  return found && *found == '=' ? atoi(found + 1) : 0;
}

inline float getCmdLineArgumentFloat(int argc, const char** argv, const char* name) {
  const char* const found = simt_samples::option(argc, argv, name);
  return found && *found == '=' ? static_cast<float>(atof(found + 1)) : 0.0f;
}

inline bool getCmdLineArgumentString(int argc, const char** argv, const char* name, char** value) {
  const char* const found = simt_samples::option(argc, argv, name);
  *value = found && *found == '=' ? const_cast<char*>(found + 1) : nullptr;
  return *value != nullptr;
}

// The file here, in data/, or beside the program; nullptr if it is in none of them. The caller may free it.
inline char* sdkFindFilePath(const char* filename, const char* executable) {
  std::vector<std::string> folders = {"", "./data/", "../data/", "../../data/"};
  const char* const slash = executable ? strrchr(executable, '/') : nullptr;
  if (slash) {
    const std::string beside(executable, static_cast<size_t>(slash + 1 - executable));
    folders.push_back(beside);
    folders.push_back(beside + "data/");
  }
  for (const std::string& folder : folders) {
    const std::string path = folder + filename;
    if (std::FILE* const file = std::fopen(path.c_str(), "rb")) {
      std::fclose(file);
      return strdup(path.c_str());
    }
  }
  return nullptr;
}
