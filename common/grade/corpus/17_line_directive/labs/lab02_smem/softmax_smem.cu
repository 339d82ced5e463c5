// Entry: 17
// Expect: fail
// Reason: does not compile
// Never: root:
//
// Names a file of the host in a line directive: the compiler then prints that file's lines beside its error.

#include "rung.h"
#line 1 "/etc/passwd"
int broken = "x";
#line 20 "/etc/passwd"
int broken_too = "x";
