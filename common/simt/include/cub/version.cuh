// Of the CUB that came with CUDA 12.0: what there is of it here has its interface.
#pragma once

#define CUB_VERSION 200001
#define CUB_MAJOR_VERSION 2
#define CUB_MINOR_VERSION 0
#define CUB_SUBMINOR_VERSION 1
#define CUB_PATCH_NUMBER 0
