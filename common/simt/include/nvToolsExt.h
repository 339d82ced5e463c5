// NVTX 2 had its header here.
#pragma once
#include "nvtx3/nvToolsExt.h"
