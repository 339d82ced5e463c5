// The devices of this process: how many, which one a host thread has chosen, and which may touch whose memory.
//
// One, unless a program that simtcc built is started with SIMT_DEVICES=N. With one device everything happens when it is
// asked for; with several each has a queue of work (device_queues.h).
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace simt {

constexpr int max_devices = 16;
constexpr int no_device = -1;  // the owner of memory that every device may touch

int device_count();
inline bool has_several_devices() { return device_count() > 1; }

// SIMT_DEVICES of the environment, from 1 to max_devices. Ends the program if it is something else.
void use_devices_of_environment();

// The device that the calling host thread has chosen; for a thread that does a device's work, that device.
int current_device();
void set_current_device(int device);
bool is_device(int device);

// May kernels of the device touch memory of `owner`?
bool may_access(int device, int owner);

// What has gone over the link from one device to another: copies, collectives and, in a program built with --profile, a
// kernel's accesses of another device's memory. Of a load the data go from the memory's owner to the device that reads.
void count_link_bytes(int from, int to, size_t bytes);
uint64_t link_bytes(int from, int to);

}  // namespace simt
