// CUB has this primitive under this name too.
#pragma once

#include "../block/block_merge_sort.cuh"
