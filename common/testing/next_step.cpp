#include "next_step.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <vector>

#include "request.h"

namespace testing_ {
namespace {

constexpr size_t width = 80;
constexpr int most_todos = 10;

// The lines of a file; the first has index 1.
std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> lines(1);
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

std::set<size_t> open_todos() {
  const std::vector<int>& lines = request().open_todos;
  return {lines.begin(), lines.end()};
}

std::string trimmed(const std::string& line) {
  const size_t begin = line.find_first_not_of(" \t"), end = line.find_last_not_of(" \t\r");
  return begin == std::string::npos ? "" : line.substr(begin, end + 1 - begin);
}

// A line of the report, cut where the screen of a terminal ends.
void print(std::string line) {
  if (line.size() > width) {
    const size_t space = line.rfind(' ', width - 4);
    line = line.substr(0, space > width * 3 / 4 ? space : width - 4) + " ...";  // a long word is cut
  }
  printf("%s\n", line.c_str());
}

// A file's TODOs: how many there are besides 0, and which of them a line lies in, "" if in none.
struct Todos {
  int count = 0;
  bool any = false;
  std::string of_line;
  size_t begins = 0;       // the one that the line lies in
  std::string of_callers;  // other TODOs with calls by which the kernel came to the line: " or 3"
};

Todos todos_of(const std::vector<std::string>& lines, size_t at, const std::vector<size_t>& calls) {
  Todos todos;
  std::string inside;
  std::set<std::string> callers;
  size_t begins = 0;
  for (size_t i = 1; i < lines.size(); i++) {
    const std::string line = trimmed(lines[i]);
    if (line.rfind("// TODO ", 0) == 0) {
      inside = line.substr(8, line.find(':') - 8), begins = i;
      todos.any = true;
      todos.count += inside != "0";
    }
    if (i == at) todos.of_line = inside, todos.begins = begins;
    if (std::count(calls.begin(), calls.end(), i) && !inside.empty()) callers.insert(inside);
    if (line.rfind("// END ", 0) == 0) inside.clear();
  }
  callers.erase(todos.of_line);
  for (const std::string& caller : callers) todos.of_callers += " or " + caller;
  return todos;
}

std::set<std::string> todos_that_launch(const std::vector<std::string>& lines) {
  std::set<std::string> launching;
  for (size_t i = 1; i < lines.size(); i++) {
    const bool launches = lines[i].find("<<<") != std::string::npos || lines[i].find("cudaLaunch") != std::string::npos;
    const std::string todo = launches ? todos_of(lines, i, {}).of_line : "";
    if (!todo.empty()) launching.insert(todo);
  }
  return launching;
}

// Which TODO to look into where a line was handed an address. What a given line hands down comes from any of them.
Todos with_caller(Todos todos, const Todos& caller) {
  if (todos.of_line.empty() || caller.of_line.empty()) return caller;
  todos.of_callers = caller.of_line == todos.of_line ? "" : " or " + caller.of_line;
  return todos;
}

// Where a text tells of the calls (simt::describe_calls); npos if it does not.
size_t calls_at(const std::string& text) {
  return std::min(text.find("The kernel called this function at "), text.find("The kernel got there by calls at "));
}

// A wrong address of an access in a function: what the caller gave may be wrong, and not the function.
bool hands_address_down(const std::string& text) {
  for (const char* const what :
       {"memcheck: out of bounds in global", "memcheck: misaligned", "misaligned or invalid address"})
    if (text.find(what) != std::string::npos) return calls_at(text) != std::string::npos;
  return false;
}

// The lines of this file in what is said of the calls (simt::describe_calls), the innermost last, where the mistake may
// be theirs: only some threads called, or the address was handed down.
std::vector<size_t> calls_in(const std::string& text, const std::string& source) {
  std::vector<size_t> calls;
  const auto says = [&text](const char* word) { return text.find(word) != std::string::npos; };
  if (!says("synccheck: ") && !says("deadlock") && !hands_address_down(text)) return calls;
  const size_t said = calls_at(text);
  if (said == std::string::npos || text.find(source + ":") > said) return calls;  // lines of another file
  for (size_t at = said; (at = text.find("line ", at)) != std::string::npos; at++)
    calls.push_back(static_cast<size_t>(atoi(text.c_str() + at + 5)));
  return calls;
}

// The first sentence of a comment, which may go on in the next line.
std::string first_sentence(const std::string& text) {
  size_t end = text.find(". ");
  while (end != std::string::npos && text[end - 1] == '.') end = text.find(". ", end + 1);  // not the dots of 0 .. n
  if (end != std::string::npos) return text.substr(0, end + 1);
  return text.back() == '.' || text.back() == '?' ? text : text + " ...";
}

}  // namespace

int line_in(const std::string& text, const std::string& source) {
  const size_t calls = calls_at(text);
  int line = 0;
  for (size_t at = text.find(source + ":"); at != std::string::npos; at = text.find(source + ":", at + 1)) {
    const int found = atoi(text.c_str() + at + source.size() + 1);
    if (found <= 0) continue;
    line = found;
    if (at < calls) break;
  }
  return line;
}

bool is_begun(const std::string& source) {
  const std::vector<std::string> lines = lines_of(source);
  const auto is_todo = [](const std::string& line) { return trimmed(line).rfind("// TODO ", 0) == 0; };
  const auto todos = std::count_if(lines.begin(), lines.end(), is_todo);
  return !open_todos().empty() && static_cast<size_t>(todos) > open_todos().size();
}

std::string print_next_step(const std::string& source, const std::string& todo, const Failing& failing) {
  const std::vector<std::string> lines = lines_of(source);
  const auto failed_at = static_cast<size_t>(line_in(failing.text, source));
  const bool has_line = !failing.name.empty() && failed_at > 0 && failed_at < lines.size();
  const std::vector<size_t> calls = calls_in(failing.text, source);
  Todos todos = todos_of(lines, has_line ? failed_at : 0, calls);
  if (has_line) {
    print("  line " + std::to_string(failed_at) + " fails in " + failing.name + " of " + failing.variant + ": " +
          trimmed(lines[failed_at]));
    if (hands_address_down(failing.text) && !calls.empty() && calls.back() < lines.size()) {
      print("  The address came from line " + std::to_string(calls.back()) + ": " + trimmed(lines[calls.back()]));
      todos = with_caller(todos, todos_of(lines, calls.back(), {}));
    }
    if (!todos.of_line.empty() &&
        failing.text.find("giving the launch more dynamic shared memory") != std::string::npos)
      for (const std::string& todo_of_launch : todos_that_launch(lines))
        if (todo_of_launch != todos.of_line) todos.of_callers += " or " + todo_of_launch;
    if (todos.any && todos.of_line.empty())
      print("  This line is given code: which TODO gives it wrong or missing values?");
  }
  const bool is_given = todos.any && todos.of_line.empty();
  int shown = 0;
  bool is_code_open = false;  // TODO 0 is the predictions
  for (const size_t number : open_todos()) {
    const size_t at = number < lines.size() ? lines[number].find("TODO ") : std::string::npos;
    if (at == std::string::npos) continue;
    if (!todo.empty() && lines[number].compare(at, 6 + todo.size(), "TODO " + todo + ":") != 0) continue;
    is_code_open |= lines[number].compare(at, 7, "TODO 0:") != 0;
    if (++shown <= most_todos)
      print("  line " + std::to_string(number) + ", " + first_sentence(trimmed(lines[number].substr(at))));
  }
  if (shown == 0 && !has_line && !failing.name.empty())
    print("  " + failing.name + " of " + failing.variant + ": " + failing.text.substr(0, failing.text.find('\n')));
  if (shown > most_todos) printf("  and %d more TODOs\n", shown - most_todos);
  if (failing.name.empty() || !todo.empty() || todos.count < 2) return "";
  // What the launch asked for is wrong, not the line; or what should have been written before.
  for (const char* const elsewhere :
       {"Is it a number of elements here?", "<<<blocks, threads>>> in this order?", "initcheck: "})
    if (failing.text.find(elsewhere) != std::string::npos) return "n, n from 1 to " + std::to_string(todos.count);
  if (has_line && !is_given && open_todos().count(todos.begins)) return "";
  if (has_line && !is_given)
    return todos.of_callers.empty() ? todos.of_line : "n, n is " + todos.of_line + todos.of_callers;
  return !is_code_open ? "n, n from 1 to " + std::to_string(todos.count) : "";
}

}  // namespace testing_
