// The one file with Catch2 itself in it: version 2 is only a header, and long to compile.
#define CATCH_CONFIG_RUNNER
#include "run_catch.h"

#include "catch2_any.h"

namespace testing_ {

int run_catch(int argc, const char* const* argv) { return Catch::Session().run(argc, argv); }

}  // namespace testing_
