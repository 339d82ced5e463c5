// The main program of a lab's tests. Exit status 0 if all passed, 1 if not, 2 if it was asked for something impossible.
#include <cstdio>
#include <string>
#include <vector>

#include "interrupts.h"
#include "request.h"
#include "run_catch.h"
#include "session.h"

int main(int argc, char** argv) {
  const std::string problem =
      argc < 2 ? "the first argument is a file with a request; make labNN writes one" : testing_::read_request(argv[1]);
  if (!problem.empty()) {
    fprintf(stderr, "error: %s\n", problem.c_str());
    return 2;
  }
  testing_::end_at_interrupts();
  if (const int status = testing_::prepare()) {
    if (status == 1) puts("0 passed, 1 failed");  // the last line of every run that tested something
    return status;
  }
  // The commands have printed this line already, before they built anything.
  if (!testing_::request().backend_shown) printf("%s\n", testing_::session().backend_line.c_str());
  printf("%s\n\n", testing_::session().source.c_str());
  fflush(stdout);

  // Catch2's own options work too; another reporter for example.
  std::vector<const char*> arguments(argv, argv + argc);
  arguments.erase(arguments.begin() + 1);
  bool reporter_chosen = false;
  for (const std::string argument : arguments) {
    reporter_chosen = reporter_chosen || argument == "-r" || argument.rfind("--reporter", 0) == 0;
  }
  if (!reporter_chosen) arguments.insert(arguments.end(), {"--reporter", "ladder"});
  return testing_::run_catch(static_cast<int>(arguments.size()), arguments.data()) == 0 ? 0 : 1;
}
