// Other forms of the functions in runtime_api.h: asynchronous, typed, with flags.
#pragma once

namespace simt {
// Of a pointer to constants, too, as with CUDA's cast.
template <typename T>
void** untyped(T** pointer) {
  return reinterpret_cast<void**>(const_cast<std::remove_cv_t<T>**>(pointer));
}
}  // namespace simt

template <typename T>
cudaError_t cudaMalloc(T** pointer, size_t bytes) {
  return cudaMalloc(simt::untyped(pointer), bytes);
}
template <typename T>
cudaError_t cudaMallocHost(T** pointer, size_t bytes, unsigned flags = 0) {
  return cudaMallocHost(simt::untyped(pointer), bytes, flags);
}
constexpr unsigned cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2,
                   cudaHostAllocWriteCombined = 4;
constexpr unsigned cudaHostRegisterDefault = 0, cudaHostRegisterPortable = 1, cudaHostRegisterMapped = 2,
                   cudaHostRegisterIoMemory = 4, cudaHostRegisterReadOnly = 8;
constexpr unsigned cudaMemAttachGlobal = 1, cudaMemAttachHost = 2, cudaMemAttachSingle = 4;
constexpr int cudaCpuDeviceId = -1, cudaInvalidDeviceId = -2;

// Host and device share their memory.
template <typename T>
cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned) {
  *device = static_cast<T*>(host);
  return cudaSuccess;
}
inline cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void*, size_t = 0, unsigned = cudaMemAttachSingle) {
  return cudaSuccess;
}
template <typename T>
cudaError_t cudaMallocPitch(T** pointer, size_t* pitch, size_t width_bytes, size_t height) {
  return cudaMallocPitch(simt::untyped(pointer), pitch, width_bytes, height);
}
inline cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width_bytes,
                                     size_t height, cudaMemcpyKind kind, cudaStream_t stream = nullptr) {
  const auto copy = [=] { return cudaMemcpy2D(to, to_pitch, from, from_pitch, width_bytes, height, kind); };
  return simt::after_copy(stream, to, from, simt::do_or_capture(stream, copy, cudaGraphNodeTypeMemcpy));
}
inline cudaError_t cudaMemset2D(void* pointer, size_t pitch, int value, size_t width_bytes, size_t height) {
  for (size_t row = 0; row < height; row++) {
    const cudaError_t error = cudaMemset(static_cast<char*>(pointer) + row * pitch, value, width_bytes);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}
inline cudaError_t cudaMemset2DAsync(void* pointer, size_t pitch, int value, size_t width_bytes, size_t height,
                                     cudaStream_t stream = nullptr) {
  const auto set = [=] { return cudaMemset2D(pointer, pitch, value, width_bytes, height); };
  return simt::do_or_capture(stream, set, cudaGraphNodeTypeMemset);
}
template <typename T>
cudaError_t cudaHostAlloc(T** pointer, size_t bytes, unsigned flags = 0) {
  return cudaMallocHost(pointer, bytes, flags);
}
template <typename T>
cudaError_t cudaMallocManaged(T** pointer, size_t bytes, unsigned flags = cudaMemAttachGlobal) {
  return cudaMallocManaged(simt::untyped(pointer), bytes, flags);
}
template <typename T>
cudaError_t cudaMallocAsync(T** pointer, size_t bytes, cudaStream_t stream) {
  return cudaMallocAsync(simt::untyped(pointer), bytes, stream);
}
inline cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  if (simt::is_capturing(stream)) return simt::capture_free(stream, pointer);
  return simt::do_in_order(stream, [=] { return cudaFree(pointer); });
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t stream = nullptr) {
  const auto copy = [=] { return cudaMemcpy(to, from, bytes, kind); };
  return simt::after_copy(stream, to, from, simt::do_or_capture(stream, copy, cudaGraphNodeTypeMemcpy));
}
inline cudaError_t cudaMemsetAsync(void* pointer, int value, size_t bytes, cudaStream_t stream = nullptr) {
  const auto set = [=] { return cudaMemset(pointer, value, bytes); };
  return simt::do_or_capture(stream, set, cudaGraphNodeTypeMemset);
}

template <typename T>
cudaError_t cudaMemcpyToSymbol(T& symbol, const void* from, size_t bytes, size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  static_assert(!std::is_const<std::remove_all_extents_t<T>>::value,
                "a symbol is a variable that is not const, not a string");
  if (offset + bytes > sizeof(T)) return cudaErrorInvalidValue;
  return cudaMemcpy(simt::symbol_address(&symbol) + offset, from, bytes, kind);
}
template <typename T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  if (offset + bytes > sizeof(T)) return cudaErrorInvalidValue;
  return cudaMemcpy(to, simt::symbol_address(&symbol) + offset, bytes, kind);
}
template <typename T>
cudaError_t cudaMemcpyToSymbolAsync(T& symbol, const void* from, size_t bytes, size_t offset = 0,
                                    cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t stream = nullptr) {
  if (offset + bytes > sizeof(T)) return cudaErrorInvalidValue;
  return cudaMemcpyAsync(simt::symbol_address(&symbol) + offset, from, bytes, kind, stream);
}
template <typename T>
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyDeviceToHost, cudaStream_t stream = nullptr) {
  if (offset + bytes > sizeof(T)) return cudaErrorInvalidValue;
  return cudaMemcpyAsync(to, simt::symbol_address(&symbol) + offset, bytes, kind, stream);
}
template <typename T>
cudaError_t cudaGetSymbolSize(size_t* bytes, const T&) {
  *bytes = sizeof(T);
  return cudaSuccess;
}
template <typename P, typename T>
cudaError_t cudaGetSymbolAddress(P** pointer, const T& symbol) {
  *pointer = reinterpret_cast<P*>(simt::symbol_address(&symbol));
  return cudaSuccess;
}
template <typename T>
cudaError_t cudaGetSymbolAddress(void** pointer, const T& symbol) {
  *pointer = simt::symbol_address(&symbol);
  return cudaSuccess;
}

constexpr unsigned cudaStreamDefault = 0, cudaStreamNonBlocking = 1;
inline cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}
inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}
inline cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = *greatest = 0;
  return cudaSuccess;
}
inline cudaError_t cudaStreamGetPriority(cudaStream_t, int* priority) {
  *priority = 0;
  return cudaSuccess;
}

constexpr unsigned cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2,
                   cudaEventInterprocess = 4;
constexpr unsigned cudaEventRecordDefault = 0, cudaEventRecordExternal = 1;
constexpr unsigned cudaEventWaitDefault = 0, cudaEventWaitExternal = 1;
constexpr unsigned cudaOccupancyDefault = 0, cudaOccupancyDisableCachingOverride = 1, cudaPeerAccessDefault = 0;
inline cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream = nullptr, unsigned = 0) {
  return cudaEventRecord(event, stream);
}
inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags = cudaEventDefault) {
  return cudaEventCreateWithFlags(event, flags);
}

// A kernel's attributes, by its address: cudaFuncSetAttribute(kernel<float>, ...).
template <typename Kernel>
cudaError_t cudaFuncSetAttribute(Kernel* kernel, cudaFuncAttribute attribute, int value,
                                 const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return simt::set_function_attribute(reinterpret_cast<const void*>(kernel), attribute, value, file, line);
}
template <typename Kernel>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, Kernel* kernel) {
  return simt::function_attributes(attributes, reinterpret_cast<const void*>(kernel));
}
namespace simt {
// The largest number of threads per block that a kernel may be launched with; at most `wanted`, unless that is 0.
template <typename Kernel>
int block_limit(Kernel* kernel, int wanted = 0) {
  cudaFuncAttributes attributes;
  function_attributes(&attributes, reinterpret_cast<const void*>(kernel));
  return wanted > 0 && wanted < attributes.maxThreadsPerBlock ? wanted : attributes.maxThreadsPerBlock;
}
}  // namespace simt
template <typename Kernel>
cudaError_t cudaFuncSetCacheConfig(Kernel*, cudaFuncCache) {
  return cudaSuccess;
}
template <typename Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel* kernel, int block_threads,
                                                          size_t shared_bytes) {
  return simt::occupancy(blocks, reinterpret_cast<const void*>(kernel), block_threads, shared_bytes);
}
// The most dynamic shared memory, in bytes, with which `blocks` blocks fit, up to what the kernel may be launched with.
template <typename Kernel>
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, Kernel* kernel, int blocks, int block_threads) {
  return simt::available_shared_bytes(bytes, reinterpret_cast<const void*>(kernel), blocks, block_threads);
}
// The block size that fills a multiprocessor. Registers, which limit it on a GPU, are not known here.
template <typename Kernel>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, Kernel* kernel, size_t shared_bytes = 0,
                                               int block_limit = 0) {
  *block = simt::block_limit(kernel, block_limit);
  int blocks = 0;
  const cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, *block, shared_bytes);
  int processors = 0;
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
  *grid = blocks * processors;
  return error;
}
// bytes_of(threads): the dynamic shared memory, in bytes, of a block of `threads` threads.
template <typename Kernel, typename BytesOf>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* grid, int* block, Kernel* kernel, BytesOf bytes_of,
                                                           int block_limit = 0) {
  const int largest = simt::block_limit(kernel, block_limit);
  int best_threads = 0, processors = 0;
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
  for (int threads = largest; threads > 0; threads = (threads - 1) / 32 * 32) {
    int blocks = 0;
    const cudaError_t error =
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, static_cast<size_t>(bytes_of(threads)));
    if (error != cudaSuccess) return error;
    if (blocks * threads <= best_threads) continue;
    best_threads = blocks * threads;
    *block = threads;
    *grid = blocks * processors;
  }
  return cudaSuccess;
}
template <typename Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, Kernel* kernel, int block_threads,
                                                                   size_t shared_bytes, unsigned) {
  return simt::occupancy(blocks, reinterpret_cast<const void*>(kernel), block_threads, shared_bytes);
}
template <typename Kernel>
cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, Kernel* kernel, size_t shared_bytes = 0,
                                                        int block_limit = 0, unsigned = cudaOccupancyDefault) {
  return cudaOccupancyMaxPotentialBlockSize(grid, block, kernel, shared_bytes, block_limit);
}
template <typename Kernel, typename BytesOf>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(int* grid, int* block, Kernel* kernel,
                                                                    BytesOf bytes_of, int block_limit = 0,
                                                                    unsigned = cudaOccupancyDefault) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMem(grid, block, kernel, bytes_of, block_limit);
}
template <typename Kernel>
cudaError_t cudaFuncSetSharedMemConfig(Kernel*, cudaSharedMemConfig) {
  return cudaSuccess;
}

// Preferences, which change no result.
constexpr unsigned cudaDeviceScheduleAuto = 0, cudaDeviceScheduleSpin = 1, cudaDeviceScheduleYield = 2,
                   cudaDeviceScheduleBlockingSync = 4, cudaDeviceBlockingSync = 4, cudaDeviceMapHost = 8,
                   cudaDeviceScheduleMask = 7, cudaDeviceLmemResizeToMax = 16, cudaDeviceSyncMemops = 128,
                   cudaDeviceMask = 255;
inline cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
inline cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  *flags = cudaDeviceScheduleAuto | cudaDeviceMapHost;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
inline cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* how) {
  *how = cudaFuncCachePreferNone;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaSuccess; }
inline cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* how) {
  *how = cudaSharedMemBankSizeFourByte;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) { return cudaSuccess; }
inline cudaError_t cudaSetValidDevices(int*, int) { return cudaSuccess; }
inline cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*) { return cudaGetDevice(device); }

// Names from before CUDA 4.
inline cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
inline cudaError_t cudaThreadExit() { return cudaDeviceReset(); }
inline cudaError_t cudaThreadSetCacheConfig(cudaFuncCache how) { return cudaDeviceSetCacheConfig(how); }
inline cudaError_t cudaThreadSetLimit(cudaLimit limit, size_t value) { return cudaDeviceSetLimit(limit, value); }
inline cudaError_t cudaThreadGetLimit(size_t* value, cudaLimit limit) { return cudaDeviceGetLimit(value, limit); }
