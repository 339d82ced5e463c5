// Modules that are loaded while the program runs (include/simt/driver_modules.h): shared objects whose kernels announce
// themselves (include/simt/module_kernel.h).
#include "include/simt/driver_modules.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "include/simt/module_kernel.h"
#include "module_symbols.h"
#include "refusal.h"

using namespace simt;

struct CUfunc_st {
  ModuleKernel kernel;
  bool asked;  // by a name expression
};

namespace {

struct Variable {
  std::string name;
  const void* at;
  size_t bytes;
};

}  // namespace

struct CUmod_st {
  void* handle = nullptr;
  std::vector<std::unique_ptr<CUfunc_st>> functions;
  std::vector<Variable> variables;
};

namespace {

std::mutex loading_mutex;
CUmod_st* loading = nullptr;  // the module whose constructors run

CUresult refuse(CUresult error, const std::string& text) {
  refuse_call(static_cast<cudaError_t>(error), text);
  return error;
}

// Of a shared object in memory; 0 if it is none.
size_t bytes_of_image(const void* image) {
  ElfW(Ehdr) header;
  std::memcpy(header.e_ident, image, SELFMAG);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return 0;
  std::memcpy(&header, image, sizeof header);
#ifdef __aarch64__
  constexpr int machine = EM_AARCH64;
#else
  constexpr int machine = EM_X86_64;
#endif
  if (header.e_machine != machine || header.e_type != ET_DYN) return 0;
  return header.e_shoff + size_t{header.e_shnum} * header.e_shentsize;
}

// The file is anonymous, but a message about a line reads it again: it stays open. "": it could not be written.
std::string file_of(const void* image, size_t bytes) {
  const int file = memfd_create("module", 0);
  const auto* at = static_cast<const char*>(image);
  for (size_t done = 0; done < bytes;) {
    const ssize_t written = write(file, at + done, bytes - done);
    if (written <= 0) return "";
    done += static_cast<size_t>(written);
  }
  return "/proc/self/fd/" + std::to_string(file);
}

CUresult launch(CUfunction function, LaunchConfig config, void** arguments, void** extra, bool cooperative) {
  if (!function) return CUDA_ERROR_INVALID_HANDLE;
  const ModuleKernel& kernel = function->kernel;
  std::vector<void*> places;
  if (!arguments && extra) {  // all in one buffer, each at the next multiple of its alignment
    char* buffer = nullptr;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
      if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = static_cast<char*>(extra[1]);
    }
    if (!buffer) return CUDA_ERROR_INVALID_VALUE;
    size_t at = 0;
    for (size_t i = 0; i < kernel.parameters; i++) {
      at = (at + kernel.alignments[i] - 1) / kernel.alignments[i] * kernel.alignments[i];
      places.push_back(buffer + at);
      at += kernel.sizes[i];
    }
    arguments = places.data();
  }
  if (!arguments && kernel.parameters) return CUDA_ERROR_INVALID_VALUE;
  const std::shared_ptr<void> call(::operator new (kernel.call_bytes, std::align_val_t{128}),
                                   [](void* memory) { ::operator delete (memory, std::align_val_t{128}); });
  kernel.bind(kernel, call.get(), arguments);
  const BoundKernel bound = {kernel.name, kernel.function, kernel.run, call.get(), kernel.call_bytes};
  if (cooperative) return driver_error(launch_cooperative(config, bound));
  if (!is_capturing(config.stream)) return driver_error(simt::launch(config, bound));
  const cudaStream_t captured = config.stream;
  config.stream = replay_stream();
  return driver_error(
      add_captured(captured, new_captured([config, bound, call] { return simt::launch(config, bound); })));
}

}  // namespace

namespace simt {

void export_kernel(const ModuleKernel& kernel, bool asked) {
  if (loading) loading->functions.push_back(std::make_unique<CUfunc_st>(CUfunc_st{kernel, asked}));
}
void export_variable(const char* name, const void* variable, size_t bytes) {
  if (loading) loading->variables.push_back({name, variable, bytes});
}

}  // namespace simt

CUresult cuModuleLoad(CUmodule* module, const char* file) {
  if (!file) return CUDA_ERROR_INVALID_VALUE;
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return CUDA_ERROR_FILE_NOT_FOUND;
  std::ostringstream text;
  text << stream.rdbuf();
  return cuModuleLoadData(module, text.str().c_str());
}

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  if (!module || !image) return CUDA_ERROR_INVALID_VALUE;
  const size_t bytes = bytes_of_image(image);
  if (!bytes)
    return refuse(
        CUDA_ERROR_INVALID_IMAGE,
        "cuModuleLoadData refused: this is no module for the CPU executor\nIt loads what NVRTC gives in this "
        "program, or what simtcc -ptx, -cubin or -fatbin makes of a .cu file. PTX and code for GPUs it cannot run.");
  const std::lock_guard<std::mutex> lock(loading_mutex);
  auto made = std::make_unique<CUmod_st>();
  loading = made.get();
  const std::string file = file_of(image, bytes);
  made->handle = file.empty() ? nullptr : dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);  // "" would be the program
  loading = nullptr;
  if (!made->handle) {
    const char* const why = dlerror();
    return refuse(CUDA_ERROR_INVALID_IMAGE, std::string("cuModuleLoadData refused: the module does not load\n") +
                                                (why ? why : "its memory is not readable"));
  }
  *module = made.release();
  return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module) {
  if (!module) return CUDA_ERROR_INVALID_HANDLE;
  const cudaError_t error = cudaDeviceSynchronize();
  delete module;
  return driver_error(error);
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  if (!function || !module || !name) return CUDA_ERROR_INVALID_VALUE;
  for (const auto& each : module->functions) {
    if (each->asked ? each->kernel.name != std::string(name) : mangled_name(each->kernel.function) != name) continue;
    *function = each.get();
    return CUDA_SUCCESS;
  }
  return refuse(CUDA_ERROR_NOT_FOUND, std::string("cuModuleGetFunction: the module has no kernel ") + name +
                                          "\nA kernel without extern \"C\" has a mangled name.");
}

CUresult cuModuleGetGlobal(CUdeviceptr* pointer, size_t* bytes, CUmodule module, const char* name) {
  if (!module || !name) return CUDA_ERROR_INVALID_VALUE;
  const void* at = nullptr;
  size_t size = 0;
  for (const Variable& variable : module->variables) {
    if (variable.name == name) at = variable.at, size = variable.bytes;
  }
  if (!at && !module->functions.empty()) {  // those of the file alone, too
    const auto found = variables_called(loaded_module(module->functions[0]->kernel.function), {name});
    if (found.size() == 1) at = reinterpret_cast<const void*>(found[0].begin), size = found[0].bytes;
  }
  if (!at) return CUDA_ERROR_NOT_FOUND;
  if (pointer) *pointer = reinterpret_cast<CUdeviceptr>(at);
  if (bytes) *bytes = size;
  return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void** arguments,
                        void** extra, const char* file, int line) {
  const LaunchConfig config(dim3(grid_x, grid_y, grid_z), dim3(block_x, block_y, block_z), shared_bytes, stream, file,
                            line);
  return launch(function, config, arguments, extra, false);
}
CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                   CUstream stream, void** arguments, const char* file, int line) {
  const LaunchConfig config(dim3(grid_x, grid_y, grid_z), dim3(block_x, block_y, block_z), shared_bytes, stream, file,
                            line);
  return launch(function, config, arguments, nullptr, true);
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  if (!value || !function) return CUDA_ERROR_INVALID_VALUE;
  cudaFuncAttributes all;
  const cudaError_t error = function_attributes(&all, function->kernel.function);
  if (error != cudaSuccess) return driver_error(error);
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = all.maxThreadsPerBlock; return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = static_cast<int>(all.sharedSizeBytes); return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = static_cast<int>(all.constSizeBytes); return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = static_cast<int>(all.localSizeBytes); return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = all.numRegs; return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = all.maxDynamicSharedSizeBytes; return CUDA_SUCCESS;
    default: return CUDA_ERROR_NOT_SUPPORTED;
  }
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value, const char* file,
                            int line) {
  if (!function) return CUDA_ERROR_INVALID_HANDLE;
  return driver_error(
      set_function_attribute(function->kernel.function, static_cast<cudaFuncAttribute>(attribute), value, file, line));
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int threads,
                                                     size_t shared_bytes) {
  return function ? driver_error(occupancy(blocks, function->kernel.function, threads, shared_bytes))
                  : CUDA_ERROR_INVALID_HANDLE;
}
CUresult cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction function, CUoccupancyB2DSize bytes_of,
                                          size_t shared_bytes, int block_limit) {
  if (!function) return CUDA_ERROR_INVALID_HANDLE;
  const void* const kernel = function->kernel.function;
  const auto bytes = [&](int threads) { return bytes_of ? bytes_of(threads) : shared_bytes; };
  return driver_error(cudaOccupancyMaxPotentialBlockSizeVariableSMem(grid, block, kernel, bytes, block_limit));
}
