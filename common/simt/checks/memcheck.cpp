#include "memcheck.h"

#include <link.h>

#include <algorithm>
#include <utility>

#include "../block.h"
#include "../device_heap.h"
#include "../device_limits.h"
#include "../devices.h"
#include "../launch_state.h"
#include "../loaded_module.h"
#include "../module_symbols.h"
#include "host_variables.h"
#include "report.h"

namespace simt::checks {

namespace {

constexpr uintptr_t null_page = 64 * 1024;

// A GPU keeps a little memory before a block's shared memory for itself, and gives it out in pieces. What lies farther
// before it or beyond it is nobody's: the second of these ends the program on a GPU, in whichever build.
constexpr const char out_of_shared[] = "memcheck: out of bounds in shared memory",
                     invalid_in_shared[] = "memcheck: invalid address in shared memory";

std::string access_text(const Access& access) {
  const char* const verb = only_loads(access.kind) ? " reads " : only_stores(access.kind) ? " writes " : " updates ";
  return "it" + std::string(verb) + std::to_string(access.bytes) + " bytes at ";
}

Memcheck::Finding of_the_host(const std::string& text) {
  return {
      "memcheck: host memory",
      text +
          ", which is memory of the host.\nKernels can use what cudaMalloc gives, not variables, arrays and pointers "
          "of the host: copy with cudaMemcpy. On a GPU without HMM the access fails."};
}

}  // namespace

// What a kernel can read of its module: code and const data, which nobody can write.
void Memcheck::add_module(const void* code) {
  const LoadedModule module = loaded_module(code);
  for (unsigned i = 0; i < module.header_count; i++) {
    const auto& segment = module.headers[i];
    const uintptr_t begin = module.base + segment.p_vaddr;
    const bool sealed = segment.p_type == PT_GNU_RELRO || (segment.p_type == PT_LOAD && !(segment.p_flags & PF_W));
    if (sealed) program_.push_back({begin, begin + segment.p_memsz, Kind::read_only});
  }
}

void Memcheck::launch_begin(const LaunchInfo& launch) {
  program_.clear();
  const auto add = [&](uintptr_t begin, size_t bytes, Kind kind) { program_.push_back({begin, begin + bytes, kind}); };
  for (const Allocation& part : device_variables()) add(part.begin, part.bytes, Kind::variable);
  for (const Allocation& part : constant_variables()) add(part.begin, part.bytes, Kind::constant);
  add_module(launch.code);
  add(launch.arguments.begin, launch.arguments.bytes, Kind::argument);
  for (const void* variable : {static_cast<const void*>(&threadIdx), static_cast<const void*>(&blockIdx),
                               static_cast<const void*>(&blockDim), static_cast<const void*>(&gridDim)})
    add(reinterpret_cast<uintptr_t>(variable), sizeof(uint3), Kind::built_in);
}

const Memcheck::Range* Memcheck::program_data(uintptr_t address) {
  for (Range& range : program_) {
    if (address < range.begin || address >= range.end) continue;
    std::swap(range, program_.front());  // the next one is likely to be the same
    return &program_.front();
  }
  return nullptr;
}

Memcheck::Finding Memcheck::look_at(const BlockInfo& block, const Access& access, Allocation* right) {
  *right = {};
  // In a program of one module they lie among its shared variables.
  if (const Range* const range = program_data(access.address); range && range->kind == Kind::built_in)
    return look_at_program(*range, access, "", right);
  if (current_cluster) {
    if (const auto remote = current_cluster->remote(access.address)) return look_at_remote(block, access, *remote);
  }
  const AddressSpace space = space_of(block, access.address);
  const bool shared = space != AddressSpace::global && space != AddressSpace::other;
  Finding finding = shared                             ? look_at_shared(block, access, right)
                    : buffers_.is_live(access.address) ? look_at_global(block, access, right)
                                                       : look_at_other(block, access, right);
  if (finding.what || !access.aligned || access.address % access.bytes == 0) return finding;
  // g++ copies two of their members at once; nvcc, which knows how they are aligned, does not.
  if (const Range* const range = program_data(access.address); range && range->kind == Kind::argument) return finding;
  return {shared ? "memcheck: misaligned address in shared memory" : "memcheck: misaligned address in global memory",
          access_text(access) + describe(block, space, access.address, access.bytes) + ", which is " +
              std::to_string(access.address % access.bytes) + " bytes past a multiple of " +
              std::to_string(access.bytes) +
              ".\nThe address of a vector access must be a multiple of its size: handle the elements before the first "
              "such address "
              "one by one."};
}

// The owner may end before the next access, so no range is right for long.
Memcheck::Finding Memcheck::look_at_remote(const BlockInfo& block, const Access& access,
                                           const Cluster::Remote& remote) const {
  const auto it_is = [&] {
    return access_text(access) + describe(block, AddressSpace::cluster, access.address, access.bytes);
  };
  if (remote.state == Residents::State::ended)
    return {"memcheck: shared memory of a block that has ended",
            it_is() +
                ", which has returned.\nUsually fixed by a cluster.sync() at the kernel's end: no block may return "
                "while others read or write its shared memory."};
  if (remote.state == Residents::State::not_begun)
    return {"memcheck: shared memory of a block that has not begun",
            it_is() +
                ", which need not have begun yet.\nUsually fixed by a cluster.sync() before the first access "
                "to another block's shared memory."};
  Access there = access;
  there.address = remote.shared;
  Allocation ignored;
  Finding finding = look_at_shared(block, there, &ignored);
  if (finding.what)
    finding.detail += "\nIt is the shared memory of block " + text_of(remote.block) + " of the cluster.";
  return finding;
}

Memcheck::Finding Memcheck::look_at_global(const BlockInfo& block, const Access& access, Allocation* right) const {
  if (has_several_devices()) {
    const int owner = owner_of(access.address), own = current_device();
    if (!may_access(own, owner)) {
      const bool loads = only_loads(access.kind);
      const bool stores = only_stores(access.kind);
      const std::string theirs = "memory of device " + std::to_string(owner);
      return {"memcheck: memory of another device",
              std::string("it ") +
                  (loads    ? "reads "
                   : stores ? "writes "
                            : "updates ") +
                  theirs + " while running on device " + std::to_string(own) +
                  ", without cudaDeviceEnablePeerAccess:\nit is " +
                  describe(block, AddressSpace::global, access.address, access.bytes) + ".\nCall cudaSetDevice(" +
                  std::to_string(own) + ") and then cudaDeviceEnablePeerAccess(" + std::to_string(owner) +
                  ", 0) before the launch; or is it the wrong device's pointer?"};
    }
  }
  if (buffers_.allows(access.address, access.bytes, right)) return {};
  const uintptr_t last = access.address + access.bytes - 1;
  const uintptr_t culprit = buffers_.allows(access.address, 1, right) ? last : access.address;
  const std::string place = describe(block, AddressSpace::global, culprit, access.bytes);
  const bool is_before = place.rfind("memory ", 0) == 0 && place.find(" before ") != std::string::npos;
  return {"memcheck: out of bounds in global memory",
          access_text(access) + place + ".\nUsually fixed by a bounds check: " +
              (is_before ? "can the index be below 0?" : "is the last column, or the last row, handled?")};
}

namespace {

// Does the kernel have static shared variables? Others of its module lie where its own would.
bool has_static_shared(const BlockInfo& block) {
  return block.static_shared_bytes &&
         (!block.dynamic_shared_bytes || static_shared_bytes(current_block->launch().kernel.function) > 0);
}

// Where the block's shared memory lies, and what is at its begin. Its begin is 0 if it has none, or no symbol table
// tells.
struct OfBlock {
  uintptr_t begin = 0, end = 0;
  std::string name;
  bool begins_after(uintptr_t address, size_t most) const { return address < begin && begin - address <= most; }
  bool is_beside(uintptr_t address) const {
    return begins_after(address, reserved_shared_bytes) || address - end < reserved_shared_bytes;
  }
};
OfBlock shared_of(const BlockInfo& block) {
  if (has_static_shared(block)) {
    const std::vector<SharedVariable>& variables = shared_variables(block);
    const uintptr_t end = block.static_shared + block.static_shared_bytes;
    return variables.empty() ? OfBlock{0, end, ""}
                             : OfBlock{block.static_shared + variables.front().offset, end, variables.front().name};
  }
  const uintptr_t begin = block.dynamic_shared, end = begin + block.dynamic_shared_bytes;
  return block.dynamic_shared_bytes ? OfBlock{begin, end, "the block's dynamic shared memory"} : OfBlock{0, end, ""};
}

// An index below 0, if shared memory begins a little later; else "".
std::string before_shared(const BlockInfo& block, uintptr_t address) {
  const OfBlock shared = shared_of(block);
  return shared.begins_after(address, 4096) ? address_beside(shared.begin - address, true) + " " + shared.name : "";
}

std::string place_in_shared(const BlockInfo& block, uintptr_t address, unsigned bytes) {
  const std::string before = before_shared(block, address);
  return before.empty() ? describe_static(block, address, bytes) : before;
}

// An unsigned index that went below 0 is one near 2^32. Addresses of shared memory have 32 bits on a GPU, so that it is
// right there modulo 2^32; elsewhere it leads as many elements too far. Returns the address that was meant, or 0.
uintptr_t meant_in_shared(const BlockInfo& block, uintptr_t address) {
  const uintptr_t begin = has_static_shared(block) ? block.static_shared : block.dynamic_shared;
  const uintptr_t meant = begin + static_cast<uintptr_t>(static_cast<int32_t>(address - begin));
  const bool in_static = has_static_shared(block) && meant - begin < block.static_shared_bytes;
  return meant < address && (in_static || !before_shared(block, meant).empty()) ? meant : 0;
}
uintptr_t meant_in_buffer(const Buffers& buffers, uintptr_t address) {
  for (const uintptr_t element_bytes : {1, 2, 4, 8, 16}) {
    const uintptr_t meant = address - (element_bytes << 32);
    if (meant < address && (buffers.is_live(meant) || buffers.neighbour(meant))) return meant;
  }
  return 0;
}

// "" if it is not near shared memory.
std::string beside_shared(const BlockInfo& block, const Access& access) {
  constexpr uintptr_t neighbourhood = 1 << 20;
  if (const std::string before = before_shared(block, access.address); !before.empty()) return before;
  const bool past_static = has_static_shared(block) && access.address - block.static_shared < neighbourhood;
  if (!past_static && access.address - block.dynamic_shared >= neighbourhood) return "";
  return (past_static ? describe_static(block, access.address, access.bytes)
                      : describe(block, AddressSpace::shared_dynamic, access.address, access.bytes)) +
         ", beyond the block's shared memory";
}

}  // namespace

Memcheck::Finding Memcheck::look_at_shared(const BlockInfo& block, const Access& access, Allocation* right) const {
  if (access.address - block.dynamic_shared < max_shared_bytes) {
    *right = {block.dynamic_shared, block.dynamic_shared_bytes};
    if (access.address + access.bytes <= right->begin + right->bytes) return {};
    return {out_of_shared,
            access_text(access) + describe(block, AddressSpace::shared_dynamic, access.address, access.bytes) + ".\n",
            true};
  }
  const std::vector<SharedVariable>& variables = shared_variables(block);
  *right = {block.static_shared, block.static_shared_bytes};
  if (variables.empty() && tls_symbols(current_block->kernel_code()).empty()) return {};  // no symbol table
  for (const SharedVariable& variable : variables) {
    const uintptr_t offset = access.address - block.static_shared - variable.offset;
    if (offset >= variable.bytes) continue;
    *right = {block.static_shared + variable.offset, variable.bytes};
    if (offset + access.bytes <= variable.bytes) return {};
  }
  const bool far_before = !before_shared(block, access.address).empty() && !shared_of(block).is_beside(access.address);
  return {far_before ? invalid_in_shared : out_of_shared,
          access_text(access) + place_in_shared(block, access.address, access.bytes) +
              ".\nUsually fixed by an index that stays inside the array."};
}

Memcheck::Finding Memcheck::look_at_program(const Range& range, const Access& access, const std::string& text,
                                            Allocation* right) const {
  const bool loads = only_loads(access.kind);
  if (range.kind == Kind::variable || loads) {
    uintptr_t begin = range.begin, end = range.end;
    for (const Allocation& host : host_variables()) {  // what lies between two of them
      if (access.address - host.begin < host.bytes) return of_the_host(text);
      if (host.begin > access.address) {
        end = std::min(end, host.begin);
        break;
      }
      begin = std::max(begin, host.begin + host.bytes);
    }
    *right = {begin, end - begin};
    if (access.address + access.bytes <= end) return {};
    return {"memcheck: out of bounds in global memory", text + ", partly past its end."};
  }
  if (range.kind == Kind::argument || range.kind == Kind::built_in) {
    return {"memcheck: write to what a kernel can only read",
            access_text(access) +
                (range.kind == Kind::argument ? "the arguments of the launch"
                                              : "threadIdx, blockIdx, blockDim or gridDim") +
                ".\nUsually fixed by a variable of the kernel's own."};
  }
  return {"memcheck: write to constant memory",
          text +
              ", which is constant.\nA kernel can only read it; the host fills __constant__ variables with "
              "cudaMemcpyToSymbol."};
}

Memcheck::Finding Memcheck::look_at_other(const BlockInfo& block, const Access& access, Allocation* right) {
  const std::string text = access_text(access) + describe(block, AddressSpace::global, access.address, access.bytes);
  if (access.address < null_page) return {"memcheck: null pointer", text + ": a null pointer, perhaps with an index."};
  if (buffers_.was_freed(access.address)) {
    return {"memcheck: freed memory", text + ".\nUsually fixed by freeing after the last launch that uses the memory."};
  }
  if (device_heap::contains(access.address)) return *right = device_heap::range(), Finding{};
  if (const Range* range = program_data(access.address)) return look_at_program(*range, access, text, right);
  if (const Thread* const owner = current_block->owner_of(access.address)) {
    const bool own = owner == current_block->running();
    return {
        "memcheck: local memory of another thread",
        access_text(access) +
            (own ? "an address outside of every array of its own" : "the local memory of " + name_of(owner->index)) +
            ".\nLocal variables belong to one thread: the others get values through shared memory or a shuffle."};
  }
  if (const std::string place = beside_shared(block, access); !place.empty()) {
    return {shared_of(block).is_beside(access.address) ? out_of_shared : invalid_in_shared,
            access_text(access) + place + ".\nUsually fixed by an index that stays inside the array."};
  }
  if (buffers_.neighbour(access.address)) {
    return {"memcheck: out of bounds in global memory",
            text + ".\nUsually fixed by a bounds check, or by a larger allocation."};
  }
  const auto below_zero = [&](const char* what, const std::string& place) {
    return Finding{what, access_text(access) + place + ": an unsigned index went below 0.\n" +
                             "Usually fixed by a condition that leaves out the elements that have no such neighbour."};
  };
  if (const uintptr_t meant = meant_in_shared(block, access.address))
    return below_zero(out_of_shared, place_in_shared(block, meant, access.bytes));
  if (const uintptr_t meant = meant_in_buffer(buffers_, access.address))
    return below_zero("memcheck: out of bounds in global memory",
                      describe(block, AddressSpace::global, meant, access.bytes));
  if (is_host_memory(access.address)) {
    return of_the_host(text);
  }
  return {"memcheck: invalid address", text +
                                           ", which belongs to no buffer of the device.\nIs the pointer one of the "
                                           "host's, or an index out of range?"};
}

}  // namespace simt::checks
