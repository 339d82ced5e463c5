#include "nccl_clique.h"

#include <cstring>
#include <functional>

#include "checks/checks.h"
#include "checks/memory_events.h"
#include "device_queues.h"
#include "devices.h"
#include "failure.h"
#include "memory.h"
#include "nccl_arithmetic.h"

namespace simt::nccl {

namespace {

std::vector<std::weak_ptr<Clique>>& cliques() {
  static auto* const all = new std::vector<std::weak_ptr<Clique>>;
  return *all;
}

std::string list_of(const std::vector<int>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < ranks.size(); i++) text += (i ? ", " : "") + std::to_string(ranks[i]);
  return text;
}

std::string explain() {
  std::string text;
  for (const std::weak_ptr<Clique>& weak : cliques()) {
    const std::shared_ptr<Clique> clique = weak.lock();
    if (!clique) continue;
    for (const auto& [number, meeting] : clique->collectives) {
      std::vector<int> came, missing;
      for (int rank = 0; rank < clique->ranks(); rank++)
        (clique->posted[static_cast<size_t>(rank)] > number ? came : missing).push_back(rank);
      text += std::string("A collective that not all ranks have called: ") + meeting->calls.front().name + ", number " +
              std::to_string(number + 1) + " of its communicator, has been called by " + list_of(came) +
              " and not by " + list_of(missing) + ".\n";
    }
    for (const auto& [ends, half] : clique->messages) {
      if (half.empty()) continue;
      const bool sent = half.front()->calls.front().kind == Kind::send;
      text += std::string(half.front()->calls.front().name) + " from rank " + std::to_string(ends.first) + " to rank " +
              std::to_string(ends.second) + " has no " + (sent ? "ncclRecv" : "ncclSend") + " at the other end.\n";
    }
  }
  return text;
}

void move(void* to, const void* from, size_t bytes, int from_device, int to_device) {
  count_link_bytes(from_device, to_device, bytes);
  if (bytes) std::memmove(to, from, bytes);
  checks::host_wrote(to, bytes);
}

char* part(const void* begin, int index, size_t bytes) {
  return static_cast<char*>(const_cast<void*>(begin)) + static_cast<size_t>(index) * bytes;
}

// The work of a meeting to which all have come.
void perform(const Clique& clique, Meeting* meeting) {
  const Turn turn;
  const DeviceMemoryOpen open;
  const RankCall& any = meeting->calls.front();
  const size_t bytes = any.count * bytes_of(any.type);
  const int ranks = clique.ranks();
  const auto device = [&](int rank) { return clique.devices[static_cast<size_t>(rank)]; };
  std::vector<const RankCall*> by_rank(static_cast<size_t>(ranks));
  for (const RankCall& call : meeting->calls) by_rank[static_cast<size_t>(call.rank)] = &call;
  std::vector<int> together;
  for (const RankCall& call : meeting->calls) together.push_back(device(call.rank));

  if (any.kind == Kind::send || any.kind == Kind::receive) {
    const bool sent_first = any.kind == Kind::send;
    const RankCall &sender = meeting->calls[sent_first ? 0 : 1], &receiver = meeting->calls[sent_first ? 1 : 0];
    move(receiver.receive, sender.send, bytes, device(sender.rank), device(receiver.rank));
    if (checks::running() && has_several_devices()) checks::devices_meet(2, together.data());
    return;
  }
  // Ranks may send from where others, or they themselves, receive: first all is taken, then given.
  std::vector<std::vector<char>> taken(static_cast<size_t>(ranks));
  std::vector<const void*> sent(static_cast<size_t>(ranks));
  const size_t each = any.kind == Kind::reduce_scatter ? bytes * static_cast<size_t>(ranks) : bytes;
  for (const RankCall* call : by_rank) {
    if (!call || !call->send || (any.kind == Kind::broadcast && call->rank != any.peer)) continue;
    auto& copy = taken[static_cast<size_t>(call->rank)];
    copy.assign(static_cast<const char*>(call->send), static_cast<const char*>(call->send) + each);
    const Factor& factor = call->factor;
    if (factor.used)
      multiply(copy.data(), each / bytes_of(any.type), any.type, factor.on_device ? factor.on_device : factor.bytes);
    sent[static_cast<size_t>(call->rank)] = copy.data();
  }
  for (const RankCall* call : by_rank) {
    if (!call) continue;
    const int rank = call->rank;
    switch (any.kind) {
      case Kind::reduce:
        if (rank != any.peer) break;
        [[fallthrough]];
      case Kind::all_reduce:
      case Kind::reduce_scatter: {
        std::vector<const void*> from = sent;
        if (any.kind == Kind::reduce_scatter) {
          for (const void*& begin : from) begin = part(begin, rank, bytes);
        }
        for (int other = 0; other < ranks; other++) count_link_bytes(device(other), device(rank), bytes);
        reduce(call->receive, from.data(), ranks, any.count, any.type, any.op);
        checks::host_wrote(call->receive, bytes);
        break;
      }
      case Kind::broadcast:
        move(call->receive, sent[static_cast<size_t>(any.peer)], bytes, device(any.peer), device(rank));
        break;
      case Kind::all_gather:
        for (int other = 0; other < ranks; other++)
          move(part(call->receive, other, bytes), sent[static_cast<size_t>(other)], bytes, device(other), device(rank));
        break;
      default: break;
    }
  }
  if (checks::running() && has_several_devices())
    checks::devices_meet(static_cast<int>(together.size()), together.data());
}

// Do the calls of two ranks belong together?
void compare(const RankCall& first, const RankCall& call) {
  const auto differ = [&](const std::string& what, const std::string& one, const std::string& other) {
    fail_at(call, "nccl: ranks that call different things",
            "Calls of one communicator are matched by their order. " + std::string(call.name) + " of rank " +
                std::to_string(call.rank) + " has " + what + " " + one + ", and " + first.name + " of rank " +
                std::to_string(first.rank) + ", which meets it, " + other +
                ". On a GPU this hangs or gives wrong data.");
  };
  const bool message = call.kind == Kind::send || call.kind == Kind::receive;
  if (!message && call.kind != first.kind)
    fail_at(call, "nccl: ranks that call different collectives",
            "Calls of one communicator are matched by their order: rank " + std::to_string(call.rank) + " calls " +
                call.name + " where rank " + std::to_string(first.rank) + " has called " + first.name +
                ". On a GPU this hangs or gives wrong data.");
  if (call.count != first.count) differ("a count of", std::to_string(call.count), std::to_string(first.count));
  if (call.type != first.type) differ("data type", std::to_string(call.type), std::to_string(first.type));
  if (call.factor.used != first.factor.used)
    differ("reduction", call.factor.used ? "with a factor" : "without a factor",
           first.factor.used ? "with a factor" : "without a factor");
  if (call.op != first.op) differ("reduction", std::to_string(call.op), std::to_string(first.op));
  if (!message && call.peer != first.peer) differ("root", std::to_string(call.peer), std::to_string(first.peer));
}

// The meeting of a call, complete if it is the last one. With the lock.
std::shared_ptr<Meeting> post(Clique* clique, const RankCall& call, bool* complete) {
  std::shared_ptr<Meeting> meeting;
  if (call.kind == Kind::send || call.kind == Kind::receive) {
    const bool sends = call.kind == Kind::send;
    auto& half = clique->messages[sends ? std::pair(call.rank, call.peer) : std::pair(call.peer, call.rank)];
    if (!half.empty() && half.front()->calls.front().kind != call.kind) {
      meeting = half.front();
      half.pop_front();
    } else {
      half.push_back(meeting = std::make_shared<Meeting>());
    }
    *complete = !meeting->calls.empty();
  } else {
    const uint64_t number = clique->posted[static_cast<size_t>(call.rank)]++;
    auto& entry = clique->collectives[number];
    if (!entry) entry = std::make_shared<Meeting>();
    meeting = entry;
    *complete = static_cast<int>(meeting->calls.size()) + 1 == clique->ranks();
    if (*complete) clique->collectives.erase(number);
  }
  meeting->calls.push_back(call);
  return meeting;
}

}  // namespace

void fail_at(const RankCall& call, const char* what, const std::string& detail) {
  Failure failure = {};
  failure.what = what;
  std::snprintf(failure.detail, sizeof failure.detail, "%s", detail.c_str());
  failure.pc = call.pc - 1;
  report_failure(failure);
}

void watch(const std::shared_ptr<Clique>& clique) {
  with_ranks([&] { cliques().push_back(clique); });
  on_standstill(explain);
}

void run_calls(Clique* clique, const std::vector<RankCall>& calls) {
  std::vector<std::shared_ptr<Meeting>> meetings;
  std::string names;
  for (const RankCall& call : calls) {
    bool complete = false;
    RankCall first = call;
    with_ranks([&] {
      meetings.push_back(post(clique, call, &complete));
      first = meetings.back()->calls.front();
    });
    names = call.name;
    compare(first, call);
    if (!complete) continue;
    perform(*clique, meetings.back().get());
    with_ranks([&] { meetings.back()->done = true; });
  }
  const auto all_done = [&] {
    for (const auto& meeting : meetings) {
      if (!meeting->done) return false;
    }
    return true;
  };
  wait_for_ranks(all_done, "other ranks in " + names);
}

}  // namespace simt::nccl
