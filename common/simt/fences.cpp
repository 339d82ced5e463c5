// __threadfence and its like: what they order on the CPU, and who is told of them.
#include "checks/device_order.h"
#include "devices.h"
#include "include/simt/warp.h"
#include "instrument/recorder.h"

namespace simt {

void fence() noexcept {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (recording.lane && recording.observer) recording.recorder->fence();
}

void fence_system() noexcept {
  fence();
  if (has_several_devices() && recording.lane && recording.observer) checks::device_fences(current_device());
}

}  // namespace simt
