#pragma once
#include "detail/partitions.h"
