#include "k.cu"
extern "C" int topk_float32(const void* x, int* i, float* p, int r, int c, int k, void* s) { return online<float>((const float*)x, i, p, r, c, k, (cudaStream_t)s); }
extern "C" int topk_float16(const void* x, int* i, float* p, int r, int c, int k, void* s) { return online<__half>((const __half*)x, i, p, r, c, k, (cudaStream_t)s); }
extern "C" int topk_bfloat16(const void* x, int* i, float* p, int r, int c, int k, void* s) { return online<__nv_bfloat16>((const __nv_bfloat16*)x, i, p, r, c, k, (cudaStream_t)s); }
