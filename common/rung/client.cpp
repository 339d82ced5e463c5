// Client: starts the worker, asks, waits, and checks every byte of the answer. See protocol.h for the conversation.
#include "client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <stdexcept>
#include <utility>

#include "protocol.h"
#include "simt.h"

namespace rung {
namespace {

using Clock = std::chrono::steady_clock;

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
  enum class Received { message, nothing_in_time, ended };

  std::string worker, rung, problem;
  std::vector<VariantInfo> variants;
  std::vector<PredictionInfo> predictions;
  bool loaded_once = false;
  pid_t child = -1;
  int control = -1;  // our end of the socket
  int memory = -1;   // the memfd, sealed against shrinking: the worker must not be able to cut it short under our feet
  unsigned char* shared = nullptr;
  size_t shared_size = 0;
  std::mt19937_64 job_numbers{std::random_device{}()};

  ~Impl() {
    stop();
    if (shared) munmap(shared, shared_size);
    if (memory >= 0) close(memory);
  }

  bool start();
  bool load();
  bool grow(size_t size);
  Received receive(void* message, size_t size, ssize_t* got, Clock::time_point deadline);
  std::string stop();
  Outcome lost(Outcome::Kind kind, const std::string& message);
  Outcome failed(const Reply& reply);
  Outcome ended(const char* when);
  Outcome late(const char* when, double limit, uint64_t job);
  bool last_words(Reply& reply, uint64_t job);
};

// Ends the worker if it runs and reaps it. Returns how it ended, in words.
std::string Client::Impl::stop() {
  if (control >= 0) close(control);
  control = -1;
  if (child < 0) return "";
  // A process that ends by itself gets a moment for it, so that its status is its own; then it is killed, with all that
  // it may have started. Reaped last: until then its number cannot become another process's.
  siginfo_t info{};
  for (int i = 0; i < 100 && info.si_pid == 0; i++) {
    if (i) usleep(1000);
    waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT);
  }
  const bool ended_by_itself = info.si_pid != 0;
  kill(-child, SIGKILL);
  kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  child = -1;
  if (!ended_by_itself) return "it closed its connection and was killed";
  if (WIFSIGNALED(status)) return std::string("killed by a signal: ") + strsignal(WTERMSIG(status));
  // A sandbox around the worker, like a shell, tells a signal by a status above 128.
  if (const int signal = WEXITSTATUS(status) - 128; signal > 0 && signal < NSIG) {
    return std::string("killed by a signal: ") + strsignal(signal);
  }
  return "the process ended with exit status " + std::to_string(WEXITSTATUS(status));
}

bool Client::Impl::grow(size_t size) {
  if (memory < 0) {
    memory = memfd_create("rung", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (memory < 0) return false;
    fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK);
  }
  if (size <= shared_size) return true;
  if (shared) munmap(shared, shared_size);
  shared = nullptr;
  shared_size = 0;
  if (ftruncate(memory, static_cast<off_t>(size)) != 0) return false;
  void* p = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  if (p == MAP_FAILED) return false;
  shared = static_cast<unsigned char*>(p);
  shared_size = size;
  return true;
}

// Starts the process. Sets problem if that fails.
bool Client::Impl::start() {
  if (access(worker.c_str(), X_OK) != 0) {
    problem = "cannot run the worker " + worker + ": " + strerror(errno);
    return false;
  }
  if (access(rung.c_str(), R_OK) != 0) {
    problem = "cannot read " + rung + ": " + strerror(errno);
    return false;
  }
  int ends[2];
  if (!grow(4096) || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    problem = std::string("cannot set up the worker's connection: ") + strerror(errno);
    return false;
  }
  const char* argv[] = {worker.c_str(), rung.c_str(), nullptr};
  const pid_t parent = getpid();
  child = fork();
  if (child == 0) {
    // Only async-signal-safe calls from here on.
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    const rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    // Out of the way of the numbers that they will get.
    int control_high = fcntl(ends[1], F_DUPFD, 10), memory_high = fcntl(memory, F_DUPFD, 10);
    int null = open("/dev/null", O_RDONLY);
    dup2(null, STDIN_FILENO);
    dup2(control_high, control_descriptor);
    dup2(memory_high, memory_descriptor);
#ifdef SYS_close_range
    syscall(SYS_close_range, memory_descriptor + 1, ~0u, 0);
#endif
    close(control_high);
    close(memory_high);
    execv(argv[0], const_cast<char**>(argv));
    _exit(127);
  }
  const int fork_error = errno;
  if (child > 0) setpgid(child, child);  // in both processes: whoever comes first
  close(ends[1]);
  control = ends[0];
  if (child < 0) {
    problem = std::string("cannot start the worker: ") + strerror(fork_error);
    stop();
    return false;
  }
  return true;
}

Client::Impl::Received Client::Impl::receive(void* message, size_t size, ssize_t* got, Clock::time_point deadline) {
  for (;;) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count() + 1;
    pollfd wait = {control, POLLIN, 0};
    int ready = poll(&wait, 1, left <= 0 ? 0 : static_cast<int>(std::min<long long>(left, 1 << 30)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return Received::nothing_in_time;
    // MSG_TRUNC: the true length of the message, also when it is longer than our buffer.
    *got = recv(control, message, size, MSG_TRUNC);
    if (*got < 0 && errno == EINTR) continue;
    return *got <= 0 ? Received::ended : Received::message;
  }
}

Outcome Client::Impl::lost(Outcome::Kind kind, const std::string& message) {
  Outcome outcome;
  outcome.kind = kind;
  outcome.message = message;
  return outcome;
}

// The worker has said what went wrong and ends.
Outcome Client::Impl::failed(const Reply& reply) {
  Outcome outcome = lost(Outcome::Kind::crashed, text_of(reply.message));
  outcome.error = reply.error;
  outcome.error_name = text_of(reply.error_name);
  outcome.file = text_of(reply.file);
  outcome.line = reply.line;
  std::string module = text_of(reply.module);
  if (outcome.file.empty() && !module.empty()) {
    char file[512] = "";
    outcome.line = simt::source_line(module.c_str(), reply.offset, file, sizeof file);
    outcome.file = file;
  }
  if (outcome.file.empty() || outcome.line < 0) outcome.line = 0;
  stop();
  return outcome;
}

Outcome Client::Impl::ended(const char* when) { return lost(Outcome::Kind::crashed, stop() + " " + when); }

// A worker that is late knows it and says where it is: it keeps the time itself, because a signal from here would not
// reach it through a sandbox. True if a well-formed answer came.
bool Client::Impl::last_words(Reply& reply, uint64_t job) {
  ssize_t got = 0;
  return receive(&reply, sizeof reply, &got, after(last_words_limit)) == Received::message && got == sizeof reply &&
         reply.magic == reply_magic && reply.kind == Reply::failed && reply.job == job;
}

Outcome Client::Impl::late(const char* when, double limit, uint64_t job) {
  Reply reply;
  Outcome outcome;
  if (last_words(reply, job)) {
    kill(-child, SIGKILL);
    outcome = failed(reply);
  } else {
    kill(-child, SIGKILL);
    stop();
  }
  outcome.kind = Outcome::Kind::timed_out;
  // The first line of the last words is "timeout"; where it was follows.
  const size_t where = std::min(outcome.message.find('\n'), outcome.message.size());
  outcome.message = "not finished after " + seconds_text(limit) + when + outcome.message.substr(where);
  return outcome;
}

// Starts the worker and receives its table. Sets problem if that fails.
bool Client::Impl::load() {
  if (!start()) return false;
  auto fail = [&](const std::string& why) {
    problem = "cannot load " + rung + ": " + why;
    return false;
  };
  const auto deadline = after(load_limit * patience());
  const char* when = "while the rung was being loaded";
  Reply reply;
  ssize_t got = 0;
  switch (receive(&reply, sizeof reply, &got, deadline)) {
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
    good = receive(&entry, sizeof entry, &got, deadline) == Received::message && got == sizeof entry &&
           entry.magic == reply_magic && entry.op >= 0 && entry.op <= static_cast<int>(Op::softmax_topk) &&
           entry.dtype >= 0 && entry.dtype <= static_cast<int>(Dtype::bf16);
    if (good) table.push_back({text_of(entry.name), static_cast<Op>(entry.op), static_cast<Dtype>(entry.dtype)});
  }
  std::vector<PredictionInfo> predicted;
  for (int i = 0; good && i < reply.predictions; i++) {
    PredictionEntry entry;
    good = receive(&entry, sizeof entry, &got, deadline) == Received::message && got == sizeof entry &&
           entry.magic == reply_magic && entry.name[0];
    if (good) predicted.push_back({text_of(entry.name), entry.value});
  }
  if (!good) {
    kill(-child, SIGKILL);
    stop();
    return fail("it wrote to the worker's own connection");
  }
  if (loaded_once && table.size() != variants.size()) {
    stop();
    return fail("its table of variants has changed");
  }
  if (!loaded_once) predictions = predicted;  // what was predicted first stays
  variants = table;
  loaded_once = true;
  return true;
}

Client::Client(std::string worker, std::string rung) : impl_(new Impl) {
  impl_->worker = std::move(worker);
  impl_->rung = std::move(rung);
  impl_->load();
}

Client::~Client() = default;

const std::vector<VariantInfo>& Client::variants() { return impl_->variants; }
const std::string& Client::problem() const { return impl_->problem; }
const std::vector<PredictionInfo>& Client::predictions() const { return impl_->predictions; }

Outcome Client::run(const Job& job) {
  Impl& impl = *impl_;
  if (impl.loaded_once && (job.variant < 0 || static_cast<size_t>(job.variant) >= impl.variants.size())) {
    throw std::invalid_argument("Client::run: there is no variant " + std::to_string(job.variant));
  }
  if (job.launches < 1 || job.launches > max_launches) throw std::invalid_argument("Client::run: launches");
  const Job::Rotation rotation = job.rotation;
  if (rotation.calls != 0 && (rotation.calls < 1 || rotation.calls > max_calls || rotation.sets < 1 ||
                              rotation.sets > max_sets || rotation.sets > rotation.calls)) {
    throw std::invalid_argument("Client::run: rotation");
  }
  if (impl.child < 0 && !impl.load()) return impl.lost(Outcome::Kind::no_worker, impl.problem);

  Request request{};
  request.magic = request_magic;
  request.job = impl.job_numbers() | 1;
  request.variant = job.variant;
  request.rows = job.rows;
  request.cols = job.cols;
  request.k = job.k;
  request.launches = job.launches;
  request.calls = rotation.calls;
  request.sets = rotation.calls ? rotation.sets : 1;
  request.count = job.count;
  request.time_limit = job.time_limit;
  if (job.null_argument != Job::Null::none) request.null_arguments = 1u << (static_cast<int>(job.null_argument) - 1);
  request.data_bytes[0] = job.input_bytes;
  request.data_bytes[1] = job.output_bytes[0];
  request.data_bytes[2] = job.output_bytes[1];
  const Layout layout = layout_of(request);
  if (!impl.grow(layout.total)) {
    return impl.lost(Outcome::Kind::no_worker, "no memory for a job of " + std::to_string(layout.total) + " bytes");
  }
  if (job.input_bytes) memcpy(impl.shared + layout.input, job.input, job.input_bytes);

  const char* when = "in the middle of a call";
  Reply reply;
  ssize_t got = 0;
  if (send(impl.control, &request, sizeof request, MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof request)) {
    return impl.ended("after its last call");
  }
  switch (impl.receive(&reply, sizeof reply, &got, after(job.time_limit * patience()))) {
    case Impl::Received::ended: return impl.ended(when);
    case Impl::Received::nothing_in_time: return impl.late("", job.time_limit, request.job);
    case Impl::Received::message: break;
  }
  const bool whole = got == sizeof reply && reply.magic == reply_magic && reply.job == request.job;
  if (whole && reply.kind == Reply::failed) return impl.failed(reply);
  if (!whole || reply.kind != Reply::returned) {
    kill(-impl.child, SIGKILL);
    impl.stop();
    return impl.lost(Outcome::Kind::crashed,
                     "it wrote " + std::to_string(got) + " bytes to the worker's own connection (file descriptor 3)");
  }

  Outcome outcome;
  outcome.kind = Outcome::Kind::returned;
  outcome.error = reply.error;
  outcome.error_name = text_of(reply.error_name);
  const char* softmax_names[] = {"the input", "the output", ""};
  const char* topk_names[] = {"the input", "the indices", "the probabilities"};
  const bool softmax = impl.variants[static_cast<size_t>(job.variant)].op == Op::softmax;
  for (int i = 0; i < buffer_count; i++) {
    const unsigned char* raw = impl.shared + layout.raw[i];
    const unsigned char* data = raw + guard_bytes;
    check_guards(raw, request.data_bytes[i], softmax ? softmax_names[i] : topk_names[i], outcome.damage);
    if (i > 0) outcome.output[i - 1].assign(data, data + request.data_bytes[i]);
  }
  const auto* before = static_cast<const unsigned char*>(job.input);
  const unsigned char* now = impl.shared + layout.raw[0] + guard_bytes;
  if (job.input_bytes && memcmp(before, now, job.input_bytes) != 0) {
    size_t element_bytes = static_cast<size_t>(bytes_of(impl.variants[static_cast<size_t>(job.variant)].dtype));
    size_t i = 0;
    while (i + 1 < job.input_bytes && before[i] == now[i]) i++;
    outcome.damage.push_back("changed its input, first at element " + std::to_string(i / element_bytes));
  }
  outcome.seconds.resize(static_cast<size_t>(job.launches));
  memcpy(outcome.seconds.data(), impl.shared + layout.seconds, outcome.seconds.size() * sizeof(double));
  if (reply.count > 0 && static_cast<size_t>(reply.count) <= layout.counters_bytes) {
    outcome.counters.assign(reinterpret_cast<const char*>(impl.shared) + layout.counters,
                            static_cast<size_t>(reply.count));
  }
  for (double& s : outcome.seconds) {
    if (!(s >= 0 && s <= job.time_limit)) s = job.time_limit;  // an impossible time must not pass for a fast one
  }
  return outcome;
}

}  // namespace rung
