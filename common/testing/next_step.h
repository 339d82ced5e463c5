// What a run that failed tells the student to do next: the line that fails, then the TODOs that are still as handed
// out.
#pragma once

#include <string>

namespace testing_ {

struct Failing {
  std::string variant, name, text;  // of a case: "tree f32", "normal-7x33", what is wrong with it
};

// The first line of `source` that the text of a failure names ("labs/.../x.cu:12"); of calls, which begin in the
// kernel, the last. 0 if it names none.
int line_in(const std::string& text, const std::string& source);

// Whether some TODO of the file is no longer as handed out.
bool is_begun(const std::string& source);

// Prints them for the file `source`. todo: of TODOs only this one, "" for all. failing: the first case whose failure
// names a line, or the first that failed; of no name if only predictions did. Request::open_todos has the lines of
// TODOs (common/commands/todos.py).
//
// Returns which TODO to test alone: "2" if the line lies in TODO 2, "n, n is 2 or 3" if TODO 3 called the function,
// "n, n from 1 to 6" if no line of one is named and all are done, "" if there is nothing to gain.
std::string print_next_step(const std::string& source, const std::string& todo, const Failing& failing);

}  // namespace testing_
