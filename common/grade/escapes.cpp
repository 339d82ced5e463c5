// Attempts to get out of the sandbox, one by name; started inside of it by doctor.py.
//
//     escapes NAME [argument ...]
//
// Its lines: "began NAME" before it tries anything; "managed WHAT" for each thing that it managed. It ends with status
// 1 if it managed something, with 2 and a line on stderr if it could not try, else with 0.
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

bool escaped = false;

// At once: who tries may be ended at any moment.
void say(const std::string& line) {
  printf("%s\n", line.c_str());
  fflush(stdout);
}

void managed(const std::string& what) {
  escaped = true;
  say("managed " + what);
}

// A sandbox that does not let an attempt begin has not withstood it.
[[noreturn]] void not_tried(const std::string& why) {
  fprintf(stderr, "escapes: %s\n", why.c_str());
  _exit(2);
}

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> entries(const std::string& path) {
  std::vector<std::string> names;
  DIR* folder = opendir(path.c_str());
  if (!folder) return names;
  while (const dirent* entry = readdir(folder)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  closedir(folder);
  return names;
}

bool is_number(const std::string& text) { return text.find_first_not_of("0123456789") == std::string::npos; }

// A process that goes on with this attempt: 0 in it, its number in the one that called.
pid_t another_process() {
  const pid_t child = fork();
  if (child < 0) not_tried(std::string("no process can be started: ") + strerror(errno));
  return child;
}

// arguments: a port on which this machine listens, an abstract socket on which it listens.
void network(const std::vector<std::string>& arguments) {
  const auto try_tcp = [](const char* address, int port) {
    const int s = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    sockaddr_in to = {};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(port));
    inet_pton(AF_INET, address, &to.sin_addr);
    bool connected = connect(s, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
    if (!connected && errno == EINPROGRESS) {
      pollfd wait = {s, POLLOUT, 0};
      int error = 0;
      socklen_t size = sizeof error;
      const bool answered = poll(&wait, 1, 500) > 0 && getsockopt(s, SOL_SOCKET, SO_ERROR, &error, &size) == 0;
      connected = !answered || error == 0;  // no answer: packets leave
    }
    if (connected) managed(std::string("made a connection to ") + address);
    close(s);
  };
  try_tcp("127.0.0.1", atoi(arguments[0].c_str()));
  try_tcp("192.0.2.1", 80);
  const int s = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un to = {};
  to.sun_family = AF_UNIX;
  memcpy(to.sun_path + 1, arguments[1].c_str(), arguments[1].size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + arguments[1].size());
  if (connect(s, reinterpret_cast<sockaddr*>(&to), size) == 0) managed("reached an abstract socket of this machine");
}

// arguments: files and folders of this machine.
void read_files(const std::vector<std::string>& arguments) {
  for (const std::string& path : arguments) {
    const int file = open(path.c_str(), O_RDONLY);
    if (file >= 0) managed("opened " + path);
  }
}

void write_files(const std::vector<std::string>&) {
  for (const char* folder : {"/", "/course", "/rung", "/usr", "/usr/bin", "/dev", "/dev/shm", "/dev/mqueue",
                             "/proc/sys/kernel", "/run", "/var/tmp"}) {
    const std::string path = std::string(folder) + "/ladder-doctor";
    if (open(path.c_str(), O_WRONLY | O_CREAT, 0600) >= 0) managed("made " + path);
  }
  for (const char* path : {"/worker", "/usr/bin/prlimit", "/proc/sys/kernel/core_pattern",
                           "/proc/sys/vm/overcommit_memory", "/proc/sysrq-trigger"}) {
    if (open(path, O_WRONLY) >= 0) managed(std::string("opened for writing: ") + path);
  }
}

// argument: the number of a process outside.
void processes(const std::vector<std::string>& arguments) {
  const pid_t outside = atoi(arguments[0].c_str());
  if (kill(outside, 0) == 0) managed("can send signals to a process outside");
  if (ptrace(PTRACE_ATTACH, outside, nullptr, nullptr) == 0) managed("attached to a process outside");
  if (access(("/proc/" + arguments[0] + "/status").c_str(), F_OK) == 0) managed("sees a process outside in /proc");
  size_t seen = 0;
  for (const std::string& name : entries("/proc")) seen += is_number(name);
  if (seen > 4) managed("sees " + std::to_string(seen) + " processes");
  kill(outside, SIGKILL);
  kill(-1, SIGKILL);
}

void environment(const std::vector<std::string>& arguments) {
  std::string all;
  for (const std::string& name : entries("/proc")) {
    if (is_number(name)) all += content("/proc/" + name + "/environ") + content("/proc/" + name + "/cmdline");
  }
  const std::string mark(arguments[0].rbegin(), arguments[0].rend());  // backwards, or it would find its own argument
  if (all.find(mark) != std::string::npos) managed("found the judge's environment");
  for (char** entry = environ; *entry; entry++) {
    const std::string name(*entry, strcspn(*entry, "="));
    if (name != "PATH" && name != "LC_ALL" && name != "PWD") managed("has the variable " + name);
  }
}

void descriptors(const std::vector<std::string>&) {
  for (const std::string& name : entries("/proc/self/fd")) {
    const int number = atoi(name.c_str());
    char target[256] = "";
    if (readlink(("/proc/self/fd/" + name).c_str(), target, sizeof target - 1) < 0) continue;
    const std::string to = target;
    if (number > 2 && to.find("/proc/") != 0) managed("has descriptor " + name + ", " + to);
    if (number <= 2 && to.find("pipe:") != 0 && to != "/dev/null") managed("descriptor " + name + " is " + to);
  }
  if (open("/dev/tty", O_RDWR) >= 0) managed("has a terminal");
}

void privileges(const std::vector<std::string>&) {
  if (setuid(0) == 0 && geteuid() == 0 && getuid() != 0) managed("became root");
  if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) managed("a setuid program would get its rights");
  std::istringstream status(content("/proc/self/status"));
  for (std::string line; std::getline(status, line);) {
    const bool capabilities =
        line.rfind("CapEff:", 0) == 0 || line.rfind("CapPrm:", 0) == 0 || line.rfind("CapBnd:", 0) == 0;
    if (capabilities && line.find_first_not_of("0", line.find('\t') + 1) != std::string::npos &&
        line.rfind("CapBnd:", 0) != 0) {
      managed("has " + line);
    }
  }
  if (mount("none", "/proc", "tmpfs", 0, nullptr) == 0) managed("mounted a file system");
  if (unshare(CLONE_NEWUSER) == 0) managed("made a user namespace of its own");
  if (chroot("/usr") == 0) managed("changed its root");
}

void devices(const std::vector<std::string>&) {
  if (mknod("/dev/ladder", S_IFBLK | 0600, makedev(8, 0)) == 0 ||
      mknod("/tmp/ladder", S_IFCHR | 0600, makedev(1, 1)) == 0) {
    managed("made a device");
  }
  const std::string allowed = " null zero full random urandom tty console core fd stdin stdout stderr ptmx pts shm ";
  for (const std::string& name : entries("/dev")) {
    if (allowed.find(" " + name + " ") == std::string::npos) managed("has the device /dev/" + name);
  }
}

// argument: the key of a shared memory segment outside.
void shared_memory(const std::vector<std::string>& arguments) {
  if (shmget(static_cast<key_t>(atol(arguments[0].c_str())), 1, 0) >= 0)
    managed("reached shared memory of this machine");
}

// argument: how many processes there may be.
void fork_bomb(const std::vector<std::string>& arguments) {
  const int most = atoi(arguments[0].c_str());
  int made = 0;
  while (made < most + 1000) {
    const pid_t child = fork();
    if (child < 0) break;
    if (child == 0) {
      for (;;) pause();
    }
    made++;
  }
  if (made == 0) not_tried(std::string("no process can be started: ") + strerror(errno));
  if (made > most) managed("has " + std::to_string(made) + " processes");
}

// argument: MiB that may be written.
void disk_flood(const std::vector<std::string>& arguments) {
  signal(SIGXFSZ, SIG_IGN);
  std::vector<char> block(1 << 20, 'x');
  long written = 0;
  for (int number = 0; number < 100000; number++) {
    const int file = open(("/tmp/" + std::to_string(number)).c_str(), O_WRONLY | O_CREAT, 0600);
    if (file < 0) break;
    long here = 0;
    for (ssize_t got; (got = write(file, block.data(), block.size())) > 0;) here += got;
    close(file);
    written += here;
    if (here == 0 || written >> 20 > atol(arguments[0].c_str()) + 100) break;
  }
  if (written == 0) not_tried(std::string("nothing can be written to /tmp: ") + strerror(errno));
  if (written >> 20 > atol(arguments[0].c_str())) managed("wrote " + std::to_string(written >> 20) + " MiB");
}

// argument: MiB that may be used.
void memory_bomb(const std::vector<std::string>& arguments) {
  for (int process = 0; process < 3; process++) {
    if (another_process() == 0) break;
  }
  for (long mib = 0; mib < 2 * atol(arguments[0].c_str()); mib += 16) {
    void* p = mmap(nullptr, 16 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) break;
    memset(p, 1, 16 << 20);
  }
  for (;;) pause();  // whoever ends this ends all of it
}

void daemon_process(const std::vector<std::string>&) {
  const pid_t child = another_process();
  if (child == 0) {
    setsid();
    if (another_process() == 0) {
      signal(SIGTERM, SIG_IGN);
      signal(SIGHUP, SIG_IGN);
      for (;;) pause();
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) _exit(2);  // it has said why
}

void output_flood(const std::vector<std::string>&) {
  const std::string line(4096, 'x');
  for (;;) {
    if (write(STDOUT_FILENO, line.data(), line.size()) < 0 && errno != EAGAIN) break;
  }
}

void sleeper(const std::vector<std::string>&) {
  for (int s = 1; s < 32; s++) signal(s, SIG_IGN);
  for (;;) pause();
}

void spinner(const std::vector<std::string>&) {
  for (volatile unsigned i = 0;; i = i + 1) continue;
}

const struct {
  const char* name;
  void (*attempt)(const std::vector<std::string>&);
} attempts[] = {
    {"network", network},       {"read", read_files},           {"write", write_files},
    {"processes", processes},   {"environment", environment},   {"descriptors", descriptors},
    {"privileges", privileges}, {"devices", devices},           {"shared_memory", shared_memory},
    {"fork_bomb", fork_bomb},   {"disk_flood", disk_flood},     {"memory_bomb", memory_bomb},
    {"daemon", daemon_process}, {"output_flood", output_flood}, {"sleeper", sleeper},
    {"spinner", spinner},
};

}  // namespace

int main(int argc, char** argv) {
  // Outside of a sandbox some of this would do harm.
  char name[64] = "";
  gethostname(name, sizeof name - 1);
  if (strcmp(name, "sandbox") != 0) {
    not_tried("this is started by make check-doctor, in a sandbox, and the host name here is \"" + std::string(name) +
              "\"");
  }
  for (const auto& [name, attempt] : attempts) {
    if (argc < 2 || strcmp(argv[1], name) != 0) continue;
    say(std::string("began ") + argv[1]);
    attempt(std::vector<std::string>(argv + 2, argv + argc));
    _exit(escaped ? 1 : 0);
  }
  not_tried("which attempt?");
}
