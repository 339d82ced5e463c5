// Prints this machine's roofs as a JSON object: what bounds any kernel's speed on the CPU.
//
//     roofs            measures (under 3 s, under 1 GB of memory)
//     roofs --machine  prints the machine's name, and measures nothing
//     roofs --slug     prints it as a file name
#include "roofs.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <new>
#include <nlohmann/json.hpp>

#include "machine.h"

namespace {

double three_digits(double value) {
  const double unit = std::pow(10, std::floor(std::log10(value)) - 2);
  return std::stod(std::to_string(std::round(value / unit) * unit));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--slug") == 0) {
    std::puts(bench::machine_slug().c_str());
    return 0;
  }
  if (argc == 2 && std::strcmp(argv[1], "--machine") == 0) {
    std::puts(bench::machine_name().c_str());
    return 0;
  }
  if (argc != 1) {
    std::cerr << "roofs: unknown argument '" << argv[1] << "'. Usage: roofs [--machine | --slug]\n";
    return 2;
  }
  try {
    const bench::Bandwidth bandwidth = bench::measure_bandwidth();
    const bench::FmaRate fma = bench::measure_fma();
    const double exp = bench::measure_exp();
    const nlohmann::ordered_json roofs = {
        {"machine", bench::machine_name()},
        {"cores", bench::cores()},
        {"date", bench::today()},
        {"copy_gbs", three_digits(bandwidth.copy_gbs)},
        {"read_gbs", three_digits(bandwidth.read_gbs)},
        {"fma_gflops", three_digits(fma.gflops)},
        {"fma_instructions", fma.instructions},
        {"exp_gops", three_digits(exp)},
        {"exp_function", "expf of the C library, one number per call"},
        {"buffer_mib", bandwidth.buffer_bytes >> 20},
    };
    std::cout << roofs.dump(2) << "\n";
  } catch (const std::bad_alloc&) {
    std::cerr << "roofs: not enough memory for the buffers; close other programs and try again.\n";
    return 2;
  }
}
