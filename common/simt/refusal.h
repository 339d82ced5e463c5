// Why the runtime refused what a program asked for. A program may ask, be refused and do something else, so that it is
// no failure: it is remembered for whoever tells of the error that the program goes on with.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <string>

namespace simt {

struct Refusal {
  cudaError_t error;
  // The first line has the limit and no figures of the program's; the others what was asked, and what to do.
  char text[700];
  const char* file;  // the source line, where it is known, else nullptr
  int line;
  uintptr_t pc;  // otherwise the program counter: 0 if that is not known, either
};

// What a launch is beyond. `error` is cudaSuccess if there is nothing.
struct Excess {
  cudaError_t error = cudaSuccess;
  std::string limit, asked;  // the two parts of Refusal::text
};

// The last refusal of this OS thread, since the last forget_refusal(); its error is cudaSuccess if there was none.
const Refusal& last_refusal();
void forget_refusal();

// Remember one. Without a file the place is looked for on the stack.
void refuse_launch(const LaunchConfig& config, const char* kernel, const Excess& excess);
void refuse_call(cudaError_t error, const std::string& text, const char* file = nullptr, int line = 0);

// From now on those whose line is known are told on stderr, those of one line once: as in a program of simtcc's.
void tell_refused_launches();

// "softmax<float><<<(7,1,1), (2048,1,1), 0>>>".
std::string launch_text(const LaunchConfig& config, const char* kernel);

}  // namespace simt
