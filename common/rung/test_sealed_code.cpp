// That a graded rung can change no code, start nothing and not reach the worker (sealed_code.h,
// testdata/changes_code.cu).
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>

#include "catch2_any.h"
#include "client.h"

#if defined(__x86_64__) || defined(__aarch64__)
TEST_CASE("what is sealed is refused", "[worker][executor]") {
  const char* folder = getenv("LADDER_TESTDATA");
  const std::string worker = "build/cpu/tests/sealed_worker.sh";
  std::ofstream(worker) << "#!/bin/sh\nexec build/cpu/worker \"$1\" sealed\n";
  REQUIRE(chmod(worker.c_str(), 0755) == 0);
  rung::Client client(worker, (folder ? std::string(folder) : "build/cpu/common/rung/testdata") + "/changes_code.so");
  REQUIRE(client.variants().size() == 13);
  for (size_t i = 0; i < client.variants().size(); i++) {
    INFO(client.variants()[i].name);
    const float input = 0;
    rung::Job job;
    job.variant = static_cast<int>(i);
    job.sizes = {1, 1, {}};
    job.input = &input;
    job.input_bytes = job.output_bytes[0] = sizeof input;
    const rung::Outcome outcome = client.run(job);
    REQUIRE(outcome.kind == rung::Outcome::Kind::returned);
    float error = 0;
    memcpy(&error, outcome.output[0].data(), sizeof error);
    // A kernel without Landlock lets it open its memory: that is then so.
    const bool by_landlock = client.variants()[i].name == "opened_its_memory";
    const bool by_the_kernel = client.variants()[i].name == "opened_the_memory_of_the_device";
    if (by_landlock && syscall(SYS_landlock_create_ruleset, nullptr, 0, 1) < 1) continue;
    CHECK(error == (by_landlock || by_the_kernel ? EACCES : EPERM));
  }
}
#endif
