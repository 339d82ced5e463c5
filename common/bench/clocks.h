// Watches a GPU's clock while something is timed. A time taken while the device had lowered its clock, because of heat
// or power, says nothing about a kernel: it is thrown away and taken again.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <thread>

namespace bench {

struct ClockReading {
  unsigned mhz = 0;      // of the multiprocessors
  uint64_t reasons = 0;  // bits of nvmlDeviceGetCurrentClocksEventReasons
};
using ClockReader = std::function<ClockReading()>;

// Reads the first CUDA device through NVML, the driver's management library. Empty where there is none.
ClockReader nvml_reader();

// What a watch saw. The range is over the readings in which the device was not idle.
struct Clocks {
  unsigned min_mhz = 0, max_mhz = 0;  // 0: nothing was read
  std::string throttled;              // why the clock was lowered, "power cap, hardware slowdown"; "" if it was not
};

// Adds one reading to those seen. *throttled collects the bits of ClockReading::reasons that mean throttling.
void add(Clocks& clocks, uint64_t* throttled, const ClockReading& reading);

// Runs `work` and reads the clock every few milliseconds meanwhile.
Clocks watch(const ClockReader& reader, const std::function<void()>& work);

struct Watched {
  Clocks clocks;        // of the last attempt
  int thrown_away = 0;  // attempts before it, during which the device was throttled
};

// Runs `attempt`, and repeats it as long as the device was throttled: at most `most` times in all, with a pause between
// two. `attempt` returns false if there is nothing to repeat.
Watched unthrottled(const ClockReader& reader, const std::function<bool()>& attempt, int most = 4,
                    std::chrono::milliseconds pause = std::chrono::milliseconds(2000));

}  // namespace bench
