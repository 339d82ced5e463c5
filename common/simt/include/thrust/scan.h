#pragma once
#include "detail/scans.h"
