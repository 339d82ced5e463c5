// A kernel's printf, and what a compiler makes of it.
#pragma once

namespace simt::apart {

// Returns how many arguments there were; -1 for a conversion that CUDA does not have, such as %n, and then prints
// nothing.
int device_printf(const char* format, ...);
int device_puts(const char* text);
int device_putchar(int character);

}  // namespace simt::apart
