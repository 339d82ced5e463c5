#include "directives.h"

#include <initializer_list>
#include <regex>
#include <set>

namespace announce {

namespace {

// Sections that a compiler writes for ordinary code, with the flags that they may have.
bool is_ordinary_name(const std::string& name, const std::string& flags) {
  const auto one_of = [&](std::initializer_list<const char*> names) {
    for (const char* const known : names) {
      if (name == known || begins(name, std::string(known) + ".")) return true;
    }
    return false;
  };
  const bool executable = flags.find('x') != std::string::npos, writable = flags.find('w') != std::string::npos;
  if (executable) return !writable && one_of({".text"});
  if (writable) return one_of({".data", ".bss", ".tdata", ".tbss", ".init_array", ".fini_array", "simt_constant"});
  return one_of({".rodata", ".gcc_except_table", ".comment", ".note.GNU-stack", ".note.gnu", ".eh_frame"}) ||
         begins(name, ".debug_") || flags.empty() || (one_of({".data.rel.ro"}));
}

}  // namespace

bool is_ordinary_section(const std::string& section, const std::string& flags, const std::string& rest) {
  // The course marks each of its constants with a number; __launch_bounds__ lists no-operations (simt/qualifiers.h).
  static const std::regex ordinary_rest(
      R"re(^(,@(progbits|nobits|note|init_array|fini_array)(,\d+)?(,[^,#";]+,comdat)?|,@progbits#[0-9]+.*|)$)re");
  const bool numbered = section == "simt_constant" && flags == "aw";
  // Which of a template's flags comes first, and what follows them, differs between versions of g++.
  static const std::regex bounds(R"re(^aw[oGR]{1,3},@progbits(,[^,#";]+){1,4}$)re");
  if (section == "__patchable_function_entries" && std::regex_match(flags + rest, bounds)) return true;
  return is_ordinary_name(section, flags) && std::regex_match(rest, ordinary_rest) &&
         (rest.find('#') == std::string::npos || numbered);
}

bool is_ordinary_directive(const std::string& name) {
  static const std::set<std::string> names = {
      ".file",    ".loc",  ".text", ".data",  ".bss",     ".section", ".globl",   ".weak",    ".hidden",   ".local",
      ".comm",    ".type", ".size", ".align", ".p2align", ".balign",  ".string",  ".ascii",   ".asciz",    ".byte",
      ".value",   ".long", ".quad", ".zero",  ".set",     ".ident",   ".uleb128", ".sleb128", ".internal", ".protected",
      ".weakref", ".octa", ".skip", ".half",  ".short",   ".int",     ".2byte",   ".4byte",   ".8byte"};
  return names.count(name);
}

bool is_data(const std::string& directive) {
  for (const char* const name :
       {".string", ".ascii", ".asciz", ".byte", ".value", ".long", ".quad", ".zero", ".uleb128", ".sleb128", ".octa",
        ".skip", ".half", ".short", ".int", ".2byte", ".4byte", ".8byte"}) {
    if (directive == name) return true;
  }
  return false;
}

}  // namespace announce
