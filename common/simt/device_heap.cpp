#include "device_heap.h"

#include <sys/mman.h>

#include <mutex>

namespace simt::device_heap {

namespace {

constexpr size_t heap_bytes = size_t{256} << 20;  // of address space; memory is taken when it is touched
constexpr int powers = 33;

// Before each piece, which is as long as a power of two, this included.
struct Header {
  size_t power;
  Header* next_free;
};

// Nothing here allocates in any other way: malloc and new themselves come here.
std::mutex mutex;
uintptr_t begin = 0, next = 0;
Header* free_pieces[powers];

bool reserve() {
  void* const memory =
      mmap(nullptr, heap_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory != MAP_FAILED) begin = next = reinterpret_cast<uintptr_t>(memory);
  return memory != MAP_FAILED;
}

}  // namespace

void* allocate(size_t bytes) {
  if (bytes > heap_bytes / 2) return nullptr;
  size_t power = 5;
  while ((size_t{1} << power) < bytes + sizeof(Header)) power++;
  std::lock_guard<std::mutex> lock(mutex);
  if (!begin && !reserve()) return nullptr;
  Header* piece = free_pieces[power];
  // A header is the device's memory: a kernel may have written to it.
  if (piece && contains(reinterpret_cast<uintptr_t>(piece))) {
    free_pieces[power] = piece->next_free;
  } else {
    if (next - begin + (size_t{1} << power) > heap_bytes) return nullptr;
    piece = reinterpret_cast<Header*>(next);
    piece->power = power;
    next += size_t{1} << power;
  }
  return piece + 1;
}

void release(void* pointer) {
  Header* const piece = static_cast<Header*>(pointer) - 1;
  if (!contains(reinterpret_cast<uintptr_t>(piece)) || piece->power >= powers) return;
  std::lock_guard<std::mutex> lock(mutex);
  piece->next_free = free_pieces[piece->power];
  free_pieces[piece->power] = piece;
}

bool contains(uintptr_t address) { return begin && address - begin < heap_bytes; }

Allocation range() { return {begin, begin ? heap_bytes : 0}; }

}  // namespace simt::device_heap
