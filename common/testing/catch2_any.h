// Catch2, 2.13 or 3: their headers have different names.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;  // as in Catch2 2
#define CATCH2_VERSION_3
#else
#include <catch2/catch.hpp>
#endif
