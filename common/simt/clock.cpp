// clock() in a kernel is the multiprocessor's counter, and the host's is the C library's: one name, so it is asked who
// calls. A program that is linked with the executor calls this one.
#include <time.h>

#include "block.h"
#include "include/cuda_runtime.h"

extern "C" clock_t clock() noexcept {
  if (simt::current_block) return simt::clock_ticks();
  timespec used;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return used.tv_sec * CLOCKS_PER_SEC + used.tv_nsec / (1000000000 / CLOCKS_PER_SEC);
}
