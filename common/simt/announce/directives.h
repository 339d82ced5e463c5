// Which directives and sections a compiler writes for ordinary code. An assembly file with any other may come from a
// kernel's own hand, and is refused.
#pragma once

#include <string>
#include <string_view>

namespace announce {

inline bool begins(std::string_view text, std::string_view with) { return text.compare(0, with.size(), with) == 0; }

// What follows ".section": its name, its flags, and the rest of the line.
bool is_ordinary_section(const std::string& section, const std::string& flags, const std::string& rest);

bool is_ordinary_directive(const std::string& name);

// Bytes that stand in the file as they are: .byte, .string.
bool is_data(const std::string& directive);

}  // namespace announce
