// Backend dispatch. Asks the driver itself, through dlopen: no part of the CUDA toolkit is needed to find out.
#include "backend.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include <sstream>

namespace rung {
namespace {

struct Device {
  std::string name;     // "NVIDIA H200 (compute capability 9.0)"; empty if there is none
  std::string problem;  // "driver not found"
  int count = 0;        // of devices that the driver shows to this process
};

// The driver API as far as it is needed here. CUresult and CUdevice are ints.
Device find_device() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!driver) return {"", "driver not found"};
  auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  auto get_count = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
  auto get_device = reinterpret_cast<int (*)(int*, int)>(dlsym(driver, "cuDeviceGet"));
  auto get_name = reinterpret_cast<int (*)(char*, int, int)>(dlsym(driver, "cuDeviceGetName"));
  auto get_attribute = reinterpret_cast<int (*)(int*, int, int)>(dlsym(driver, "cuDeviceGetAttribute"));
  if (!init || !get_count || !get_device || !get_name || !get_attribute) return {"", "the driver is incomplete"};
  if (int error = init(0)) return {"", "cuInit failed with error " + std::to_string(error)};
  int count = 0, device = 0, major = 0, minor = 0;
  if (get_count(&count) != 0 || count == 0) return {"", "the driver finds no device"};
  char name[256] = "";
  constexpr int capability_major = 75, capability_minor = 76;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_...
  if (get_device(&device, 0) != 0 || get_name(name, sizeof name, device) != 0 ||
      get_attribute(&major, capability_major, device) != 0 || get_attribute(&minor, capability_minor, device) != 0) {
    return {"", "the driver does not describe its device"};
  }
  return {std::string(name) + " (compute capability " + std::to_string(major) + "." + std::to_string(minor) + ")", "",
          count};
}

bool executable(const std::string& path) { return access(path.c_str(), X_OK) == 0; }

// Where the Makefile looks for nvcc, too.
bool nvcc_found() {
  if (const char* nvcc = getenv("NVCC"); nvcc && *nvcc) return executable(nvcc);
  if (const char* home = getenv("CUDA_HOME"); home && executable(std::string(home) + "/bin/nvcc")) return true;
  const char* path = getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (executable(folder + "/nvcc")) return true;
  }
  return executable("/usr/local/cuda/bin/nvcc");
}

Backend cpu(const std::string& why) { return {"cpu", "cpu: " + why, "", "build/cpu/worker"}; }

Backend missing(const std::string& why) { return {"", "", why, ""}; }

}  // namespace

Gpus find_gpus() {
  const Device device = find_device();
  return {device.count, device.name.empty() ? device.problem : device.name};
}

Backend choose_backend(const char* wanted) {
  if (!wanted) wanted = getenv("BACKEND");
  const std::string choice = wanted && *wanted ? wanted : "auto";
  if (choice == "cpu") return cpu("BACKEND=cpu was asked for");
  if (choice != "auto" && choice != "cuda") {
    return missing("BACKEND=" + choice + ": it can be auto, cuda or cpu");
  }
  const Device device = find_device();
  const bool can_build = executable("build/cuda/worker") || nvcc_found();
  if (!device.name.empty() && can_build) return {"cuda", "cuda: " + device.name, "", "build/cuda/worker"};
  if (choice == "cuda") {
    const std::string why = device.name.empty() ? "there is no CUDA device (" + device.problem + ")"
                                                : "nvcc is not found: install the CUDA toolkit or set CUDA_HOME";
    return missing("BACKEND=cuda was asked for, but " + why + "; BACKEND=cpu runs everything on the CPU");
  }
  return cpu(device.name.empty() ? "no CUDA device (" + device.problem + ")" : "no nvcc for the " + device.name);
}

}  // namespace rung
