// The four checks, named as compute-sanitizer names them: memcheck, racecheck, initcheck, synccheck. They watch kernels
// of an instrumented build. The first finding ends the process as any failure of a kernel does (simt.h): with what
// happened, where, and how such a thing is usually fixed.
#pragma once

#include <cstddef>
#include <string>

#include "../simt.h"

namespace simt::checks {

// Checks the launches that follow. While it is on, blocks run on one core, in order.
void start();
void stop();
bool running();

// Fills in the race that has been found in the block that runs, if there is one: why a kernel crashes or never ends may
// well be that. False if there is none. For signal handlers.
bool race_found(Failure* failure);

// What synccheck has to say of a barrier that is no mistake by itself (synccheck.h), since the last call; else "".
std::string take_remark();

// Gives a range of device memory a name and a shape, for messages such as "element 4097 of x[64 x 64]". Kernels may
// then touch, of the allocation that it lies in, only named ranges. Forgotten when the allocation is freed or by
// forget_buffers().
void name_buffer(const void* data, const char* name, size_t rows, size_t cols, size_t element_bytes);
void forget_buffers();

// Makes initcheck treat the range as memory that nothing has written yet, whatever it holds.
void set_uninitialised(const void* data, size_t bytes);

}  // namespace simt::checks
