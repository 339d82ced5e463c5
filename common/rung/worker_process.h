// The process of a worker, the socket to it, and the memory that it shares with us: started and reaped, whatever it
// does. What is said through the socket is client.cpp's business.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <string>

namespace rung {

class WorkerProcess {
 public:
  using Clock = std::chrono::steady_clock;

  WorkerProcess(std::string worker, std::string rung);
  ~WorkerProcess();  // ends the process
  WorkerProcess(const WorkerProcess&) = delete;

  bool is_running() const { return child_ >= 0; }

  // Starts the process. Returns what prevents it, in words; "" if it runs.
  std::string start();

  // kill() ends it with all that it started; stop() also reaps it, and says in words how it ended:
  // "" if none ran.
  void kill();
  std::string stop();

  bool send(const void* message, size_t size);

  // Waits for one message, at most until the deadline. *got: its true length, also where it is longer than `size`.
  enum class Received { message, nothing_in_time, ended };
  Received receive(void* message, size_t size, ssize_t* got, Clock::time_point deadline);

  // The shared memory, which only grows; it keeps its address while it does not. False if there is not so much.
  bool grow(size_t bytes);
  unsigned char* shared() const { return shared_; }

 private:
  std::string worker_, rung_;
  pid_t child_ = -1;
  int control_ = -1;  // our end of the socket
  int memory_ = -1;   // the memfd, sealed against shrinking: the worker must not be able to cut it short under our feet
  unsigned char* shared_ = nullptr;
  size_t shared_size_ = 0;
};

}  // namespace rung
