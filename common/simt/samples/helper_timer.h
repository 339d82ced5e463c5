// The stop watch of CUDA's samples: milliseconds of the host's clock, summed over start and stop.
#pragma once

#include <chrono>

class StopWatchInterface {
 public:
  virtual ~StopWatchInterface() = default;
  virtual void start() = 0;
  virtual void stop() = 0;
  virtual void reset() = 0;
  virtual float getTime() = 0;
  virtual float getAverageTime() = 0;
};

class StopWatchLinux final : public StopWatchInterface {
 public:
  void start() override {
    begin_ = Clock::now();
    running_ = true;
  }
  void stop() override {
    sum_ += since_begin();
    running_ = false;
    times_++;
  }
  void reset() override {
    sum_ = 0;
    times_ = 0;
    if (running_) begin_ = Clock::now();
  }
  float getTime() override { return sum_ + (running_ ? since_begin() : 0); }
  float getAverageTime() override { return times_ > 0 ? sum_ / static_cast<float>(times_) : 0.0f; }

 private:
  using Clock = std::chrono::steady_clock;
  float since_begin() const { return std::chrono::duration<float, std::milli>(Clock::now() - begin_).count(); }
  Clock::time_point begin_;
  float sum_ = 0;
  int times_ = 0;
  bool running_ = false;
};

inline bool sdkCreateTimer(StopWatchInterface** timer) {
  *timer = new StopWatchLinux;
  return true;
}
inline bool sdkDeleteTimer(StopWatchInterface** timer) {
  delete *timer;
  *timer = nullptr;
  return true;
}
inline bool sdkStartTimer(StopWatchInterface** timer) { return *timer && ((*timer)->start(), true); }
inline bool sdkStopTimer(StopWatchInterface** timer) { return *timer && ((*timer)->stop(), true); }
inline bool sdkResetTimer(StopWatchInterface** timer) { return *timer && ((*timer)->reset(), true); }
inline float sdkGetTimerValue(StopWatchInterface** timer) { return *timer ? (*timer)->getTime() : -1.0f; }
inline float sdkGetAverageTimerValue(StopWatchInterface** timer) { return *timer ? (*timer)->getAverageTime() : 0.0f; }
