// Copy and read bandwidth: every core streams through its own part of the buffers.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include "parallel.h"
#include "roofs.h"
#include "timing.h"

namespace bench {

namespace {

constexpr size_t mib = size_t{1} << 20;
constexpr int repeats = 5;

size_t last_level_cache_bytes() {
  long largest = 0;
  for (const int level : {_SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL4_CACHE_SIZE}) {
    largest = std::max(largest, sysconf(level));
  }
  return largest > 0 ? static_cast<size_t>(largest) : 32 * mib;
}

size_t available_memory_bytes() {
  std::ifstream meminfo("/proc/meminfo");
  for (std::string line; std::getline(meminfo, line);) {
    std::istringstream words(line);
    std::string name;
    size_t kib = 0;
    if (words >> name >> kib && name == "MemAvailable:") return kib * 1024;
  }
  return 1024 * mib;
}

size_t choose_buffer_bytes() {
  size_t bytes = std::max(64 * mib, 4 * last_level_cache_bytes());
  bytes = std::min({bytes, 320 * mib, available_memory_bytes() / 8});
  return std::max(bytes, 2 * mib) / (2 * mib) * (2 * mib);
}

// Reads every vector of the part once; the sum keeps the compiler from leaving the loads out. Eight sums, so that no
// addition waits for the one before it. A function for each width of vector: with narrow ones a core cannot ask for
// lines fast enough.
#define DEFINE_READ(name, width, attribute)                                            \
  attribute uint64_t name(const char* from, size_t bytes) {                            \
    typedef uint64_t Vector __attribute__((vector_size(width), may_alias));            \
    const Vector* vectors = reinterpret_cast<const Vector*>(from);                     \
    Vector sum[8] = {};                                                                \
    for (size_t i = 0; i + 8 <= bytes / width; i += 8) {                               \
      _Pragma("GCC unroll 8") for (size_t j = 0; j < 8; j++) sum[j] += vectors[i + j]; \
    }                                                                                  \
    for (size_t j = 1; j < 8; j++) sum[0] += sum[j];                                   \
    return sum[0][0];                                                                  \
  }

DEFINE_READ(read_baseline, 16, )
#ifdef __x86_64__
DEFINE_READ(read_avx2, 32, __attribute__((target("avx2"))))
DEFINE_READ(read_avx512, 64, __attribute__((target("avx512f"))))
#endif

using Read = uint64_t(const char*, size_t);

std::vector<Read*> supported_reads() {
  std::vector<Read*> reads = {read_baseline};
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2")) reads.push_back(read_avx2);
  if (__builtin_cpu_supports("avx512f")) reads.push_back(read_avx512);
#endif
  return reads;
}

// Every core's own part of a buffer; parts begin at whole pages.
struct Part {
  size_t begin, bytes;
};

Part part_of(size_t bytes, int core) {
  const size_t mibs = bytes / mib, n = static_cast<size_t>(cores()), i = static_cast<size_t>(core);
  const size_t begin = mibs * i / n * mib, end = mibs * (i + 1) / n * mib;
  return {begin, end - begin};
}

struct Free {
  void operator()(char* memory) const { std::free(memory); }
};
using Buffer = std::unique_ptr<char, Free>;

// On large pages where the system gives them. Each core touches its own part first, which maps the pages near it.
Buffer allocate(size_t bytes) {
  char* memory = static_cast<char*>(std::aligned_alloc(2 * mib, bytes));
  if (!memory) throw std::bad_alloc();
  madvise(memory, bytes, MADV_HUGEPAGE);
  on_all_cores([&](int core) {
    const Part part = part_of(bytes, core);
    std::memset(memory + part.begin, 1, part.bytes);
  });
  return Buffer(memory);
}

double median_seconds(const std::function<void(Part)>& work, size_t bytes) {
  std::vector<double> seconds;
  for (int repeat = 0; repeat < repeats; repeat++) {
    seconds.push_back(seconds_of([&] { on_all_cores([&](int core) { work(part_of(bytes, core)); }); }));
  }
  return summarise(seconds).median;
}

}  // namespace

Bandwidth measure_bandwidth() {
  const size_t bytes = choose_buffer_bytes();
  const Buffer from = allocate(bytes), to = allocate(bytes);
  const double size = static_cast<double>(bytes);

  // The C library's memcpy knows this processor's fastest way to copy.
  const double copy = median_seconds(
      [&](Part part) { std::memcpy(to.get() + part.begin, from.get() + part.begin, part.bytes); }, bytes);

  double fastest_read = 0;
  std::atomic<uint64_t> sum{0};
  for (Read* read : supported_reads()) {
    const double seconds = median_seconds([&](Part part) { sum += read(from.get() + part.begin, part.bytes); }, bytes);
    fastest_read = std::max(fastest_read, size / seconds);
  }
  return {2 * size / copy / 1e9, fastest_read / 1e9, bytes};
}

}  // namespace bench
