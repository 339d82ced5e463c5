#pragma once
#include "detail/copying.h"
#include "detail/selecting.h"
