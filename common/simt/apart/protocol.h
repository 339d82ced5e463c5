// What two processes say to each other: one has the host's code of a rung, the other the device, with its kernels, and
// everything that must not be in the host's reach. Over a SOCK_SEQPACKET socket; a message is a Header and what its
// operation adds.
//
//     device                        host
//       |  task ->                    |  runs the host's code
//       |       <- allocate, launch.. |  what that asks of the device, as often as it likes
//       |  answer ->                  |
//       |       <- done               |
//
// The device believes nothing: device_side.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../matrix_product.h"

namespace simt::apart {

enum class Op : uint32_t {
  task = 0x4c445230,  // a number that garbage hardly has
  answer,
  allocate,  // value: Sharing; bytes. Answer: the pointer in `to`
  free,      // to
  copy_in,   // to; data
  copy_out,  // from; bytes. The answer has the data
  page_out,  // the same, of a page of managed memory that the host touches
  copy_within,
  set,  // to; value; bytes
  launch,
  multiply,
  done,    // the task's end, with what it returns
  failed,  // the host's code cannot go on: a HostFailure
};

struct Header {
  Op op;
  int32_t value;  // of an answer: the cudaError_t
  uint64_t to, from, bytes;
};

// Copies are cut to pieces of this length.
constexpr size_t max_piece = size_t{64} << 10;

// After it the kernel's arguments. Functions are offsets in the rung's module, as both processes have it.
struct LaunchMessage {
  uint32_t grid[3], block[3], cluster[3];
  uint64_t shared_bytes;
  uint64_t run, function;  // function: 0 for none
  int32_t cooperative, by_graph;
  char name[256];
};

// A name that both know.
struct ProductMessage {
  MatrixProduct product;
  int32_t by_graph;
  char name[32];
};

struct HostFailure {
  char what[128];
  char detail[1024];
  char file[512];  // or empty: then the offset in the module
  int32_t line;
  char module[512];
  uint64_t offset;
};

}  // namespace simt::apart
