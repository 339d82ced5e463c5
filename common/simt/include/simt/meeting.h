// Meetings: barriers of some of a block's threads. Tiles of several warps, cuda::barrier, cuda::pipeline and bar.sync
// are made of them. The executor keeps them by a key, which is only a number: for a barrier object its address. A
// meeting goes through phases, from 0; one ends when as many threads as it expects have arrived.
#pragma once

#include <cstdint>

#include "warp.h"

namespace simt {

void meeting_init(uint64_t key, unsigned expected) noexcept;
// The same, unless a thread has already done so.
void meeting_expect(uint64_t key, unsigned expected) noexcept;

// Arrives `count` times; returns the phase in which this counts.
unsigned meeting_arrive(uint64_t key, unsigned count, Place place) noexcept;
// Arrives, and is not expected in later phases.
void meeting_drop(uint64_t key, Place place) noexcept;

// The phase under way does not end before the bytes that are expected (above 0) and those that came (below 0) add up
// to 0.
void meeting_transfer(uint64_t key, int64_t bytes, Place place) noexcept;

// The phase that is under way if its parity is this one, else the one before.
unsigned meeting_of_parity(uint64_t key, bool parity) noexcept;
bool meeting_is_over(uint64_t key, unsigned phase) noexcept;
// The same, and lets others run if the phase goes on: the caller asks again. If it can never end, that is reported.
bool meeting_ask(uint64_t key, unsigned phase, Place place) noexcept;
void meeting_wait(uint64_t key, unsigned phase, Place place) noexcept;

// Arrives and waits, in a meeting of `count` threads that need not have been initialised; returns the phase.
unsigned meet(uint64_t key, unsigned count, Place place) noexcept;

// put: gives the others a value, before meet(). After it, get returns a thread's value, until the second meet() from
// then.
void meeting_put(uint64_t key, unsigned slot, uint64_t value, unsigned count) noexcept;
uint64_t meeting_get(uint64_t key, unsigned phase, unsigned slot) noexcept;

// Keys that are not addresses. kind: 1 to 255.
constexpr uint64_t meeting_key(unsigned kind, unsigned a, unsigned b) {
  return uint64_t{kind} << 56 | uint64_t{a} << 24 | b;
}
constexpr unsigned tile_meeting = 1, named_meeting = 2;

}  // namespace simt
