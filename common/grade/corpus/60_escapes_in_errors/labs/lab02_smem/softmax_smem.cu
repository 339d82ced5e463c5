// Entry: 60
// Expect: fail
// Reason: does not compile
//
// Terminal codes, HTML and formulas in the compiler's messages.

#include "rung.h"
#error "[2J]0;owned<script>alert(1)</script> =1+1 ‮ ]]>"
int ‮broken = "[31m";
