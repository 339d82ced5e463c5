#pragma once
#include "detail/ordered.h"
