#pragma once
#include "../detail/run.h"
