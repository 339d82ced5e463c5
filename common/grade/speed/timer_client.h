// The judge's side of a timer (timer_protocol.h): sends requests, trusts no answer, and keeps the clock.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "timer_protocol.h"
#include "types.h"
#include "worker_process.h"

namespace speed {

struct Entry {
  std::string name;
  rung::Op op;
  rung::Dtype dtype;
};

struct Answer {
  double seconds = 0;   // by the judge's clock, from the request to the answer
  int error = 0;        // the cudaError_t that the variant returned
  std::string problem;  // why there is no answer, in one line; "" if there is one. The timer is then gone.
};

class TimerClient {
 public:
  // timer: the program. rung: its shared object.
  TimerClient(std::string timer, std::string rung);

  // Starts the timer unless it is running. Returns the reason if it cannot; "" if it runs.
  std::string start();
  void stop() { process_.stop(); }
  bool is_running() const { return process_.is_running(); }

  const std::vector<Entry>& entries() const { return entries_; }
  // Index of the first variant of this name and type; -1 if there is none.
  int find(const std::string& name, rung::Dtype dtype) const;

  // Sends a request, whose magic and job it fills in, and waits at most limit_seconds for the answer.
  Answer ask(TimerRequest request, double limit_seconds);
  // Sends a request of the phase fetch. *rows gets the picked rows, one after the other; row_bytes: of one row.
  Answer fetch(TimerRequest request, const std::vector<Pick>& picks, size_t row_bytes,
               std::vector<unsigned char>* rows);

 private:
  std::string rung_;
  rung::WorkerProcess process_;
  std::vector<Entry> entries_;
  std::mt19937_64 jobs_{std::random_device{}()};
};

}  // namespace speed
