#pragma once
#include <limits>
