// The names of the cases, a line each: make lab09 CASE=... refuses another before it compiles the program.
#include "cases.h"

#include <cstdio>

int main() {
  for (const sharded::Case& c : sharded::cases) std::puts(c.name);
}
