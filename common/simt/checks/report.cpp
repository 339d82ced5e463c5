#include "report.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "../block.h"
#include "../counters/source_lines.h"
#include "../failure.h"
#include "../module_symbols.h"

namespace simt::checks {

namespace {

bool is_executors(const std::string& mangled) {
  return mangled.rfind("simt_", 0) == 0 || mangled.rfind("_ZN4simt", 0) == 0 || mangled.rfind("_ZZN4simt", 0) == 0 ||
         mangled.rfind("_ZGV", 0) == 0;
}

std::string brackets(const std::vector<size_t>& numbers) {
  std::string text;
  for (const size_t number : numbers) text += "[" + std::to_string(number) + "]";
  return text;
}

// "5", or "[1][3]" of an array of several dimensions, where it is inside.
std::string index_text(const ArrayShape& shape, size_t element, bool is_inside) {
  if (shape.dimensions.size() < 2 || !is_inside) return std::to_string(element);
  std::vector<size_t> index(shape.dimensions.size());
  for (size_t i = index.size(); i-- > 0; element /= shape.dimensions[i]) index[i] = element % shape.dimensions[i];
  return brackets(index);
}

}  // namespace

std::string text_of(const uint3& v) {
  return "(" + std::to_string(v.x) + "," + std::to_string(v.y) + "," + std::to_string(v.z) + ")";
}

const std::vector<SharedVariable>& shared_variables(const BlockInfo& block) {
  static auto* const of_kernels = new std::map<const void*, std::vector<SharedVariable>>;
  static const std::vector<SharedVariable> none;
  if (!block.static_shared_bytes) return none;
  const void* const kernel = current_block->launch().kernel.function;
  const auto [found, is_new] = of_kernels->try_emplace(kernel);
  if (!is_new) return found->second;
  for (const TlsSymbol& symbol : without_other_kernels(tls_symbols(kernel), kernel)) {
    if (!is_executors(symbol.name))
      found->second.push_back({without_scope(demangled(symbol.name)), symbol.offset, symbol.bytes});
  }
  return found->second;
}

std::string describe_static(const BlockInfo& block, uintptr_t address, size_t width) {
  const SharedVariable* nearest = nullptr;
  const size_t offset = address - block.static_shared;
  for (const SharedVariable& variable : shared_variables(block)) {
    if (variable.offset <= offset) nearest = &variable;
  }
  // Far beyond a variable it may just as well be another that was meant.
  if (!nearest || offset - nearest->offset >= 2 * nearest->bytes + 16)
    return "byte " + std::to_string(offset) + " of static shared memory";
  const size_t byte = offset - nearest->offset;
  const ArrayShape shape = shape_of_array(current_block->kernel_code(), nearest->offset);
  if (const size_t own = shape.element_bytes; own && nearest->bytes % own == 0)
    return "element " + index_text(shape, byte / own, byte < nearest->bytes) + " of " + nearest->name +
           brackets(shape.dimensions) +
           (byte < nearest->bytes ? "" : ", which has " + std::to_string(nearest->bytes / own));
  const size_t elements = nearest->bytes / width;
  if (byte % width || nearest->bytes % width) {
    return "byte " + std::to_string(byte) + " of " + nearest->name + " (" + std::to_string(nearest->bytes) + " bytes)";
  }
  if (nearest->bytes == width && byte == 0) return "the variable " + nearest->name;
  return "element " + std::to_string(byte / width) + " of " + nearest->name + "[" + std::to_string(elements) + "]" +
         (byte < nearest->bytes ? "" : ", which has " + std::to_string(elements));
}

std::string address_beside(size_t bytes, bool before) {
  return "an address " + std::to_string(bytes) + (bytes == 1 ? " byte " : " bytes ") +
         (before ? "before" : "past the end of");
}

std::string line_of(uintptr_t pc) {
  char file[512];
  const int line = source_line(pc - 1, file, sizeof file);
  return line ? counters::shorten(file) + ":" + std::to_string(line) : "an unknown line";
}

std::string name_of(const uint3& thread) { return "thread " + text_of(thread); }
std::string name_of_block(uint64_t number) { return "block " + text_of(current_block->launch().block_index(number)); }

uint3 thread_index(unsigned number) {
  const dim3 shape = blockDim;
  return {number % shape.x, number / shape.x % shape.y, number / shape.x / shape.y};
}

void describe_failure(Failure* failure, const char* what, const ThreadId& thread, uintptr_t pc,
                      const std::string& detail) {
  *failure = {};
  failure->what = what;
  std::snprintf(failure->detail, sizeof failure->detail, "%s", detail.c_str());
  failure->in_kernel = true;
  std::memcpy(failure->block, &thread.block, sizeof failure->block);
  std::memcpy(failure->thread, &thread.thread, sizeof failure->thread);
  failure->pc = pc;
  failure->frames[0] = pc;
}

void report(const char* what, const ThreadId& thread, uintptr_t pc, const std::string& detail) {
  Failure failure;
  describe_failure(&failure, what, thread, pc - 1, detail);
  report_failure(failure);
}
void report(const char* what, const ThreadId& thread, Place place, const std::string& detail) {
  fail_in_kernel(what, detail, place, thread.block, thread.thread);
}

}  // namespace simt::checks
