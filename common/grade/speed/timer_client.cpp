#include "timer_client.h"

#include <chrono>
#include <cstring>
#include <utility>

namespace speed {
namespace {

using Clock = rung::WorkerProcess::Clock;
using Received = rung::WorkerProcess::Received;
using rung::Reply;

constexpr double start_limit = 30;  // seconds; making a CUDA context takes up to a few

Clock::time_point after(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

// The first line of a text of the timer, control characters made harmless.
std::string line_of(const char* array, size_t size) {
  std::string text(array, strnlen(array, size));
  text = text.substr(0, text.find('\n'));
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return text;
}

}  // namespace

TimerClient::TimerClient(std::string timer, std::string rung) : rung_(rung), process_(std::move(timer), rung) {}

std::string TimerClient::start() {
  if (process_.is_running()) return "";
  const std::string problem = process_.start();
  if (!problem.empty()) return problem;
  const auto deadline = after(start_limit);
  const auto ended = [&](const std::string& why) {
    process_.kill();
    const std::string how = process_.stop();
    return why.empty() ? how + " while it was being loaded" : why;
  };
  Reply reply;
  ssize_t got = 0;
  const Received received = process_.receive(&reply, sizeof reply, &got, deadline);
  if (received == Received::ended) return ended("");
  if (received != Received::message) return ended("it was not loaded in time");
  const bool whole = got == sizeof reply && reply.magic == rung::reply_magic && reply.job == 0;
  if (whole && reply.kind == Reply::failed) return ended(line_of(reply.message, sizeof reply.message));
  bool good = whole && reply.kind == Reply::table && reply.count >= 1 && reply.count <= rung::max_variants;
  std::vector<Entry> entries;
  for (int i = 0; good && i < reply.count; i++) {
    rung::TableEntry entry;
    good = process_.receive(&entry, sizeof entry, &got, deadline) == Received::message && got == sizeof entry &&
           entry.magic == rung::reply_magic && entry.op >= 0 && entry.dtype >= 0 &&
           entry.dtype <= static_cast<int>(rung::Dtype::bf16);
    if (good) {
      entries.push_back({line_of(entry.name, sizeof entry.name), static_cast<rung::Op>(entry.op),
                         static_cast<rung::Dtype>(entry.dtype)});
    }
  }
  if (!good) return ended("it wrote to the timer's own connection");
  entries_ = std::move(entries);
  return "";
}

int TimerClient::find(const std::string& name, rung::Dtype dtype) const {
  for (size_t i = 0; i < entries_.size(); i++) {
    if (entries_[i].name == name && entries_[i].dtype == dtype) return static_cast<int>(i);
  }
  return -1;
}

Answer TimerClient::ask(TimerRequest request, double limit_seconds) {
  Answer answer;
  const auto lost = [&](const std::string& why) {
    process_.kill();
    const std::string how = process_.stop();
    answer.problem = why.empty() ? how : why;
    return answer;
  };
  request.magic = timer_magic;
  request.job = jobs_() | 1;
  Reply reply;
  ssize_t got = 0;
  const auto begin = Clock::now();
  if (!process_.is_running() || !process_.send(&request, sizeof request)) return lost("");
  const Received received = process_.receive(&reply, sizeof reply, &got, after(limit_seconds));
  answer.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  if (received == Received::ended) return lost("");
  if (received == Received::nothing_in_time) return lost("not finished in time");
  const bool whole = got == sizeof reply && reply.magic == rung::reply_magic && reply.job == request.job;
  if (whole && reply.kind == Reply::failed) return lost(line_of(reply.message, sizeof reply.message));
  if (!whole || reply.kind != Reply::returned) return lost("it wrote to the timer's own connection");
  answer.error = reply.error;
  return answer;
}

Answer TimerClient::fetch(TimerRequest request, const std::vector<Pick>& picks, size_t row_bytes,
                          std::vector<unsigned char>* rows) {
  const size_t begin = picked_rows(static_cast<int>(picks.size())), bytes = picks.size() * row_bytes;
  if (!process_.grow(begin + bytes)) return {0, 0, "no memory for the picked rows"};
  memcpy(process_.shared(), picks.data(), picks.size() * sizeof(Pick));
  memset(process_.shared() + begin, 0xFF, bytes);
  request.phase = Phase::fetch;
  request.picks = static_cast<int32_t>(picks.size());
  constexpr double limit = 20;
  const Answer answer = ask(request, limit);
  rows->assign(process_.shared() + begin, process_.shared() + begin + bytes);
  return answer;
}

}  // namespace speed
