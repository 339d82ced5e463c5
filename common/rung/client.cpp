// Client: asks the worker, waits, and checks every byte of the answer. See protocol.h for the conversation.
#include "client.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <stdexcept>
#include <utility>

#include "protocol.h"
#include "simt.h"
#include "timed.h"
#include "worker_process.h"

namespace rung {
namespace {

using Clock = WorkerProcess::Clock;

constexpr double last_words_limit = .5;  // seconds that a worker has to say where it is before it is killed

Clock::time_point after(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

// LADDER_PATIENCE in the environment, a factor on the limits above and on those of jobs: for a worker that runs under a
// tool which makes it slow.
double patience() {
  const char* factor = getenv("LADDER_PATIENCE");
  return factor ? std::max(1.0, atof(factor)) : 1.0;
}

std::string seconds_text(double seconds) {
  char text[32];
  snprintf(text, sizeof text, "%.3g s", seconds);
  return text;
}

std::string bytes_text(size_t bytes) { return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes"); }

// A text of the worker: ended where its array ends, control characters made harmless.
template <size_t N>
std::string text_of(const char (&array)[N]) {
  std::string text(array, strnlen(array, N));
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n') c = '?';
  }
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

// What the sandwich guard | data | guard tells about buffer `name`.
void check_guards(const unsigned char* raw, size_t data_bytes, const char* name, std::vector<std::string>& damage) {
  const std::pair<const unsigned char*, bool> guards[] = {{raw, true}, {raw + guard_bytes + data_bytes, false}};
  for (auto [guard, before] : guards) {
    size_t written = 0, nearest = 0;
    for (size_t i = 0; i < guard_bytes; i++) {
      if (guard[i] == guard_byte) continue;
      if (before || written == 0) nearest = i;
      written++;
    }
    if (written == 0) continue;
    size_t distance = before ? guard_bytes - nearest : nearest;
    damage.push_back("wrote " + bytes_text(written) + (before ? " before the start of " : " past the end of ") + name +
                     ", the nearest " + bytes_text(distance) + (before ? " before it" : " past it"));
  }
}

}  // namespace

struct Client::Impl {
  using Received = WorkerProcess::Received;

  std::string rung, problem;
  WorkerProcess worker;
  std::vector<VariantInfo> variants;
  std::vector<PredictionInfo> predictions;
  bool loaded_once = false;
  std::mt19937_64 job_numbers{std::random_device{}()};

  Impl(std::string worker_program, std::string rung_path)
      : rung(rung_path), worker(std::move(worker_program), std::move(rung_path)) {}

  // Where the code of a failure is, and by which calls the kernel came there, of what was asked before: many cases fail
  // in one place, and of a large module each question takes a second.
  struct Place {
    std::string file, calls;
    int line;
  };
  std::map<std::pair<std::string, std::vector<uint64_t>>, Place> places;
  const Place& place_of(const Reply& reply);

  // Bytes that the rung may still print. Clients of two builds of one rung share it.
  std::shared_ptr<uint64_t> print_left = std::make_shared<uint64_t>(most_printed);

  bool load();
  Outcome lost(Outcome::Kind kind, const std::string& message);
  Outcome failed(const Reply& reply);
  void add_words(const Reply& reply, Outcome* outcome);
  Outcome ended(const char* when);
  Outcome late(const char* when, double limit, uint64_t job);
  bool last_words(Reply& reply, uint64_t job);
  bool is_ready(int variant);
  Request request_of(Request::Kind kind, int variant, const Sizes& sizes, double time_limit);
  Outcome ask(const Request& request, Reply* reply);
  Outcome ask_timed(Request::Kind kind, const TimedSets& sets, int picks = 0);
};

Outcome Client::Impl::lost(Outcome::Kind kind, const std::string& message) {
  Outcome outcome;
  outcome.kind = kind;
  outcome.message = message;
  return outcome;
}

const Client::Impl::Place& Client::Impl::place_of(const Reply& reply) {
  const std::string module = text_of(reply.module);
  std::vector<uint64_t> offsets(reply.frames, std::find(reply.frames, reply.frames + max_frames, 0u));
  const std::vector<uintptr_t> frames(offsets.begin(), offsets.end());
  offsets.push_back(reply.offset);
  offsets.push_back(static_cast<uint64_t>(reply.line));
  const auto [found, is_new] = places.try_emplace({module + '\n' + text_of(reply.file), std::move(offsets)});
  Place& place = found->second;
  if (!is_new) return place;
  char file[sizeof reply.file] = "", calls[1024] = "";
  place.line = reply.line;
  std::snprintf(file, sizeof file, "%s", text_of(reply.file).c_str());
  if (!file[0]) place.line = simt::source_line(module.c_str(), reply.offset, file, sizeof file);
  place.file = file;
  if (!frames.empty() && place.line > 0)
    simt::describe_calls(module.c_str(), frames.data(), static_cast<int>(frames.size()), file, place.line, calls,
                         sizeof calls);
  if (calls[0]) place.calls = std::string("\n") + calls;
  return place;
}

// What the worker says of an error, and of its place; and what it has printed.
void Client::Impl::add_words(const Reply& reply, Outcome* outcome) {
  *print_left -= std::min(reply.printed, *print_left);
  outcome->error = reply.error;
  outcome->error_name = text_of(reply.error_name);
  outcome->message = text_of(reply.message);
  outcome->file = text_of(reply.file);
  outcome->line = reply.line;
  if (!text_of(reply.module).empty()) {
    const Place& place = place_of(reply);
    outcome->line = place.line;
    outcome->file = place.file;
    outcome->message += place.calls;
  }
  if (outcome->file.empty() || outcome->line < 0) outcome->line = 0;
}

// The worker has said what went wrong and ends.
Outcome Client::Impl::failed(const Reply& reply) {
  Outcome outcome = lost(Outcome::Kind::crashed, "");
  add_words(reply, &outcome);
  worker.stop();
  return outcome;
}

Outcome Client::Impl::ended(const char* when) { return lost(Outcome::Kind::crashed, worker.stop() + " " + when); }

// A worker that is late knows it and says where it is: it keeps the time itself, because a signal from here would not
// reach it through a sandbox. True if a well-formed answer came.
bool Client::Impl::last_words(Reply& reply, uint64_t job) {
  ssize_t got = 0;
  return worker.receive(&reply, sizeof reply, &got, after(last_words_limit)) == Received::message &&
         got == sizeof reply && reply.magic == reply_magic && reply.kind == Reply::failed && reply.job == job;
}

Outcome Client::Impl::late(const char* when, double limit, uint64_t job) {
  Reply reply;
  Outcome outcome;
  if (last_words(reply, job)) {
    worker.kill();
    outcome = failed(reply);
  } else {
    worker.kill();
    worker.stop();
  }
  outcome.kind = Outcome::Kind::timed_out;
  // The first line of the last words is "timeout"; where it was follows.
  const size_t where = std::min(outcome.message.find('\n'), outcome.message.size());
  outcome.message = "not finished after " + seconds_text(limit) + when + outcome.message.substr(where);
  return outcome;
}

// Starts the worker and receives its table. Sets problem if that fails.
bool Client::Impl::load() {
  problem = worker.start();
  if (!problem.empty()) return false;
  auto fail = [&](const std::string& why) {
    problem = "cannot load " + rung + ": " + why;
    return false;
  };
  const auto deadline = after(load_limit * patience());
  const char* when = "while the rung was being loaded";
  Reply reply;
  ssize_t got = 0;
  switch (worker.receive(&reply, sizeof reply, &got, deadline)) {
    case Received::ended: return fail(ended(when).message);
    case Received::nothing_in_time: return fail(late(" while the rung was being loaded", load_limit, 0).message);
    case Received::message: break;
  }
  const bool whole = got == sizeof reply && reply.magic == reply_magic && reply.job == 0;
  if (whole && reply.kind == Reply::failed) return fail(failed(reply).message);
  std::vector<VariantInfo> table;
  bool good = whole && reply.kind == Reply::table && reply.count >= 1 && reply.count <= max_variants &&
              reply.predictions >= 0 && reply.predictions <= max_predictions;
  for (int i = 0; good && i < reply.count; i++) {
    TableEntry entry;
    good = worker.receive(&entry, sizeof entry, &got, deadline) == Received::message && got == sizeof entry &&
           entry.magic == reply_magic && entry.op >= 0 && entry.op < operator_count && entry.dtype >= 0 &&
           entry.dtype <= static_cast<int>(Dtype::bf16);
    if (good) table.push_back({text_of(entry.name), static_cast<Op>(entry.op), static_cast<Dtype>(entry.dtype)});
  }
  std::vector<PredictionInfo> predicted;
  for (int i = 0; good && i < reply.predictions; i++) {
    PredictionEntry entry;
    good = worker.receive(&entry, sizeof entry, &got, deadline) == Received::message && got == sizeof entry &&
           entry.magic == reply_magic && entry.name[0];
    if (good) predicted.push_back({text_of(entry.name), entry.value});
  }
  if (!good) {
    worker.kill();
    worker.stop();
    return fail("it wrote to the worker's own connection");
  }
  if (loaded_once && table.size() != variants.size()) {
    worker.stop();
    return fail("its table of variants has changed");
  }
  if (!loaded_once) predictions = predicted;  // what was predicted first stays
  variants = table;
  loaded_once = true;
  return true;
}

std::string place_text(const Outcome& outcome) {
  return outcome.file.empty() ? "" : outcome.file + ":" + std::to_string(outcome.line) + ": ";
}

std::string error_text(const Outcome& outcome) {
  if (outcome.message.empty()) return outcome.error_name;
  return outcome.error_name + "\n" + place_text(outcome) + outcome.message;
}

Client::Client(std::string worker, std::string rung) : impl_(new Impl(std::move(worker), std::move(rung))) {
  impl_->load();
}

Client::~Client() = default;

const std::vector<VariantInfo>& Client::variants() { return impl_->variants; }
const std::string& Client::problem() const { return impl_->problem; }
const std::vector<PredictionInfo>& Client::predictions() const { return impl_->predictions; }

void Client::print_together_with(const Client& other) { impl_->print_left = other.impl_->print_left; }

// Starts the worker if it does not run.
bool Client::Impl::is_ready(int variant) {
  if (loaded_once && (variant < 0 || static_cast<size_t>(variant) >= variants.size()))
    throw std::invalid_argument("Client: there is no variant " + std::to_string(variant));
  return worker.is_running() || load();
}

Request Client::Impl::request_of(Request::Kind kind, int variant, const Sizes& sizes, double time_limit) {
  Request request{};
  request.magic = request_magic;
  request.kind = kind;
  request.job = job_numbers() | 1;
  request.variant = variant;
  request.sizes = sizes;
  request.launches = request.sets = 1;
  request.time_limit = time_limit;
  return request;
}

// Sends the request and waits for the answer. Of the outcome all is set that comes with the answer itself.
Outcome Client::Impl::ask(const Request& request, Reply* reply) {
  const char* when = "in the middle of a call";
  ssize_t got = 0;
  const auto begin = Clock::now();
  if (!worker.send(&request, sizeof request)) return ended("after its last call");
  const Received received = worker.receive(reply, sizeof *reply, &got, after(request.time_limit * patience()));
  const double waited = std::chrono::duration<double>(Clock::now() - begin).count();
  if (received == Received::ended) return ended(when);
  if (received == Received::nothing_in_time) return late("", request.time_limit, request.job);
  const bool whole = got == sizeof *reply && reply->magic == reply_magic && reply->job == request.job;
  if (whole && reply->kind == Reply::failed) return failed(*reply);
  if (!whole || reply->kind != Reply::returned) {
    worker.kill();
    worker.stop();
    return lost(Outcome::Kind::crashed,
                "it wrote " + std::to_string(got) + " bytes to the worker's own connection (file descriptor 3)");
  }
  Outcome outcome;
  outcome.kind = Outcome::Kind::returned;
  outcome.waited = waited;
  add_words(*reply, &outcome);
  return outcome;
}

Outcome Client::run(const Job& job) {
  Impl& impl = *impl_;
  if (job.launches < 1 || job.launches > max_launches) throw std::invalid_argument("Client::run: launches");
  const Job::Rotation rotation = job.rotation;
  if (rotation.calls != 0 && (rotation.calls < 1 || rotation.calls > max_calls || rotation.sets < 1 ||
                              rotation.sets > max_sets || rotation.sets > rotation.calls)) {
    throw std::invalid_argument("Client::run: rotation");
  }
  if (!impl.is_ready(job.variant)) return impl.lost(Outcome::Kind::no_worker, impl.problem);

  Request request = impl.request_of(Request::run, job.variant, job.sizes, job.time_limit);
  request.launches = job.launches;
  request.calls = rotation.calls;
  request.sets = rotation.calls ? rotation.sets : 1;
  request.count = job.count;
  request.stands_for = job.stands_for;
  request.in_turns = job.in_turns;
  request.print_left = job.quiet ? 0 : *impl.print_left;
  if (job.null_argument != Job::Null::none) request.null_arguments = 1u << (static_cast<int>(job.null_argument) - 1);
  request.data_bytes[0] = job.input_bytes;
  request.data_bytes[1] = job.output_bytes[0];
  request.data_bytes[2] = job.output_bytes[1];
  request.data_bytes[workspace_buffer] = job.workspace_bytes;
  const Layout layout = layout_of(request);
  if (!impl.worker.grow(layout.total)) {
    return impl.lost(Outcome::Kind::no_worker, "no memory for a job of " + std::to_string(layout.total) + " bytes");
  }
  if (job.input_bytes) memcpy(impl.worker.shared() + layout.input, job.input, job.input_bytes);

  Reply reply;
  Outcome outcome = impl.ask(request, &reply);
  if (outcome.kind != Outcome::Kind::returned) return outcome;
  outcome.work = {reply.launches,      reply.by_graphs,       reply.launch_hash,  text_of(reply.launched),
                  reply.bytes_to_host, reply.used_after != 0, reply.atomics != 0, text_of(reply.remark)};
  const Arguments& known = arguments_of(impl.variants[static_cast<size_t>(job.variant)].op);
  for (int i = 0; i < buffer_count; i++) {
    const unsigned char* raw = impl.worker.shared() + layout.raw[i];
    const unsigned char* data = raw + guard_bytes;
    check_guards(raw, request.data_bytes[i], known.buffers[i] ? known.buffers[i] : "a buffer", outcome.damage);
    if (i > 0 && i < workspace_buffer) outcome.output[i - 1].assign(data, data + request.data_bytes[i]);
  }
  const auto* before = static_cast<const unsigned char*>(job.input);
  const unsigned char* now = impl.worker.shared() + layout.raw[0] + guard_bytes;
  if (job.input_bytes && memcmp(before, now, job.input_bytes) != 0) {
    size_t element_bytes = static_cast<size_t>(bytes_of(impl.variants[static_cast<size_t>(job.variant)].dtype));
    size_t i = 0;
    while (i + 1 < job.input_bytes && before[i] == now[i]) i++;
    outcome.damage.push_back("changed its input, first at element " + std::to_string(i / element_bytes));
  }
  outcome.seconds.resize(static_cast<size_t>(job.launches));
  memcpy(outcome.seconds.data(), impl.worker.shared() + layout.seconds, outcome.seconds.size() * sizeof(double));
  if (reply.count > 0 && static_cast<size_t>(reply.count) <= layout.counters_bytes) {
    outcome.counters.assign(reinterpret_cast<const char*>(impl.worker.shared()) + layout.counters,
                            static_cast<size_t>(reply.count));
  }
  for (double& s : outcome.seconds) {
    if (!(s >= 0 && s <= job.time_limit)) s = job.time_limit;  // an impossible time must not pass for a fast one
  }
  return outcome;
}

Outcome Client::Impl::ask_timed(Request::Kind kind, const TimedSets& sets, int picks) {
  constexpr double limit = 20;
  if (!is_ready(sets.variant)) return lost(Outcome::Kind::no_worker, problem);
  Request request = request_of(kind, sets.variant, sets.sizes, limit);
  request.sets = sets.sets;
  request.seed = sets.seed;
  request.memory = sets.memory;
  request.picks = picks;
  Reply reply;
  return ask(request, &reply);
}

Outcome Client::prepare(const TimedSets& sets) { return impl_->ask_timed(Request::prepare, sets); }
Outcome Client::launch(const TimedSets& sets) { return impl_->ask_timed(Request::launch, sets); }

Outcome Client::fetch(const TimedSets& sets, const std::vector<Pick>& picks, std::vector<unsigned char>* rows) {
  Impl& impl = *impl_;
  Plan plan;
  const VariantInfo& variant = impl.variants.at(static_cast<size_t>(sets.variant));
  if (!arguments_of(variant.op).plan(sets.sizes, variant.dtype, &plan) || picks.size() > max_picks)
    throw std::invalid_argument("Client::fetch: sizes or picks");
  const size_t begin = picked_rows(picks.size()), end = fetched_bytes(plan, picks.size());
  if (!impl.worker.grow(end)) return impl.lost(Outcome::Kind::no_worker, "no memory for the picked rows");
  memcpy(impl.worker.shared(), picks.data(), picks.size() * sizeof(Pick));
  memset(impl.worker.shared() + begin, poison, end - begin);
  Outcome outcome = impl.ask_timed(Request::fetch, sets, static_cast<int>(picks.size()));
  rows->assign(impl.worker.shared() + begin, impl.worker.shared() + end);
  return outcome;
}

}  // namespace rung
