// Which backend runs the rungs: a CUDA device, or the executor on the CPU.
#pragma once

#include <string>

namespace rung {

struct Backend {
  std::string name;    // "cpu" or "cuda"; empty if what was asked for is not there
  std::string line;    // "cpu: no CUDA device (driver not found)": the first line of every command
  std::string error;   // why there is none, and what to do
  std::string worker;  // "build/cpu/worker"
};

// wanted: "auto", "cuda" or "cpu"; nullptr: what BACKEND says in the environment, auto if it says nothing. auto takes a
// CUDA device that answers, if files for it are there or can be built, else the CPU.
Backend choose_backend(const char* wanted = nullptr);

struct Gpus {
  int count;
  std::string words;  // the first one's name, or why there is none: "driver not found"
};
// For programs of several devices (make lab09).
Gpus find_gpus();

}  // namespace rung
