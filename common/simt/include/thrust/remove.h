#pragma once
#include "detail/selecting.h"
