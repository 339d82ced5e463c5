// Linked into a program that simtcc --profile builds: counts every launch and shows the counters when the program ends.
// SIMT_PROFILE=FILE.json writes them there instead.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "counters/counters.h"
#include "refusal.h"
#include "simt.h"
#include "timing/predictor.h"

namespace {

void show() {
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
  if (wanted) return;
  std::fflush(nullptr);
  const std::string command = std::string("python3 '") + SIMT_FOLDER + "/profile.py' '" + path + "'";
  if (std::system(command.c_str()) != 0)
    std::fprintf(stderr, "simt: could not show the counters; they are in %s\n", path.c_str());
  else
    unlink(path.c_str());
}

struct StartProfile {
  StartProfile() {
    simt::install_signal_handlers();
    const char* const gpu = std::getenv("SIMT_GPU");
    try {
      simt::timing::predict_for(gpu ? gpu : "h200");
    } catch (const std::exception& error) {
      std::fprintf(stderr, "simt: SIMT_GPU: %s\n", error.what());
      std::exit(2);
    }
    simt::counters::start();
    simt::tell_refused_launches();
    std::atexit(show);
  }
} start_profile;

}  // namespace
