// Prints which backend will be used: `backend` the line for humans, `backend --name` just "cpu" or "cuda". `backend
// --gpus`: how many GPUs the driver shows, and the first one's name or why there is none.
#include <cstdio>
#include <cstring>

#include "backend.h"

int main(int argc, char** argv) {
  const bool name_only = argc == 2 && strcmp(argv[1], "--name") == 0;
  const bool gpus_only = argc == 2 && strcmp(argv[1], "--gpus") == 0;
  if (argc > 2 || (argc == 2 && !name_only && !gpus_only)) {
    fprintf(stderr, "usage: backend [--name|--gpus]   (BACKEND=auto|cuda|cpu in the environment)\n");
    return 2;
  }
  if (gpus_only) {
    const rung::Gpus gpus = rung::find_gpus();
    printf("%d %s\n", gpus.count, gpus.words.c_str());
    return 0;
  }
  const rung::Backend backend = rung::choose_backend();
  if (backend.name.empty()) {
    fprintf(stderr, "error: %s\n", backend.error.c_str());
    return 2;
  }
  puts(name_only ? backend.name.c_str() : backend.line.c_str());
  return 0;
}
