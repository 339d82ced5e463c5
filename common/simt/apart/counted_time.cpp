#include "counted_time.h"

#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "../block.h"

namespace simt::apart {

namespace {

bool counting = false;

// Microseconds.
int64_t look() {
  static std::atomic<int64_t> looks{1000000};
  return looks++;
}

}  // namespace

void count_time() { counting = true; }

}  // namespace simt::apart

// In the C library's place: a program's own functions come before those of its libraries. So std::chrono and CUDA's
// events, which call them, are included.
extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  if (!simt::apart::counting) return static_cast<int>(syscall(SYS_clock_gettime, clock, time));
  const int64_t now = simt::apart::look();
  time->tv_sec = now / 1000000;
  time->tv_nsec = now % 1000000 * 1000;
  return 0;
}

int gettimeofday(timeval* __restrict time, void* __restrict) noexcept {
  timespec now;
  if (const int error = clock_gettime(CLOCK_REALTIME, &now)) return error;
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t* to) noexcept {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (to) *to = now.tv_sec;
  return now.tv_sec;
}

// In a kernel of a whole program it is the multiprocessor's counter.
clock_t clock() noexcept {
  if (simt::current_block) return simt::clock_ticks();
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec * CLOCKS_PER_SEC + now.tv_nsec / (1000000000 / CLOCKS_PER_SEC);
}

int timespec_get(timespec* time, int base) noexcept {
  return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, time) == 0 ? base : 0;
}
}
