// The work of several devices: a queue and an OS thread for each. Work that is given to any stream of a device is done
// in the order in which it was given, which CUDA allows; devices run at the same time, so kernels of two devices may
// wait for each other. While the checks run only one of them runs at a time, and gives way where it waits.
//
// With one device there are no queues: whoever asks for work does it, one host thread at a time.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <functional>
#include <string>

#include "checks/device_order.h"

namespace simt {

// Work is put into a queue, not done here: there are several devices, and this thread does no device's work.
bool runs_later();
bool does_device_work();

// A place in a device's queue. Work 0 is before all others.
struct Position {
  int device = 0;
  uint64_t number = 0;
};

// The device of a stream; of the null stream the current one.
int device_of(cudaStream_t stream);

// `text` says what it is, for messages.
Position enqueue(cudaStream_t stream, std::function<cudaError_t()> work, const std::string& text);
cudaError_t enqueue(cudaStream_t stream, CapturedWork* work);  // owned

bool is_done(Position position);
// By a host thread, or by a device's work that waits for another device's. The error is that of what failed since the
// last time.
cudaError_t wait_for(Position position);
cudaError_t wait_for_device(int device);
cudaError_t wait_for_stream(cudaStream_t stream);
Position last_of(cudaStream_t stream);
void wait_for_all_devices();

// The running work waits until `is_over` holds, which others bring about under with_ranks(). `text` says for what.
void wait_for_ranks(const std::function<bool()>& is_over, const std::string& text);
void with_ranks(const std::function<void()>& change);
// Seconds without any change after which a host thread that is busy with something else no longer counts as one that
// may bring the others on: SIMT_STALL_SECONDS, or 10.
double patience();
// Asked when no device can go on: what work that waits for ranks waits for, of all communicators; "" if nothing.
void on_standstill(std::string (*explain)());

// A kernel polls memory: lets other devices run, if only one does at a time. A deadlock of devices ends the program.
void poll(uintptr_t pc);
// A watched kernel has stored something.
void made_progress();

// One at a time: the work that host threads ask of the only device; of several devices, while the checks run, their
// work and what host threads tell the checks.
class Turn {
 public:
  Turn();
  ~Turn();
  Turn(const Turn&) = delete;

 private:
  bool mine_;
};

}  // namespace simt
