// The main program of a lab's tests. Exit status 0 if all passed, 1 if not, 2 if it was asked for something impossible.
#include <cstdio>
#include <cstdlib>

#include "interrupts.h"
#include "session.h"
#include "suite.h"

int main() {
  testing_::end_at_interrupts();
  if (const int status = testing_::prepare()) {
    if (status == 1) puts("0 passed, 1 failed");  // the last line of every run that tested something
    return status;
  }
  // The commands have printed this line already, before they built anything.
  if (!std::getenv("LADDER_BACKEND_SHOWN")) printf("%s\n", testing_::session().backend_line.c_str());
  printf("%s\n\n", testing_::session().source.c_str());
  fflush(stdout);

  return testing_::run_suites() ? 0 : 1;
}
