// What a rung prints goes to stderr, ends after 1 MiB with a word, and does not get in the way (printed.h).
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>

#include "catch2_any.h"
#include "client.h"

namespace {

// While it lives, what is written to a stream goes into a file.
class Captured {
 public:
  explicit Captured(FILE* stream) : stream_(stream), file_(tmpfile()) {
    fflush(stream_);
    saved_ = dup(fileno(stream_));
    dup2(fileno(file_), fileno(stream_));
  }
  ~Captured() {
    fflush(stream_);
    dup2(saved_, fileno(stream_));
    close(saved_);
    fclose(file_);
  }
  std::string text() const {
    std::string all(1 << 24, '\0');
    rewind(file_);
    all.resize(fread(&all[0], 1, all.size(), file_));
    return all;
  }

 private:
  FILE *stream_, *file_;
  int saved_ = -1;
};

}  // namespace

TEST_CASE("of what a rung prints, the host or a kernel, 1 MiB is kept", "[worker]") {
  const char *folder = getenv("LADDER_TESTDATA"), *program = getenv("LADDER_WORKER");
  const std::string rung = (folder ? std::string(folder) : "build/cpu/common/rung/testdata") + "/prints.so";
  const std::string worker = program ? program : "build/cpu/worker";
  for (int variant = 0; variant < 3; variant++) {
    INFO("variant " << variant);
    const float input = 0;
    rung::Job job;
    job.variant = variant;
    job.sizes = {1, 1, {}};
    job.input = &input;
    job.input_bytes = job.output_bytes[0] = sizeof input;
    job.quiet = true;
    rung::Outcome outcome;
    std::string printed, quiet, errors;
    {
      Captured out(stdout), err(stderr);
      rung::Client client(worker, rung), other(worker, rung);
      other.print_together_with(client);
      client.run(job);
      quiet = err.text();
      job.quiet = false;
      outcome = client.run(job);
      client.run(job);  // the word comes once
      other.run(job);
      printed = out.text();
      errors = err.text();
    }
    CHECK(quiet == "");
    CHECK(outcome.message == "");
    CHECK(outcome.kind == rung::Outcome::Kind::returned);
    CHECK(printed == "");
    CHECK(errors.size() > (1 << 20));
    CHECK(errors.size() < (1 << 20) + 200);
    const size_t word = errors.find("printf: 1 MiB has been printed, and the rest is left out");
    CHECK(word != std::string::npos);
    CHECK(errors.find("printf: 1 MiB", word + 1) == std::string::npos);
  }
}
