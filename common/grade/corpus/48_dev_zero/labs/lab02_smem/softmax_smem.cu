// Entry: 48
// Expect: fail
// Reason: /dev/zero: No such file or directory
//
// Includes a file without an end.

#include "/dev/zero"
#include "rung.h"
