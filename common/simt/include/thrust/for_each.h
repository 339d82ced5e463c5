#pragma once
#include "detail/elementwise.h"
