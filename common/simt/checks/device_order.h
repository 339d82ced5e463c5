// racecheck between devices: what orders their work, as clocks. A device's own time rises with each system-wide fence
// and each launch; what one device, or the host, knows of another is the time up to which all of the other's work is
// before its own. An atomic or volatile store passes on what the device knew at its last __threadfence_system(), an
// atomic or volatile load of the same address takes it. A device's threads are taken together: a barrier or fence that
// one thread lacks and another has is racecheck's own to find, or not seen.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace simt::checks {

using DeviceClock = std::array<uint32_t, 16>;  // by device

// Called in turn (device_queues.h), and only with several devices.
// The device begins or ends a piece of work that was given to it when the host knew `known`.
void device_begins(int device, const DeviceClock& known);
DeviceClock device_ends(int device);
// The running kernel of the device calls __threadfence_system(), or releases at system scope.
void device_fences(int device);
// All of them wait for each other, as in a collective.
void devices_meet(int devices, const int* which);

// An access of global memory, `bytes` from `address` on.
struct DeviceAccess {
  int device;
  uintptr_t address;
  size_t bytes;
  bool reads, writes, orders;  // orders: atomic or volatile, as flags are
  uintptr_t pc;
};
// An access of another device to the same bytes, which nothing orders before this one.
struct DeviceRace {
  int device;
  uintptr_t address, pc;
  bool wrote;
};
std::optional<DeviceRace> device_accesses(const DeviceAccess& access);

void join(DeviceClock* known, const DeviceClock& other);

}  // namespace simt::checks
