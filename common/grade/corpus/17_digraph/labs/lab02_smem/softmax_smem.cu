// Entry: 17
// Expect: fail
// Reason: /etc/passwd: No such file or directory
// Never: root:
//
// Writes the include as a digraph and behind a line splice, past a rule that looks for #include.

%:include "/etc/passwd"
#\
inc\
lude "/etc/shadow"
%:include "rung.h"
