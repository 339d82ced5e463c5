// Variants that try to change the code of the process, which the worker has sealed (sealed_code.h). Each writes to y[0]
// 0 if it managed, else the error number.
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "rung.h"

constexpr size_t page = 4096;

// The page that holds a function of the executor.
char* code() { return reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(&cudaGetErrorName) & ~(page - 1)); }

template <int (*attempt)()>
cudaError_t tried(const float*, float* y, int, int, cudaStream_t) {
  errno = 0;
  y[0] = attempt() == 0 ? 0.0f : static_cast<float>(errno);
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

int laid_a_file_over() {  // 4: the memory that is shared
  return mmap(code(), page, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, 4, 0) == MAP_FAILED;
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

int opened_its_memory() {  // where the worker was told that the rung is graded
  return open("/proc/self/mem", O_RDWR) < 0;
}

RUNG_EXPORT(rung::softmax("made_writable", tried<made_writable>),
            rung::softmax("made_code_of_data", tried<made_code_of_data>),
            rung::softmax("mapped_writable_code", tried<mapped_writable_code>),
            rung::softmax("laid_a_file_over", tried<laid_a_file_over>), rung::softmax("moved_over", tried<moved_over>),
            rung::softmax("laid_much_over", tried<laid_much_over>),
            rung::softmax("made_a_file_of_memory", tried<made_a_file_of_memory>),
            rung::softmax("opened_its_memory", tried<opened_its_memory>))
