// A GPU, as the model knows it: machines/NAME.json.
#pragma once

#include <string>
#include <vector>

namespace simt::timing {

struct Machine {
  std::string name;        // "NVIDIA H200"
  std::string short_name;  // "h200"
  double clock_ghz;
  int multiprocessors;
  int schedulers;                // of a multiprocessor
  int warps, blocks, registers;  // that a multiprocessor holds
  double shared_kib, l1_kib;     // most shared memory of a multiprocessor; L1 and shared memory together
  double l2_mib;
  double dram_gbs[5];  // by the share of bytes written: 0, 25, 50, 75, 100 %
  double half_line;    // what 64 of a line's 128 bytes cost DRAM, where 64 of a whole line cost 1
  double l2_gbs;
  double l1_l2_bytes;  // between one multiprocessor and L2, a cycle
  double dram_latency, l2_latency, l1_latency, shared_latency, shuffle_latency, vote_latency, atomic_latency,
      mufu_latency;  // cycles
  double alu_latency;
  double fma_rate;                          // instructions of a warp, of a scheduler, a cycle: the roof of a chart
  double alu_rate, mufu_rate, double_rate;  // likewise, as the model needs them
  double warp_issue;              // cycles between two instructions of one warp, where nothing else holds it up
  double barrier, barrier_warp;   // cycles; and more for each warp
  double block_begin, block_end;  // cycles: before its first instruction and after its last
  double warp_interval;           // cycles between the first instructions of a block's warps
  double block_interval_ns;       // between the starts of two blocks of the chip
  double launch_us;               // of an empty kernel in a graph
  double drain;                   // cycles until the last stores have arrived
  double atomics_ns;              // sectors of atomics that one part of L2 takes in a nanosecond
  double float_atomics_ns;        // sums of floats that one address takes in a nanosecond
  double partial_stores_ns;       // lines written in part of their sectors that the chip takes in a nanosecond
  double scattered_atomics_ns;    // lines with atomics that the chip takes in a nanosecond, where L2 has them
  double residue;                 // what the model leaves out: measured over simulated cycles
  double band;                    // nine of ten measurements lie within this factor, or a larger one (band_of)
};

// name: of a file in machines/, or a path that ends in .json. Throws std::runtime_error, which names the GPUs that
// there are, or the constant that is missing or out of range.
Machine read_machine(const std::string& name);

std::vector<std::string> machine_names();

}  // namespace simt::timing
