// Prints which backend will be used: `backend` the line for humans, `backend --name` just "cpu" or "cuda".
#include <cstdio>
#include <cstring>

#include "backend.h"

int main(int argc, char** argv) {
  const bool name_only = argc == 2 && strcmp(argv[1], "--name") == 0;
  if (argc > 2 || (argc == 2 && !name_only)) {
    fprintf(stderr, "usage: backend [--name]   (BACKEND=auto|cuda|cpu in the environment)\n");
    return 2;
  }
  const rung::Backend backend = rung::choose_backend();
  if (backend.name.empty()) {
    fprintf(stderr, "error: %s\n", backend.error.c_str());
    return 2;
  }
  puts(name_only ? backend.name.c_str() : backend.line.c_str());
  return 0;
}
