// Runs one function on every core at once.
#pragma once

#include <thread>
#include <vector>

#include "machine.h"

namespace bench {

// Calls work(i) for i = 0 .. cores() - 1, each on its own thread, and waits for all.
template <typename Work>
void on_all_cores(Work&& work) {
  std::vector<std::thread> threads;
  for (int i = 1; i < cores(); i++) threads.emplace_back([&work, i] { work(i); });
  work(0);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace bench
