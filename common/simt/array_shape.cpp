// How long the elements of a static __shared__ array are, and how many there are in each dimension, from the debug
// information that readelf prints: a symbol tells the array's own length only, and an access may be to a part of an
// element.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "loaded_module.h"
#include "module_symbols.h"

namespace simt {

namespace {

// What one entry says of itself; others are named by their offset in the file.
struct Entry {
  std::string tag;
  unsigned long type = 0, origin = 0;  // 0: none
  size_t bytes = 0;
  std::vector<size_t> dimensions;  // of an array
  bool is_at = false;              // at the thread-local offset that is looked for
};

unsigned long offset_after(const char* text) {
  const char* const at = std::strstr(text, "<0x");
  return at ? std::strtoul(at + 3, nullptr, 16) : 0;
}

bool begins(const char* text, const char* word) { return std::strncmp(text, word, std::strlen(word)) == 0; }

// The entries of variables and types in the compilation unit that has the variable; readelf is not read any further. It
// prints a hundred thousand lines for a program with the tests' headers, so each is looked at once, from its beginning.
std::map<unsigned long, Entry> entries_of(const std::string& path, size_t tls_offset) {
  std::map<unsigned long, Entry> entries;
  FILE* const output = popen(("readelf --debug-dump=info '" + path + "' 2>/dev/null").c_str(), "r");
  if (!output) return entries;
  Entry *entry = nullptr, *array = nullptr;
  bool found = false;
  char line[2048];
  while (std::fgets(line, sizeof line, output)) {
    const char* text = line + std::strspn(line, " ");
    if (begins(text, "Compilation Unit @")) {
      if (found) break;
      entries.clear();
      entry = array = nullptr;
    }
    const char* const end = *text == '<' ? std::strchr(text, '>') : nullptr;
    if (!end) continue;
    if (end[1] == '<') {  // " <1><17a2f>: Abbrev Number: 5 (DW_TAG_variable)"
      const char* const tag = std::strstr(end, "(DW_TAG_");
      entry = nullptr;
      if (!tag || !(begins(tag + 8, "variable") || std::strstr(tag + 8, "type"))) continue;
      entry = &entries[std::strtoul(end + 2, nullptr, 16)];
      entry->tag.assign(tag + 8, std::strcspn(tag + 8, ")"));
      if (entry->tag == "array_type") array = entry;
      continue;
    }
    text = end + 1 + std::strspn(end + 1, " ");  // "    <17a33>   DW_AT_byte_size   : 4"
    if (!entry || !begins(text, "DW_AT_")) continue;
    const auto number = [&] { return std::strtoul(text + std::strcspn(text, ":") + 1, nullptr, 0); };
    if (begins(text, "DW_AT_type ")) {
      entry->type = offset_after(text);
    } else if (begins(text, "DW_AT_abstract_origin") || begins(text, "DW_AT_specification")) {
      entry->origin = offset_after(text);
    } else if (begins(text, "DW_AT_byte_size")) {
      entry->bytes = number();
    } else if (begins(text, "DW_AT_upper_bound") && array && entry->tag == "subrange_type") {  // follows its array
      array->dimensions.push_back(number() + 1);
    } else if (const char* at = std::strstr(text, "(DW_OP_const"); at && std::strstr(at, "tls_address")) {
      entry->is_at = std::strtoul(at + std::strcspn(at, ":") + 1, nullptr, 0) == tls_offset;
      found |= entry->is_at;
    }
  }
  pclose(output);
  return entries;
}

}  // namespace

ArrayShape shape_of_array(const void* code, size_t tls_offset) {
  // The judge lets no tool of this machine read what a submission has built.
  const char* const judge = std::getenv("LADDER_ADDR2LINE");
  char path[512];
  loaded_module(code).path(path, sizeof path);
  if ((judge && *judge) || std::strchr(path, '\'')) return {};
  const std::map<unsigned long, Entry> entries = entries_of(path, tls_offset);
  const Entry none;
  const auto entry_at = [&](unsigned long offset) -> const Entry& {
    const auto found = entries.find(offset);
    return found == entries.end() ? none : found->second;
  };
  for (const auto& [offset, variable] : entries) {
    if (!variable.is_at) continue;
    unsigned long type = variable.type ? variable.type : entry_at(variable.origin).type;
    // Through names and qualifiers to the array, and from there to its elements.
    ArrayShape shape;
    for (int steps = 0; type && steps < 20; steps++) {
      const Entry& entry = entry_at(type);
      if (entry.bytes && entry.tag != "array_type") {
        shape.element_bytes = entry.bytes;
        return shape.dimensions.empty() ? ArrayShape() : shape;
      }
      shape.dimensions.insert(shape.dimensions.end(), entry.dimensions.begin(), entry.dimensions.end());
      type = entry.type;
    }
  }
  return {};
}

}  // namespace simt
