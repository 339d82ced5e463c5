// What the threads of a block hand one another through shared memory: words that one thread writes and another reads.
// A word that is read by many counts once, until it is written again; so a reduction in shared memory shows how many
// values it moves there, whoever reads them, and a row that each thread keeps its own part of shows nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace simt::counters {

// Of one OS thread. A word has 4 bytes, as a bank of shared memory.
class HandedOver {
 public:
  static constexpr size_t word_bytes = 4;

  void begin_block() { words_.assign(words_.size(), 0); }

  // offset: of the first byte, in the block's shared memory.
  void store(unsigned thread, size_t offset, unsigned bytes) {
    for (size_t word = offset / word_bytes; word <= (offset + bytes - 1) / word_bytes; word++) at(word) = thread + 1;
  }

  // No thread has written it.
  void clear(size_t offset, unsigned bytes) {
    for (size_t word = offset / word_bytes; word <= (offset + bytes - 1) / word_bytes; word++) at(word) = 0;
  }

  struct Bytes {
    unsigned from_others = 0, from_other_warps = 0;
  };

  // How many bytes the thread has from others, and is the first to read.
  Bytes load(unsigned thread, size_t offset, unsigned bytes) {
    Bytes handed;
    for (size_t word = offset / word_bytes; word <= (offset + bytes - 1) / word_bytes; word++) {
      uint32_t& writer = at(word);
      if (writer == 0 || writer == thread + 1) continue;
      handed.from_others += word_bytes;
      if ((writer - 1) / 32 != thread / 32) handed.from_other_warps += word_bytes;
      writer = 0;
    }
    return handed;
  }

 private:
  // 0: nobody's, or somebody else has read it already; else the number of the thread that wrote it, plus 1.
  uint32_t& at(size_t word) {
    if (word >= words_.size()) words_.resize(word + 1);
    return words_[word];
  }

  std::vector<uint32_t> words_;
};

}  // namespace simt::counters
