// Of the Thrust that came with CUDA 12.0: what there is of it here has its interface.
#pragma once

#define THRUST_VERSION 200001
#define THRUST_MAJOR_VERSION 2
#define THRUST_MINOR_VERSION 0
#define THRUST_SUBMINOR_VERSION 1
#define THRUST_PATCH_NUMBER 0
