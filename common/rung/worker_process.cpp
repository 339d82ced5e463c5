#include "worker_process.h"

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
#include <cstring>
#include <utility>

#include "protocol.h"

namespace rung {

WorkerProcess::WorkerProcess(std::string worker, std::string rung)
    : worker_(std::move(worker)), rung_(std::move(rung)) {}

WorkerProcess::~WorkerProcess() {
  stop();
  if (shared_) munmap(shared_, shared_size_);
  if (memory_ >= 0) close(memory_);
}

void WorkerProcess::kill() {
  if (child_ >= 0) ::kill(-child_, SIGKILL);
}

std::string WorkerProcess::stop() {
  if (control_ >= 0) close(control_);
  control_ = -1;
  if (child_ < 0) return "";
  // A process that ends by itself gets a moment for it, so that its status is its own; then it is killed, with all that
  // it may have started. Reaped last: until then its number cannot become another process's.
  siginfo_t info{};
  for (int i = 0; i < 100 && info.si_pid == 0; i++) {
    if (i) usleep(1000);
    waitid(P_PID, static_cast<id_t>(child_), &info, WEXITED | WNOHANG | WNOWAIT);
  }
  const bool ended_by_itself = info.si_pid != 0;
  ::kill(-child_, SIGKILL);
  ::kill(child_, SIGKILL);
  int status = 0;
  while (waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
  child_ = -1;
  if (!ended_by_itself) return "it closed its connection and was killed";
  if (WIFSIGNALED(status)) return std::string("killed by a signal: ") + strsignal(WTERMSIG(status));
  // A sandbox around the worker, like a shell, tells a signal by a status above 128.
  if (const int signal = WEXITSTATUS(status) - 128; signal > 0 && signal < NSIG) {
    return std::string("killed by a signal: ") + strsignal(signal);
  }
  return "the process ended with exit status " + std::to_string(WEXITSTATUS(status));
}

bool WorkerProcess::grow(size_t bytes) {
  if (memory_ < 0) {
    memory_ = memfd_create("rung", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (memory_ < 0) return false;
    fcntl(memory_, F_ADD_SEALS, F_SEAL_SHRINK);
  }
  if (bytes <= shared_size_) return true;
  if (shared_) munmap(shared_, shared_size_);
  shared_ = nullptr;
  shared_size_ = 0;
  if (ftruncate(memory_, static_cast<off_t>(bytes)) != 0) return false;
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory_, 0);
  if (p == MAP_FAILED) return false;
  shared_ = static_cast<unsigned char*>(p);
  shared_size_ = bytes;
  return true;
}

std::string WorkerProcess::start() {
  if (access(worker_.c_str(), X_OK) != 0) return "cannot run the worker " + worker_ + ": " + strerror(errno);
  if (access(rung_.c_str(), R_OK) != 0) return "cannot read " + rung_ + ": " + strerror(errno);
  int ends[2];
  if (!grow(4096) || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return std::string("cannot set up the worker's connection: ") + strerror(errno);
  }
  const char* argv[] = {worker_.c_str(), rung_.c_str(), nullptr};
  const pid_t parent = getpid();
  child_ = fork();
  if (child_ == 0) {
    // Only async-signal-safe calls from here on.
    setpgid(0, 0);
    sigset_t none;  // what the caller blocks is no concern of a rung's
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    const rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    // Out of the way of the numbers that they will get.
    int control_high = fcntl(ends[1], F_DUPFD, 10), memory_high = fcntl(memory_, F_DUPFD, 10);
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
  if (child_ > 0) setpgid(child_, child_);  // in both processes: whoever comes first
  close(ends[1]);
  control_ = ends[0];
  if (child_ < 0) {
    stop();
    return std::string("cannot start the worker: ") + strerror(fork_error);
  }
  return "";
}

bool WorkerProcess::send(const void* message, size_t size) {
  return ::send(control_, message, size, MSG_NOSIGNAL) == static_cast<ssize_t>(size);
}

WorkerProcess::Received WorkerProcess::receive(void* message, size_t size, ssize_t* got, Clock::time_point deadline) {
  for (;;) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count() + 1;
    pollfd wait = {control_, POLLIN, 0};
    int ready = poll(&wait, 1, left <= 0 ? 0 : static_cast<int>(std::min<long long>(left, 1 << 30)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return Received::nothing_in_time;
    // MSG_TRUNC: the true length of the message, also when it is longer than our buffer.
    *got = recv(control_, message, size, MSG_TRUNC);
    if (*got < 0 && errno == EINTR) continue;
    return *got <= 0 ? Received::ended : Received::message;
  }
}

}  // namespace rung
