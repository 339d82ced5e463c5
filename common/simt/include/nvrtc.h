// NVRTC: a CUDA program in a string is compiled while this one runs, by simtcc, and cuModuleLoadData loads the result
// (simt/driver_modules.h). PTX and machine code are the same here: neither can be read, nor is it for a GPU.
#pragma once
#define __NVRTC_H__  // which other headers test

#include <cstddef>

enum nvrtcResult {
  NVRTC_SUCCESS = 0,
  NVRTC_ERROR_OUT_OF_MEMORY = 1,
  NVRTC_ERROR_PROGRAM_CREATION_FAILURE = 2,
  NVRTC_ERROR_INVALID_INPUT = 3,
  NVRTC_ERROR_INVALID_PROGRAM = 4,
  NVRTC_ERROR_INVALID_OPTION = 5,
  NVRTC_ERROR_COMPILATION = 6,
  NVRTC_ERROR_BUILTIN_OPERATION_FAILURE = 7,
  NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION = 8,
  NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION = 9,
  NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID = 10,
  NVRTC_ERROR_INTERNAL_ERROR = 11
};
const char* nvrtcGetErrorString(nvrtcResult result);
nvrtcResult nvrtcVersion(int* major, int* minor);
nvrtcResult nvrtcGetNumSupportedArchs(int* count);
nvrtcResult nvrtcGetSupportedArchs(int* architectures);

struct SimtProgram;
using nvrtcProgram = SimtProgram*;
nvrtcResult nvrtcCreateProgram(nvrtcProgram* program, const char* source, const char* name, int headers,
                               const char* const* header_texts, const char* const* header_names);
nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program);
nvrtcResult nvrtcAddNameExpression(nvrtcProgram program, const char* expression);

namespace simt {
// `header`: this file, beside which simtcc is.
nvrtcResult compile_program(nvrtcProgram program, int count, const char* const* options, const char* header);
}  // namespace simt
// Of the options those that begin with -I, -D, --include-path=, --define-macro=, -std= and --std=; others do nothing.
inline nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char* const* options) {
  return simt::compile_program(program, count, options, __FILE__);
}

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t* bytes);
nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char* log);
nvrtcResult nvrtcGetLoweredName(nvrtcProgram program, const char* expression, const char** name);
nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t* bytes);
nvrtcResult nvrtcGetPTX(nvrtcProgram program, char* image);
inline nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t* bytes) { return nvrtcGetPTXSize(program, bytes); }
inline nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* image) { return nvrtcGetPTX(program, image); }
