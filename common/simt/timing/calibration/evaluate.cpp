// Predicts saved launches (../trace_file.h) for a GPU, one line each: evaluate TRACES GPU [ONLY]
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <memory>

#include "../../module_symbols.h"
#include "../trace_file.h"

int main(int argc, char** argv) {
  using namespace simt;
  using namespace simt::timing;
  if (argc < 3) {
    std::fprintf(stderr, "usage: evaluate TRACES GPU [NUMBER]\n");
    return 2;
  }
  std::FILE* const file = std::fopen(argv[1], "rb");
  if (!file) {
    std::perror(argv[1]);
    return 1;
  }
  try {
    const Machine machine = read_machine(argv[2]);
    std::map<std::string, std::unique_ptr<Operations>> tables;
    SavedLaunch launch;
    for (int number = 0; load(file, &launch); number++) {
      if (argc > 3 && number != std::atoi(argv[3])) continue;
      auto& table = tables[launch.module];
      if (!table)
        table = std::make_unique<Operations>(section_of(launch.module, ".simt_operations"),
                                             function_offsets(launch.module));
      const Prediction p = predict(launch.trace, launch.origin, *table, launch.facts, machine);
      if (!p.known) {
        std::printf("%d\tnone\t%s\n", number, p.why.c_str());
        continue;
      }
      std::printf(
          "%d\t%.6g\t%s\tres %u %s reg %d dram %.2f l2 %.2f lsu %.2f iss %.2f mufu %.2f band %.3f\tinstructions %.0f\n",
          number, p.seconds, p.limit.c_str(), p.resident, p.bound_by.c_str(), p.registers, p.dram, p.l2, p.lsu, p.issue,
          p.mufu, p.high / p.seconds, p.instructions);
      if (argc > 3) {
        for (const Segment& segment : p.segments) {
          for (size_t c = 0; c < cause_count; c++) {
            if (segment.cycles[c] > 0) std::printf(" %s %.3f", cause_names[c], segment.cycles[c] * p.segment_scale);
          }
          std::printf("\n");
        }
      }
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "evaluate: %s\n", error.what());
    return 1;
  }
  return 0;
}
