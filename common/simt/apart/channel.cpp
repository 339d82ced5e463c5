#include "channel.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>

namespace simt::apart {

bool Channel::send(const Header& header, const void* data, size_t data_bytes) const {
  iovec parts[] = {{const_cast<Header*>(&header), sizeof header}, {const_cast<void*>(data), data_bytes}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = data_bytes ? 2 : 1;
  for (;;) {
    const ssize_t sent = sendmsg(descriptor_, &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    return sent == static_cast<ssize_t>(sizeof header + data_bytes);
  }
}

Channel::Received Channel::receive(Message* message, size_t* data_bytes) const {
  iovec part = {message, sizeof *message};
  msghdr received{};
  received.msg_iov = &part;
  received.msg_iovlen = 1;
  const ssize_t got = recvmsg(descriptor_, &received, 0);
  if (got < 0 && errno == EINTR) return Received::interrupted;
  if (got <= 0) return Received::ended;
  const bool whole = got >= static_cast<ssize_t>(sizeof(Header)) && !(received.msg_flags & MSG_TRUNC);
  if (!whole) message->header.op = Op{};
  *data_bytes = whole ? static_cast<size_t>(got) - sizeof(Header) : 0;
  return Received::message;
}

}  // namespace simt::apart
