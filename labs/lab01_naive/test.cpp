// Lab 01: two right variants, and no_max, which is deliberately wrong: softmax without the max subtraction.
#include "lab.h"

#include "catch2_any.h"
#include "check.h"

using rung::Dtype;
using testing_::Cost;
using testing_::Width;

const testing_::Lab testing_::lab = {
    "lab01_naive",
    "softmax_naive.cu",
    rung::Op::softmax,
    {
        {"per_element", Dtype::f32, Width::any, Cost::quadratic},
        {"per_row", Dtype::f32},
    },
    {"no_max"},
    // No move yet: what being naive costs, said and not judged.
    {
        {"move-cost", "what being naive costs", {32, 256}, testing_::said_what_loads_cost()},
    },
};

// Right where the logits are small; at 1e4 every exp() overflows, and the test shows what comes of it.
TEST_CASE("no_max breaks where it is expected to") {
  const int variant = testing_::session().find("no_max", Dtype::f32);
  if (variant < 0 || !testing_::session().own_file) return;
  for (const testing_::Case& c : testing_::all_cases(rung::Op::softmax)) {
    const bool breaks = c.name == "plus_1e4-7x600";
    if (!breaks && c.name != "normal-7x600") continue;
    if (!testing_::session().wants(c.name)) continue;
    DYNAMIC_SECTION("no_max f32 / " << (breaks ? "overflow" : "small") << " / " << c.name) {
      const testing_::Finding finding = testing_::check({variant, Dtype::f32, "no_max f32", c});
      if (breaks) {
        if (finding.kind == testing_::Finding::Kind::wrong) {
          WARN("as it should be, wrong on logits of 1e4, where exp(x) overflows:\n" << finding.text);
        } else {
          FAIL_CHECK("expected to be wrong on logits of 1e4, where exp(x) overflows; is the maximum subtracted? "
                     << finding.text);
        }
      } else if (finding.kind != testing_::Finding::Kind::right) {
        FAIL_CHECK(finding.text);
      }
      SUCCEED();
    }
  }
}
