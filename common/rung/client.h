// The trusted side of a rung: starts a worker process, hands it one job at a time, and survives whatever the rung does.
//
// The caller owns inputs, reference, tolerance, verdict and clock. The worker returns bytes. A rung that crashes, hangs
// or exits costs one job; the next run() starts a fresh worker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "types.h"

namespace rung {

struct TimedSets;  // timed.h
struct Pick;

struct VariantInfo {
  std::string name;
  Op op;
  Dtype dtype;
};

// What the rung's author predicted (RUNG_PREDICT).
struct PredictionInfo {
  std::string name;
  double value;  // as it came, also if it is absurd; NaN: not filled in
};

// One call of one variant.
struct Job {
  int variant = 0;              // index into Client::variants()
  Sizes sizes = {};             // passed on as they are, also when they are nonsense
  const void* input = nullptr;  // host memory; copied to the device buffer before every launch
  // Of the buffers, in which tensors lie as the operator's plan says.
  size_t input_bytes = 0;
  size_t output_bytes[2] = {0, 0};
  size_t workspace_bytes = 0;
  enum class Null { none, input, output, second_output } null_argument = Null::none;
  int launches = 1;        // every launch finds its outputs poisoned; each is timed by itself
  double time_limit = 10;  // seconds for the whole job, by the caller's clock

  // For measuring on a GPU (the worker of the CPU refuses it). What is timed is then not one launch but `calls` of them
  // in a row, their mean being the time, and each takes the next of `sets` sets of buffers: where the sets are larger
  // together than the cache, no launch finds its data there. `launches` such times are taken after a warm-up. Outputs
  // are poisoned once, before the first.
  struct Rotation {
    int calls = 0, sets = 1;  // sets <= calls
  } rotation;

  // Leave out what the rung prints: another run of the same case has printed it.
  bool quiet = false;

  // Count what the last launch does (the executor, with an instrumented rung): Outcome::counters.
  bool count = false;
  // Not 0: and predict its time on an H200 for so many times the rows, of which these are a part.
  int stands_for = 0;
  // While it is counted, blocks take turns by atomics, as on a GPU (simt/simt.h, run_blocks_in_turns).
  bool in_turns = false;
};

struct Outcome {
  enum class Kind {
    returned,   // the variant returned: see error and outputs
    crashed,    // a signal, a failed check or an exit inside the rung: see message
    timed_out,  // killed after time_limit: see message
    no_worker,  // the worker could not be started or could not load the rung: see message
  } kind = Kind::no_worker;

  int error = 0;                         // the cudaError_t that the variant, or the synchronisation after it, returned
  std::string error_name;                // "cudaErrorInvalidValue"
  std::vector<unsigned char> output[2];  // as many bytes as the job asked for, of the last launch
  std::vector<std::string> damage;       // guard zones written, input changed: one sentence each
  std::vector<double> seconds;           // one per launch, measured in the worker around launch and synchronisation
  double waited = 0;                     // seconds from the request to the answer, by the caller's clock
  std::string counters;                  // as JSON (simt/counters/counters.h, to_json), if the job asked to count
  // By the executor: what the last call had of the device. Both builds of a rung must launch the same.
  struct Work {
    int launches = 0;
    int by_graphs = 0;           // of these, by cudaGraphLaunch
    uint64_t shapes = 0;         // a hash of all grids, blocks, sizes of shared memory and names
    std::string first_ones;      // in words
    uint64_t bytes_to_host = 0;  // of device memory, read by the host's code
    bool used_after = false;     // and then the device was given something by it
    bool atomics = false;        // a kernel used some: sums may depend on the order of threads
    std::string remark;          // of the checks: what is no mistake by itself
  } work;
  // What went wrong, in words; the first line is short: "null pointer". Of an error that was returned: what the runtime
  // refused, where the error came from there.
  std::string message;
  std::string file;  // where in the rung's source, where it is known
  int line = 0;
};

// "softmax.cu:42: ", or "" where the place is not known.
std::string place_text(const Outcome& outcome);

// The error that was returned: its name, and in further lines where the runtime refused what.
std::string error_text(const Outcome& outcome);

// Outputs are filled with this byte before every launch: read as f32, f16 or bf16 it is NaN, read as int it is -1.
constexpr unsigned char poison = 0xFF;

class Client {
 public:
  // worker: path of the worker program of a backend (build/cpu/worker). rung: path of the rung's shared object.
  Client(std::string worker, std::string rung);
  ~Client();
  Client(const Client&) = delete;

  // The rung's table. Empty if the worker cannot load it; problem() then says why.
  const std::vector<VariantInfo>& variants();
  const std::string& problem() const;
  // The rung's predictions, in its order; mostly none.
  const std::vector<PredictionInfo>& predictions() const;

  // Of what a rung prints 1 MiB is kept: from now on of both together, which are two builds of one rung.
  void print_together_with(const Client& other);

  Outcome run(const Job& job);

  // Launches for the caller's clock: Outcome::waited. The three belong together, in this order (protocol.h).
  Outcome prepare(const TimedSets& sets);
  Outcome launch(const TimedSets& sets);
  // *rows gets the picked rows, one after the other.
  Outcome fetch(const TimedSets& sets, const std::vector<Pick>& picks, std::vector<unsigned char>* rows);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rung
