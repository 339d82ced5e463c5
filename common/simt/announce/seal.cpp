#include "seal.h"

namespace announce {

std::vector<std::string> seal_before(const Instruction&) { return {}; }
std::vector<std::string> seal_after(const Instruction&) { return {}; }

}  // namespace announce
