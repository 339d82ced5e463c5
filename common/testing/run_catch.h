// Runs the Catch2 tests that are linked into this program.
#pragma once

namespace testing_ {

// With Catch2's own options, argv[0] the program's name. Returns what Catch2 does: 0 if every test passed.
int run_catch(int argc, const char* const* argv);

}  // namespace testing_
