// The symbol table of a loaded module: names of functions and of static __shared__ variables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "loaded_module.h"
#include "memory.h"

namespace simt {

struct TlsSymbol {
  std::string name;      // mangled
  size_t offset, bytes;  // in the module's thread-local variables
};

// The thread-local variables of the module that holds this code, by rising offset. Empty if its file has no symbol
// table. Reads the file.
std::vector<TlsSymbol> tls_symbols(const void* code);

// Those of a module that are other kernels' own, of all that are not static (simt/qualifiers.h). Reads the file.
std::vector<TlsSymbol> without_other_kernels(std::vector<TlsSymbol> symbols, const void* kernel);

struct ArrayShape {
  size_t element_bytes = 0;        // 0: not known
  std::vector<size_t> dimensions;  // as in the source, outermost first
};

// Of the array at this offset of those variables. Runs readelf.
ArrayShape shape_of_array(const void* code, size_t tls_offset);

// A name as in the source, or the text itself if it is not mangled.
std::string demangled(const std::string& mangled);

// "tile" of "reverse(float*)::tile".
std::string without_scope(const std::string& name);

// A function's symbol. Empty without a symbol table. Reads the file, the first time.
std::string mangled_name(const void* function);

// A function's name with its template arguments, without namespaces that have no name, result and parameters, as Nsight
// Compute shortens it: "softmax_kernel<float, 4>". Empty without a symbol table. Reads the file.
std::string function_name(const void* function);

// The functions of a module's file by their mangled names: offsets in the module. Of static ones of one name, which
// several files may have, in the order in which these were linked. Reads the file.
using FunctionOffsets = std::unordered_map<std::string, std::vector<uintptr_t>>;
FunctionOffsets function_offsets(const std::string& path);

// A section of a module's file; empty if it has none of that name. Reads the file.
std::string section_of(const std::string& path, const std::string& name);

// The name, without its scope, of the variable that holds this address; empty if none does, or without a symbol table.
// Reads the file.
std::string variable_name(uintptr_t address);

// Where the variables lie that have one of these names, without their scopes. Reads the file.
std::vector<Allocation> variables_called(const LoadedModule& module, const std::unordered_set<std::string>& names);

// Bytes of the static __shared__ variables that a kernel declares itself; those of functions that it calls are not
// known. 0 without a symbol table. Reads the file the first time.
size_t static_shared_bytes(const void* kernel);

}  // namespace simt
