// What cufftXt.h brings besides callbacks and plans for several devices, which are not supported: cuFFT itself.
#pragma once
#include "cufft.h"
