// Numbers as the messages to students write them.
#pragma once

#include <string>

namespace testing_ {

// One number through a printf pattern; 63 characters at most.
std::string format(const char* pattern, double value);
// A whole number, not below 0: 98304 -> "98,304".
std::string whole(double value);
// One place behind the point, none if it says nothing: 4 -> "4", 31.5 -> "31.5".
std::string brief(double value);
// "once", "3 times".
std::string times_of(double value);
// Columns of the terminal that stdout is; 0 if it is none: a log's lines are not wrapped to it.
size_t terminal_columns();
// Lines of at most `width` characters, broken at spaces. 0: of 100, or what fits into the terminal with some
// indentation.
std::string wrapped(const std::string& text, size_t width = 0);

}  // namespace testing_
