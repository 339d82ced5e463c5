#pragma once
#include "detail/reductions.h"
#include "detail/sorting.h"
