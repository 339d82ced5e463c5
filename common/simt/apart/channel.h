// One end of the socket between host and device.
#pragma once

#include <cstddef>
#include <vector>

#include "protocol.h"

namespace simt::apart {

struct Message {
  Header header;
  unsigned char data[max_piece];
};

class Channel {
 public:
  explicit Channel(int descriptor = -1) : descriptor_(descriptor) {}
  int descriptor() const { return descriptor_; }

  // data_bytes <= max_piece. False if the other end is gone. Async-signal-safe.
  bool send(const Header& header, const void* data = nullptr, size_t data_bytes = 0) const;

  enum class Received { message, ended, interrupted };
  // Whole messages only: what is shorter than a header or longer than a message can be has an operation that there is
  // not. *data_bytes: how many bytes follow the header.
  Received receive(Message* message, size_t* data_bytes) const;

 private:
  int descriptor_;
};

}  // namespace simt::apart
