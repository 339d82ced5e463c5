// Lab 01: two right variants, and no_max, which is deliberately wrong: softmax without the max subtraction.
#include "lab.h"

#include "facts.h"  // of labs/labs.toml: name, kernel, operator, variants
#include "operator.h"

#include "catch2_any.h"
#include "check.h"

using rung::Dtype;

const testing_::Lab testing_::lab = {
    LAB_FACTS,
    // What being naive costs is said and not judged.
    {
        {"move-cost", "what the naive kernels cost", {32, 256}, said_what_loads_cost()},
        Move{"move-a-thread-per-row",
             "a thread has a row of its own and goes over it a few times, not once more for every element",
             {32, 256},
             read_at_most(16)}
            .of({"per_row"})
            .and_no_others(),
    },
    {
        {"apart_sectors",
         "The 32 threads of a warp load x[c] in one instruction, each from a row of its own. How many "
         "32-byte sectors does that instruction ask for?",
         "per_row",
         Dtype::f32,
         {32, 1000},
         testing_::sectors_per_load(),
         "A sector is 32 neighbouring bytes, and the unit in which memory moves. Here neighbouring "
         "threads are a whole row apart, 4,000 bytes, so no two of them find their floats in one sector: "
         "a sector for each thread, and 4 bytes used of each."},
        {"same_address_sectors",
         "All 32 threads of a warp load the same x[c] in one instruction, as in row_max. How many sectors "
         "does that instruction ask for?",
         "per_element",
         Dtype::f32,
         {1, 64},
         testing_::sectors_of_the_commonest_load(),
         "An instruction asks for the distinct sectors that its threads touch. One address lies in one "
         "sector, however many threads load it."},
        {"per_element_reads",
         "In a row of 1000 columns, how often is each element loaded? Every thread counts for itself.",
         "per_element",
         Dtype::f32,
         {1, 1000},
         testing_::reads_of_an_element(),
         "Each of the 1000 threads of a row goes over the whole row for the maximum and once more for the "
         "sum; then the element's own thread loads it to write the result."},
        {"per_row_bytes",
         "A row of 1000 columns: how many sector bytes (32 per sector) do all its loads move?",
         "per_row",
         Dtype::f32,
         {32, 1000},
         testing_::bytes_read_per_row(),
         "Three passes (maximum, sum, result) over 1000 elements. Whole sectors move: what does a load of "
         "4 bytes cost if no other thread of the warp uses its sector?"},
        {"per_element_slower",
         "4096 x 4096 on an H200: how many times longer does per_element take than per_row? A factor of 2.5 "
         "counts as right.",
         "per_element",
         Dtype::f32,
         {4096, 4096},
         nullptr,
         "Compare the sector bytes of both, per element: 2 x 4096 + 1 loads of a sector for a whole warp "
         "here, 4 sectors of 32 bytes for each thread there. The ratio is 64. It is less in time, since a load "
         "whose threads all read one address is the cheapest there is.",
         {{"lab01_naive", "per_element", Dtype::f32, 4096, 4096}, {"lab01_naive", "per_row", Dtype::f32, 4096, 4096}},
         2.5},
        {"per_row_limit",
         "per_row at 4096 x 4096 on an H200: what limits it? rung::limit::dram, l2, lsu, issue, mufu or "
         "latency. The unit that is busy nearly all of the time; latency, if none is.",
         "per_row",
         Dtype::f32,
         {4096, 4096},
         nullptr,
         "Every load of a warp asks for 32 sectors, and the load and store unit takes them one after the "
         "other. Most are found in a cache, so DRAM has little to do.",
         {{"lab01_naive", "per_row", Dtype::f32, 4096, 4096}},
         1,
         /*asks_limit=*/true},
    },
};

// Right where the logits are small; at 1e4 every exp() overflows, and the test shows what comes of it.
TEST_CASE("no_max breaks where it is expected to") {
  const int variant = testing_::session().find("no_max", Dtype::f32);
  if (variant < 0 || !testing_::session().own_file || !testing_::session().wants_variant("no_max f32")) return;
  for (const testing_::Case& c : testing_::operator_of(rung::Op::softmax).cases()) {
    const bool breaks = c.name == "plus_1e4-7x600";
    if (!breaks && c.name != "normal-7x600") continue;
    if (!testing_::session().wants(c.name)) continue;
    DYNAMIC_SECTION("no_max f32 / " << (breaks ? "overflow" : "small") << " / " << c.name) {
      const testing_::Finding finding = testing_::check({variant, Dtype::f32, "no_max f32", c});
      if (breaks) {
        if (finding.kind == testing_::Finding::Kind::wrong) {
          WARN("no failure, but what the lab shows: at logits of 1e4 exp(x) overflows if nothing is subtracted\n("
               << finding.text.substr(0, finding.text.find('\n')) << ")");
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
