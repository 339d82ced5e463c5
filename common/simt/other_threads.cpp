#include "other_threads.h"

#include <dirent.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace simt {

bool another_thread_runs() {
  DIR* const tasks = opendir("/proc/self/task");
  if (!tasks) return false;
  const long self = syscall(SYS_gettid);
  bool runs = false;
  while (const dirent* task = readdir(tasks)) {
    const long thread = std::atol(task->d_name);
    if (thread == 0 || thread == self) continue;
    char path[64], name[64], state = 0;
    std::snprintf(path, sizeof path, "/proc/self/task/%ld/stat", thread);
    std::FILE* const file = std::fopen(path, "r");
    if (!file) continue;
    if (std::fscanf(file, "%*d (%63[^)]) %c", name, &state) == 2 && state == 'R') runs = true;
    std::fclose(file);
  }
  closedir(tasks);
  return runs;
}

}  // namespace simt
