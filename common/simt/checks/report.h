// How the checks speak.
#pragma once

#include <string>
#include <vector>

#include "../simt.h"
#include "observer.h"

namespace simt::checks {

// Which memory an address lies in. What is neither device memory nor shared memory, and no variable, is `other`.
AddressSpace space_of(const BlockInfo& block, uintptr_t address);

// A static __shared__ variable of the running kernel's module that is not another kernel's own (module_symbols.h):
// `offset` is from where static shared memory begins.
struct SharedVariable {
  std::string name;  // without its scope
  size_t offset, bytes;
};
// By rising offset; empty if the module has no symbol table.
const std::vector<SharedVariable>& shared_variables(const BlockInfo& block);

// "element 4097 of x[64 x 64]" and the like. `width`: bytes of an element where nothing else tells.
std::string describe(const BlockInfo& block, AddressSpace space, uintptr_t address, size_t width);

// The same of static shared memory: "element 33 of tile[32]". The address may lie beyond it.
std::string describe_static(const BlockInfo& block, uintptr_t address, size_t width);

// "a row of 600 columns", or "row 3 of y" where the address is that of an element just past it; else "".
std::string just_past_row(const BlockInfo& block, AddressSpace space, uintptr_t address, size_t width);

// "an address 4 bytes before", "an address 1 byte past the end of".
std::string address_beside(size_t bytes, bool before);

// "softmax.cu:42", or "an unknown line".
std::string line_of(uintptr_t pc);

// "thread (3,0,0)", "block (1,0,0)".
std::string name_of(const uint3& thread);
std::string text_of(const uint3& v);  // "(1,0,0)"
std::string name_of_block(uint64_t number);

// The index of a thread of the running block, from its number.
uint3 thread_index(unsigned number);

// Fills a failure of a kernel. `pc` is on the source line.
void describe_failure(Failure* failure, const char* what, const ThreadId& thread, uintptr_t pc,
                      const std::string& detail);

// Ends the process: `what` is "racecheck: race in shared memory" or the like, `detail` the rest.
[[noreturn]] void report(const char* what, const ThreadId& thread, uintptr_t pc, const std::string& detail);
[[noreturn]] void report(const char* what, const ThreadId& thread, Place place, const std::string& detail);

// A shuffle reads the value of lane `source`, which is not in its mask or brought none (`came`): synccheck's, if the
// checks are on.
void shuffle_source(unsigned mask, unsigned came, unsigned source, Place place);

}  // namespace simt::checks
