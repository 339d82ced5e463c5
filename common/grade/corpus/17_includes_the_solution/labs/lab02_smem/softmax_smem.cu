// Entry: 17
// Expect: fail
// Reason: solutions/lab02_smem/softmax_smem.cu: No such file or directory
//
// Includes the solution. It is not in the sandbox, nor may the compiler's error show it.

#include "../../solutions/lab02_smem/softmax_smem.cu"
