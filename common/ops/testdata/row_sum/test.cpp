// The lab of test_operator.py.
#include "lab.h"

#include "facts.h"  // of labs/labs.toml: name, kernel, operator, variants

const testing_::Lab testing_::lab = {
    LAB_FACTS,
    {
        {"move-read-once", "every element is read once", {8, 1000}, testing_::read_at_most(1)},
        {"move-written-once", "one number per row is written", {8, 1000}, testing_::written_once()},
        {"move-no-serial", "all threads share the work", {8, 4096}, testing_::no_serial_section()},
    },
};
