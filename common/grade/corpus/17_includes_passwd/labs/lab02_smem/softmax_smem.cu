// Entry: 17
// Expect: fail
// Reason: /etc/passwd: No such file or directory
// Never: root:
//
// Includes files of the host, so that the compiler's errors print them.

#include "/etc/passwd"
#include "/etc/shadow"
#include "/proc/self/environ"
#include "rung.h"
