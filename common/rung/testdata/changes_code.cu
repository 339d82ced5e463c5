// Variants that try what the worker has sealed (sealed_code.h): to change code, to start processes, to reach the
// process with the device. Each has a kernel write to y[0] 0 if it managed, else the error number.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "rung.h"

constexpr size_t page = 4096;

// The page that holds a function of the executor.
char* code() { return reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(&cudaGetErrorName) & ~(page - 1)); }

__global__ void store(float* y, float value) { *y = value; }

template <int (*attempt)()>
cudaError_t tried(const float*, float* y, int, int, cudaStream_t) {
  errno = 0;
  const bool managed = attempt() == 0;
  store<<<1, 1>>>(y, managed ? 0.0f : static_cast<float>(errno));
  return cudaSuccess;
}

int made_writable() { return mprotect(code(), page, PROT_READ | PROT_WRITE | PROT_EXEC); }

int made_code_of_data() {
  void* p = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return mprotect(p, page, PROT_READ | PROT_EXEC);
}

int mapped_writable_code() {
  const int all = PROT_READ | PROT_WRITE | PROT_EXEC;
  return mmap(nullptr, page, all, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED;
}

int laid_memory_over() {
  return mmap(code(), page, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED;
}

int moved_over() {
  void* p = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return mremap(p, page, page, MREMAP_MAYMOVE | MREMAP_FIXED, code()) == MAP_FAILED;
}

int laid_much_over() {
  return mmap(code() - (size_t{9} << 30), size_t{10} << 30, PROT_NONE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == MAP_FAILED;
}

int made_a_file_of_memory() { return memfd_create("code", 0) < 0; }

// Where the worker was told that the rung is graded:
int opened_its_memory() { return open("/proc/self/mem", O_RDWR) < 0; }

int forked() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  return child < 0;
}

int opened_a_socket() { return socket(AF_UNIX, SOCK_STREAM, 0) < 0; }

int signalled_the_device() { return kill(getppid(), SIGUSR1); }

int read_the_device() {
  char byte;
  const iovec here = {&byte, 1}, there = {code(), 1};
  return process_vm_readv(getppid(), &here, 1, &there, 1, 0) < 0;
}

int opened_the_memory_of_the_device() {
  return open(("/proc/" + std::to_string(getppid()) + "/mem").c_str(), O_RDONLY) < 0;
}

RUNG_EXPORT(rung::softmax("made_writable", tried<made_writable>),
            rung::softmax("made_code_of_data", tried<made_code_of_data>),
            rung::softmax("mapped_writable_code", tried<mapped_writable_code>),
            rung::softmax("laid_memory_over", tried<laid_memory_over>), rung::softmax("moved_over", tried<moved_over>),
            rung::softmax("laid_much_over", tried<laid_much_over>),
            rung::softmax("made_a_file_of_memory", tried<made_a_file_of_memory>),
            rung::softmax("opened_its_memory", tried<opened_its_memory>), rung::softmax("forked", tried<forked>),
            rung::softmax("opened_a_socket", tried<opened_a_socket>),
            rung::softmax("signalled_the_device", tried<signalled_the_device>),
            rung::softmax("read_the_device", tried<read_the_device>),
            rung::softmax("opened_the_memory_of_the_device", tried<opened_the_memory_of_the_device>))
