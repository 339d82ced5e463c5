// What a result says about where and when it was measured.
#pragma once

#include <string>

namespace bench {

// Cores that this process may run on.
int cores();

// Processor and cores: "Intel Xeon Processor, 2 cores". Where the kernel does not name the processor (many aarch64
// machines), the architecture and the host's operating system stand in: "aarch64 (Linux), 4 cores".
std::string machine_name();

// A machine's name as a file name: "intel-xeon-processor-2-cores".
std::string slug_of(const std::string& name);
std::string machine_slug();

// Today, local time: "2026-11-20".
std::string today();

}  // namespace bench
