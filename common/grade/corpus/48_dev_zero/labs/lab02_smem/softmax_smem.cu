// Entry: 48
// Expect: fail
// Reason: does not compile
//
// Includes a file without an end.

#include "/dev/zero"
#include "rung.h"
