// Managed and pinned memory for a host whose device is in another process: pages move to whoever touches them, as CUDA
// moves them. The host gets a page when it touches it, and gives all back before the device does anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>

namespace simt::apart {

class HeldPages {
 public:
  // Both true if it went well.
  using Fetch = bool (*)(uintptr_t page, size_t bytes, void* to);
  using Return = bool (*)(uintptr_t page, size_t bytes, const void* from);
  HeldPages(Fetch fetch, Return give_back);

  // Memory at this address of the device, which is then the host's, too. False if the address is not free here.
  bool add(uintptr_t begin, size_t bytes);
  void remove(uintptr_t begin, size_t bytes);

  bool give_back();

 private:
  static bool repair(uintptr_t address);
  bool take(uintptr_t address);

  const size_t page_bytes_;
  Fetch fetch_;
  Return return_;
  std::map<uintptr_t, size_t> ranges_;
  std::set<uintptr_t> held_;
};

}  // namespace simt::apart
