// What the client and the worker say to each other.
//
// The client starts the worker with two inherited descriptors: a SOCK_SEQPACKET socket for the messages below and a
// memfd for the bytes of inputs and outputs. Both sides compute the layout of the memfd from the Request, so no offset
// is ever taken from the worker.
//
//     client                              worker
//       |  start the process                |  load the rung
//       |            <- Reply::table        |
//       |            <- TableEntry x count  |
//       |  <- PredictionEntry x predictions |
//       |  Request ->                       |  copy, poison, call, synchronise, copy back
//       |            <- Reply::returned     |  or Reply::failed, and then the process ends
//
// That is Request::run. For a clock that is the client's (common/grade/speed) there are three more kinds of requests,
// each answered by a Reply:
//
//       |  prepare ->   new inputs in all sets, outputs poisoned, caches full of something else, device idle
//       |  launch ->    the variant once on each set, then until the device is idle
//       |  fetch ->     copies the rows of the outputs that the client picks now
//
// The client believes nothing: see client.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "types.h"

namespace rung {

constexpr int control_descriptor = 3;
constexpr int memory_descriptor = 4;

constexpr uint32_t request_magic = 0x4c445251;  // "LDRQ"
constexpr uint32_t reply_magic = 0x4c445250;    // "LDRP"
constexpr double load_limit = 20;               // seconds until the table of a rung must have come
constexpr int max_variants = 64;
constexpr int max_frames = 6;
constexpr int max_launches = 1 << 20;
constexpr size_t max_counters_bytes = 4 << 20;
constexpr int max_calls = 1 << 12;
constexpr int max_sets = 1 << 12;
constexpr int max_picks = 1 << 12;
constexpr uint64_t most_printed = 1 << 20;  // bytes, by all jobs together

// Every buffer on the device is guard | data | guard. The guards are filled with guard_byte, so that a write just
// before or behind the data shows. 16 KiB: a block of 1024 threads that stores 16 bytes each past the end is still
// seen.
constexpr size_t guard_bytes = 16 * 1024;
constexpr unsigned char guard_byte = 0xA5;

struct Request {
  enum Kind : int32_t { run, prepare, launch, fetch };

  uint32_t magic;
  Kind kind;
  uint32_t null_arguments;  // bit i: pass a null pointer for buffer i
  uint64_t job;             // a random number, repeated in the reply
  int32_t variant;
  Sizes sizes;
  int32_t launches;
  int32_t calls, sets;  // Job::Rotation; calls is 0 where none is asked for. sets: of TimedSets, too
  int32_t count;        // not 0: count the last launch
  int32_t stands_for;   // Job::stands_for
  int32_t in_turns;     // Job::in_turns
  uint64_t data_bytes[buffer_count];
  uint64_t print_left;  // bytes that the rung may print
  double time_limit;    // seconds; a worker that is still busy then says where it is, and ends
  // TimedSets.
  uint64_t seed, memory;
  int32_t picks;  // fetch: so many begin the shared memory, and the rows follow (timed.h)
};

struct TableEntry {
  uint32_t magic;
  int32_t op, dtype;
  char name[64];
};

struct PredictionEntry {
  uint32_t magic;
  char name[64];
  double value;  // NaN: still to be predicted
};

struct Reply {
  enum Kind : int32_t { table = 1, returned = 2, failed = 3 };

  uint32_t magic;
  int32_t kind;
  uint64_t job;         // 0 while no job is running
  int32_t count;        // table: number of TableEntry messages that follow; returned: bytes of counters
  int32_t predictions;  // table: number of PredictionEntry messages that follow those
  int32_t error;        // returned: the cudaError_t of the call or of the synchronisation after it
  char error_name[64];
  // returned, of the last call, by the executor: its launches, how many of them a graph made, a hash of their shapes
  // and of the first ones in words; bytes of device memory that the host has read, and whether the device was given
  // anything after that; whether a kernel used atomics.
  int32_t launches, by_graphs;
  uint64_t launch_hash;
  char launched[192];
  uint64_t bytes_to_host;
  int32_t used_after, atomics;
  char remark[768];  // of the checks: what is no mistake by itself; or empty
  uint64_t printed;  // bytes, by this job
  // failed: what went wrong, and where, as far as it is known. returned with an error of the runtime's: what the
  // runtime refused; empty if it did not come from there.
  char message[1600];
  char file[512];  // source file, or empty
  int32_t line;
  char module[512];  // the module of the code, for addr2line; or empty
  uint64_t offset;
  uint64_t frames[max_frames];  // in the same module: how the kernel came there (simt::Failure)
};

// Where things lie in the memfd: the input, then the whole allocation of each buffer as it was after the last launch,
// then the seconds of every launch, then the counters' JSON if they were asked for. A buffer of 0 bytes still has its
// two guards.
struct Layout {
  size_t input;
  size_t raw[buffer_count], raw_bytes[buffer_count];
  size_t seconds;
  size_t counters, counters_bytes;
  size_t total;
};

inline Layout layout_of(const Request& request) {
  Layout layout{};
  size_t end = aligned(request.data_bytes[0]);
  for (int i = 0; i < buffer_count; i++) {
    layout.raw[i] = end;
    layout.raw_bytes[i] = guard_bytes + request.data_bytes[i] + guard_bytes;
    end += aligned(layout.raw_bytes[i]);
  }
  layout.seconds = end;
  layout.counters = end + aligned(request.launches * sizeof(double));
  layout.counters_bytes = request.count ? max_counters_bytes : 0;
  layout.total = layout.counters + layout.counters_bytes;
  return layout;
}

}  // namespace rung
