// Linked into a program that simtcc --profile builds: counts every launch and shows the counters when the program ends.
// SIMT_PROFILE=FILE.json writes them there instead.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "counters/counters.h"
#include "device_queues.h"
#include "devices.h"
#include "refusal.h"
#include "simt.h"
#include "spinning.h"
#include "timing/predictor.h"

extern "C" const char simt_python[];  // the interpreter that ran simtcc, which says it of each program

namespace {

// Also where the counters go to a file: they are of the whole program.
void show_links() {
  for (int from = 0; from < simt::device_count(); from++) {
    for (int to = 0; to < simt::device_count(); to++) {
      if (const uint64_t bytes = simt::link_bytes(from, to))
        std::fprintf(stderr, "simt: over the link from device %d to device %d: %llu bytes\n", from, to,
                     static_cast<unsigned long long>(bytes));
    }
  }
}

void show() {
  simt::wait_for_all_devices();
  const std::string json = simt::counters::to_json(simt::counters::finish());
  const char* const wanted = std::getenv("SIMT_PROFILE");
  char temporary[] = "/tmp/simt-profile-XXXXXX";
  const int descriptor = wanted ? -1 : mkstemp(temporary);
  const std::string path = wanted ? wanted : temporary;
  FILE* file = wanted ? std::fopen(wanted, "w") : fdopen(descriptor, "w");
  if (!file || std::fwrite(json.data(), 1, json.size(), file) != json.size() || std::fclose(file) != 0) {
    std::perror(("simt: cannot write the counters to " + path).c_str());
    return;
  }
  std::fflush(nullptr);
  show_links();
  if (wanted) return;
  std::fflush(nullptr);
  const std::string command = std::string("'") + simt_python + "' '" + SIMT_FOLDER + "/profile.py' '" + path + "'";
  if (std::system(command.c_str()) != 0)
    std::fprintf(stderr, "simt: could not show the counters; they are in %s\n", path.c_str());
  else
    unlink(path.c_str());
}

struct StartProfile {
  StartProfile() {
    simt::install_signal_handlers();
    simt::use_devices_of_environment();
    if (simt::has_several_devices()) simt::set_cores(1);  // kernels of several devices take turns
    const char* const gpu = std::getenv("SIMT_GPU");
    try {
      simt::timing::predict_for(gpu ? gpu : "h200");
    } catch (const std::exception& error) {
      std::fprintf(stderr, "simt: SIMT_GPU: %s\n", error.what());
      std::exit(2);
    }
    simt::counters::start(true);
    simt::tell_refused_launches();
    simt::let_spinning_blocks_give_way(nullptr, nullptr);
    std::atexit(show);
  }
};
// Before all constructors of the program's own, which may call the runtime and launch kernels: simtcc links this first.
__attribute__((init_priority(101))) StartProfile start_profile;

}  // namespace
