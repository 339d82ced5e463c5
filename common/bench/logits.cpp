#include "logits.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <random>

#include "error.h"

namespace bench {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "read_matrix takes the file's bytes as they are");

std::vector<float> normal_logits(int rows, int cols) {
  std::mt19937 bits(1);
  std::normal_distribution<float> normal(0, 3);
  std::vector<float> logits(static_cast<size_t>(rows) * static_cast<size_t>(cols));
  for (float& logit : logits) logit = normal(bits);
  return logits;
}

std::vector<float> read_matrix(const std::string& path, int file_rows, int cols, int rows) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) throw Error(path + ": cannot be read: " + std::strerror(errno));
  const size_t row_bytes = static_cast<size_t>(cols) * sizeof(float);
  const size_t found = static_cast<size_t>(in.tellg()), expected = static_cast<size_t>(file_rows) * row_bytes;
  if (found != expected) {
    throw Error(path + ": has " + std::to_string(found) + " bytes; " + std::to_string(file_rows) + " x " +
                std::to_string(cols) + " float32 are " + std::to_string(expected));
  }
  std::vector<float> logits(static_cast<size_t>(rows) * static_cast<size_t>(cols));
  in.seekg(0);
  in.read(reinterpret_cast<char*>(logits.data()), static_cast<std::streamsize>(logits.size() * sizeof(float)));
  if (!in) throw Error(path + ": cannot be read: " + std::strerror(errno));
  return logits;
}

}  // namespace bench
