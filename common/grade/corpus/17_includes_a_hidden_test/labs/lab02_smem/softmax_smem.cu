// Entry: 17
// Expect: fail
// Reason: cases.cpp: No such file or directory
//
// Includes a file of the tests, hoping that the compiler's errors print it.

#include "../../common/ops/matrix/cases.cpp"
#include "/course/labs/lab02_smem/test.cpp"
