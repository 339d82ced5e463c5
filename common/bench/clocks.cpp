#include "clocks.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>

namespace bench {

namespace {

constexpr auto interval = std::chrono::milliseconds(5);
constexpr int sm_clock = 1;  // NVML_CLOCK_SM
constexpr uint64_t idle = 0x1;
constexpr struct {
  uint64_t bit;
  const char* name;
} slow[] = {{0x04, "power cap"},
            {0x08, "hardware slowdown"},
            {0x20, "software thermal slowdown"},
            {0x40, "hardware thermal slowdown"},
            {0x80, "power brake"}};

template <typename Function>
Function* symbol(void* library, const char* name) {
  return library ? reinterpret_cast<Function*>(dlsym(library, name)) : nullptr;
}

std::string in_words(uint64_t reasons) {
  std::string text;
  for (const auto& reason : slow) {
    if (reasons & reason.bit) text += (text.empty() ? "" : ", ") + std::string(reason.name);
  }
  return text;
}

}  // namespace

ClockReader nvml_reader() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  void* const nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  const auto cuda_init = symbol<int(unsigned)>(driver, "cuInit");
  const auto bus_id = symbol<int(char*, int, int)>(driver, "cuDeviceGetPCIBusId");
  const auto init = symbol<int()>(nvml, "nvmlInit_v2");
  const auto find = symbol<int(const char*, void**)>(nvml, "nvmlDeviceGetHandleByPciBusId_v2");
  const auto clock = symbol<int(void*, int, unsigned*)>(nvml, "nvmlDeviceGetClockInfo");
  auto reasons = symbol<int(void*, unsigned long long*)>(nvml, "nvmlDeviceGetCurrentClocksEventReasons");
  if (!reasons) {
    reasons = symbol<int(void*, unsigned long long*)>(nvml, "nvmlDeviceGetCurrentClocksThrottleReasons");
  }
  char bus[32] = "";
  void* device = nullptr;
  if (!cuda_init || !bus_id || !init || !find || !clock || !reasons || cuda_init(0) != 0 ||
      bus_id(bus, sizeof bus, 0) != 0 || init() != 0 || find(bus, &device) != 0) {
    return {};
  }
  return [=] {
    ClockReading reading;
    unsigned long long bits = 0;
    clock(device, sm_clock, &reading.mhz);
    reasons(device, &bits);
    reading.reasons = bits;
    return reading;
  };
}

void add(Clocks& clocks, uint64_t* throttled, const ClockReading& reading) {
  *throttled |= reading.reasons;
  clocks.throttled = in_words(*throttled);
  if ((reading.reasons & idle) || reading.mhz == 0) return;
  clocks.min_mhz = clocks.min_mhz ? std::min(clocks.min_mhz, reading.mhz) : reading.mhz;
  clocks.max_mhz = std::max(clocks.max_mhz, reading.mhz);
}

Clocks watch(const ClockReader& reader, const std::function<void()>& work) {
  Clocks clocks;
  if (!reader) {
    work();
    return clocks;
  }
  uint64_t throttled = 0;
  std::atomic<bool> ended{false};
  std::thread thread([&] {
    do {
      add(clocks, &throttled, reader());
      std::this_thread::sleep_for(interval);
    } while (!ended);
  });
  work();
  ended = true;
  thread.join();
  return clocks;
}

Watched unthrottled(const ClockReader& reader, const std::function<bool()>& attempt, int most,
                    std::chrono::milliseconds pause) {
  Watched watched;
  for (;;) {
    bool repeatable = false;
    watched.clocks = watch(reader, [&] { repeatable = attempt(); });
    if (!repeatable || watched.clocks.throttled.empty() || watched.thrown_away + 1 >= most) return watched;
    watched.thrown_away++;
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace bench
