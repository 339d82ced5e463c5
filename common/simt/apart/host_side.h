// The process with the host's code: its runtime API asks another process, which has the device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../memory.h"

namespace simt::apart {

// What the device tells its host beforehand, in the first task: the module as the device has it.
struct DeviceModule {
  uint64_t base, bytes;
};

// A task as the host's code gets it: what the device sent, after the ranges of device memory that it is about.
struct TaskBuffers {
  static constexpr int max = 8;
  uint32_t count;
  Allocation ranges[max];
};

// From now on this process has no device of its own.
void use_far_device(int descriptor);
void set_device_module(const DeviceModule& module);

// Waits for the next task; ends the process when the device is gone. `data`: room for max_piece bytes.
size_t receive_task(void* data);
void send_done(int value, const void* result, size_t bytes);

// Device memory that the task's code is given: for copies of which the kind is not said.
void set_task_buffers(const TaskBuffers& buffers);

}  // namespace simt::apart
