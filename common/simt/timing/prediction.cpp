#include "prediction.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "busiest.h"
#include "touched.h"

namespace simt::timing {

namespace {

constexpr double kib = 1024;
constexpr uint64_t most_steps = 1'500'000;  // that are simulated

struct Occupancy {
  unsigned blocks;
  const char* bound_by;
};

int registers_of(int estimated, unsigned threads) {
  // A thread has addresses and counters besides. Where few values are alive the compiler is free, and takes 32 or less.
  const int all = estimated + 10;
  const int rounded = std::max(32, (all <= 46 ? 32 : static_cast<int>(all * 0.75) + 7) / 8 * 8);
  const int most = threads ? static_cast<int>(65536 / threads) / 8 * 8 : 255;
  return std::min({rounded, 255, most});
}

Occupancy occupancy(const LaunchFacts& facts, int registers, const Machine& machine) {
  const unsigned warps = (facts.threads + 31) / 32;
  Occupancy best = {static_cast<unsigned>(machine.blocks), "blocks"};
  const auto at_most = [&](double blocks, const char* what) {
    if (blocks < best.blocks) best = {static_cast<unsigned>(blocks), what};
  };
  at_most(std::floor(static_cast<double>(machine.warps) / warps), "threads");
  at_most(std::floor(machine.registers / (static_cast<double>(registers) * 32 * warps)), "registers");
  if (facts.shared_bytes)
    at_most(std::floor(machine.shared_kib * kib / (static_cast<double>(facts.shared_bytes) + kib)), "shared");
  best.blocks = std::max(1u, best.blocks);
  return best;
}

// What of L1 and shared memory is left for L1: shared memory is cut off in these portions.
double l1_bytes(size_t shared_bytes, unsigned resident, const Machine& machine) {
  const double wanted = resident * (static_cast<double>(shared_bytes) + kib) / kib;
  double cut = machine.shared_kib;
  for (const double portion : {0.0, 8.0, 16.0, 32.0, 64.0, 100.0, 132.0, 164.0, 196.0, 228.0}) {
    if (portion >= (shared_bytes ? wanted : 0) && portion <= machine.shared_kib + 1) {
      cut = portion;
      break;
    }
  }
  return (machine.l1_kib - cut) * kib;
}

double dram_gbs(const Machine& machine, double written) {
  const double at = std::clamp(written, 0.0, 1.0) * 4;
  const int low = std::min(3, static_cast<int>(at));
  return machine.dram_gbs[low] + (machine.dram_gbs[low + 1] - machine.dram_gbs[low]) * (at - low);
}

uint64_t steps_of(const std::vector<BlockProgram>& programs) {
  uint64_t steps = 0;
  for (const BlockProgram& program : programs) steps += steps_of(program);
  return std::max<uint64_t>(1, steps / programs.size());
}

double instructions_of(const std::vector<BlockProgram>& programs) {
  double instructions = 0;
  for (const BlockProgram& program : programs) {
    for (const WarpProgram& warp : program.warps) {
      for (const WindowUse& use : warp.windows) {
        for (const Step& step : use.window->steps) instructions += static_cast<double>(step.issue);
      }
    }
  }
  return instructions;
}

// Which of the traced blocks the simulated ones are. Where all of a multiprocessor run at one time, the longest
// decides.
std::vector<const BlockProgram*> chosen(const std::vector<BlockProgram>& programs, uint64_t run, bool at_one_time) {
  std::vector<const BlockProgram*> order;
  const uint64_t count = std::min<uint64_t>(run, programs.size());
  for (uint64_t i = 0; i < count; i++) order.push_back(&programs[(2 * i + 1) * programs.size() / (2 * count)]);
  const auto longest =
      std::max_element(programs.begin(), programs.end(),
                       [](const BlockProgram& a, const BlockProgram& b) { return steps_of(a) < steps_of(b); });
  if (at_one_time && std::find(order.begin(), order.end(), &*longest) == order.end()) order[0] = &*longest;
  return order;
}

// What those blocks that access no memory take, in cycles: a multiprocessor starts them and sees them leave.
double idle_cycles(const LaunchTrace& trace, Compiler* compiler, Work work, unsigned fit, const Machine& machine) {
  BlockProgram idle = {&trace.idle_block, {}};
  for (const WarpTrace& warp : trace.idle_block.warps) idle.warps.push_back(compiler->compile(warp));
  work.programs = {&idle};
  work.resident = fit;
  work.blocks = 4 * fit;
  return simulate(work, machine).cycles / static_cast<double>(work.blocks) * static_cast<double>(trace.idle) /
         machine.multiprocessors;
}

const char* name_of(Cause cause) {
  switch (cause) {
    case Cause::l1: return "L1";
    case Cause::l2: return "L2";
    case Cause::dram: return "DRAM";
    case Cause::shared: return "shared memory";
    case Cause::shuffle: return "shuffles";
    case Cause::barrier: return "barriers";
    case Cause::atomic: return "atomics";
    case Cause::stores: return "stores";
    default: return "its own instructions";
  }
}

std::string percent(double share) {
  char text[16];
  std::snprintf(text, sizeof text, "%.0f %%", share * 100);
  return text;
}

std::string in_kib(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, bytes < 100 * kib ? "%.1f KiB" : "%.0f KiB", bytes / kib);
  return text;
}

// Nine of ten measurements lie within this factor of the prediction: on a GPU that was measured by what limits the
// launch, from the launches that were predicted before any was timed and are of kinds far from the calibration's
// (judgement/fourth.cu to seventh.cu, both GPUs). Where few warps or one unit decide, a wrong count of instructions or
// of loads in flight is the whole error.
double band_of(const std::string& limit, const Machine& machine) {
  const double own = limit == "tail" ? 2.5 : limit == "issue" ? 1.8 : limit == "lsu" ? 2.1 : 1.5;
  return std::max(machine.band, own);
}

void say_limit(const Outcome& out, const LaunchFacts& facts, const Machine& machine, double atomics_share,
               Prediction* p) {
  const double launch = machine.launch_us * 1e-6 / p->seconds;
  struct Unit {
    const char* limit;
    double share;
    const char* words;
  };
  const Unit units[] = {
      {"dram", p->dram, "DRAM is busy %s of the time: only fewer bytes make it faster"},
      {"l2", p->l2, "L2 is busy %s of the time: keep what is used again in registers or shared memory"},
      {"lsu", p->lsu,
       "the load and store unit is busy %s of the time: fewer or wider accesses, no bank conflicts, neighbouring "
       "addresses"},
      {"issue", p->issue,
       "the schedulers issue %s of the time: fewer instructions (wider loads, less address arithmetic)"},
      {"mufu", p->mufu,
       "the special function unit is busy %s of the time: fewer exponentials, divisions and square roots"},
      {"double", out.doubles / out.cycles, "double precision is busy %s of the time: use float where it is enough"},
      {"atomics", atomics_share, "one address takes atomics %s of the time: combine in the warp and the block first"},
  };
  const Unit* most = &units[0];
  for (const Unit& unit : units) {
    if (unit.share > most->share) most = &unit;
  }
  const double waves = static_cast<double>(facts.blocks) / machine.multiprocessors;
  if (launch > 0.5) {
    p->limit = "launch";
    p->words = "the launch itself is " + percent(launch) + " of the time: do more in one kernel";
    return;
  }
  if (most->share >= 0.7) {
    p->limit = most->limit;
    char text[256];
    std::snprintf(text, sizeof text, most->words, percent(most->share).c_str());
    p->words = text;
    return;
  }
  if (waves < 1 && facts.blocks < 0.75 * machine.multiprocessors) {
    p->limit = "tail";
    p->words = std::to_string(facts.blocks) + (facts.blocks == 1 ? " block leaves " : " blocks leave ") +
               std::to_string(machine.multiprocessors - static_cast<int>(facts.blocks)) + " of " +
               std::to_string(machine.multiprocessors) + " SMs idle: more blocks";
    return;
  }
  const double rounds = waves / p->resident;
  if (rounds > 1 && rounds < 4 && rounds / std::ceil(rounds) < 0.7) {
    p->limit = "tail";
    p->words = "the last blocks run while most SMs have none: smaller blocks, or as many as fit at one time";
    return;
  }
  std::array<double, cause_count> sum = {};
  for (const Segment& segment : out.segments) {
    for (size_t c = 0; c < cause_count; c++) sum[c] += segment.cycles[c];
  }
  // A barrier is waited for because others wait for something else.
  sum[static_cast<size_t>(Cause::barrier)] *= 0.5;
  size_t worst = static_cast<size_t>(Cause::l1);
  for (size_t c = 0; c < cause_count; c++) {
    if (c != static_cast<size_t>(Cause::issue) && sum[c] > sum[worst]) worst = c;
  }
  p->limit = "latency";
  p->words = std::string("latency: warps wait for ") + name_of(static_cast<Cause>(worst)) + "; ";
  const bool memory = worst == static_cast<size_t>(Cause::dram) || worst == static_cast<size_t>(Cause::l2);
  if (memory && p->bytes_in_flight < p->bytes_needed) {
    p->words += in_kib(p->bytes_in_flight) + " are in flight, where " + in_kib(p->bytes_needed) +
                " would fill DRAM: more loads in flight per thread, wider loads, or more threads";
  } else if (worst == static_cast<size_t>(Cause::running)) {
    p->words = "latency: chains of dependent instructions; more independent work in each thread, or more warps";
  } else if (worst == static_cast<size_t>(Cause::barrier)) {
    p->words += "fewer barriers, or more blocks that run meanwhile";
  } else {
    p->words += "more independent work in each thread, or more warps";
  }
}

}  // namespace

Prediction predict(const LaunchTrace& trace, uint64_t origin, const Operations& operations, const LaunchFacts& launch,
                   const Machine& machine) {
  LaunchFacts facts = launch;
  facts.blocks -= trace.idle;
  Prediction p;
  p.gpu = machine.name;
  if (trace.blocks.empty()) {
    p.why = trace.complete ? "nothing was traced" : "one block does more than there is room for in a trace";
    if (!trace.complete) p.rest = least_of_a_full_trace(facts, machine);
    return p;
  }
  Compiler compiler(operations, origin, machine);
  std::vector<BlockProgram> programs;
  const size_t traced = trace.blocks.size();
  uint64_t entries = 0;
  for (size_t b = 0; b < traced; b++) {
    programs.push_back({&trace.blocks[b], {}});
    for (const WarpTrace& warp : trace.blocks[b].warps) {
      entries += warp.entries.size();
      programs[b].warps.push_back(compiler.compile(warp));
    }
  }
  const std::vector<std::string> problems = compiler.problems();
  const bool unread = compiler.unknown_accesses() * 50 > entries;
  if (unread) p.why = "much of what it does is in code that was not read";
  if (!problems.empty()) p.why = problems.front();

  p.registers = facts.registers ? facts.registers : registers_of(compiler.registers(), facts.threads);
  const Occupancy fits = occupancy(facts, p.registers, machine);
  const double sms = machine.multiprocessors;
  const double blocks_each = static_cast<double>(facts.blocks) / sms;
  p.resident = fits.blocks;

  const Touched touched = look_at(trace, origin, operations, machine);
  const double scale = static_cast<double>(facts.blocks) / static_cast<double>(traced);
  const auto sectors = static_cast<double>(facts.sectors_read + facts.sectors_written);
  const double written = sectors > 0 ? static_cast<double>(facts.sectors_written) / sectors : 0;

  // Of many blocks some are simulated, and the rest goes on at their pace.
  const uint64_t steps = steps_of(programs);
  const auto rounded = static_cast<uint64_t>(std::ceil(blocks_each));
  p.given = rounded;
  p.bound_by = rounded < fits.blocks ? "grid" : fits.bound_by;
  uint64_t run = rounded;
  const uint64_t enough = std::max<uint64_t>(4 * fits.blocks, 8);
  if (run > enough) run = enough;
  while (run > 2 && run * steps > most_steps && run > fits.blocks) run--;

  Work work;
  const bool at_one_time = rounded <= fits.blocks;
  work.programs = chosen(programs, run, at_one_time);
  work.resident = static_cast<unsigned>(std::min<uint64_t>(fits.blocks, rounded));
  work.l1_bytes = l1_bytes(facts.shared_bytes, fits.blocks, machine);
  // What most blocks read comes from DRAM once; of the rest, what is left of the sectors that were read.
  work.first_touch = touched.other_sectors_read > 0
                         ? std::clamp((static_cast<double>(facts.sectors_read) - touched.common_sectors_read) /
                                          (touched.other_sectors_read * scale),
                                      0.0, 1.0)
                         : 1;
  work.first_common_touch = 1 / std::min(sms, static_cast<double>(facts.blocks));
  work.first_write = touched.sectors_written > 0
                         ? std::min(1.0, static_cast<double>(facts.sectors_written) / (touched.sectors_written * scale))
                         : 1;
  work.left_in_part = touched.left_in_part;
  work.reuse_bytes = machine.l2_mib * 1024 * kib * 0.7 / sms;
  work.shared_lines = &touched.shared_lines;
  work.common_lines = &touched.common_lines;
  // With less than one block each, or a last round that is not full, those that run have more of the chip.
  const double active = rounded <= enough ? static_cast<double>(facts.blocks) / static_cast<double>(rounded) : sms;
  work.dram_share = dram_gbs(machine, written) / machine.clock_ghz / active;
  work.l2_share = machine.l2_gbs / machine.clock_ghz / active;
  work.partial_share = machine.partial_stores_ns / machine.clock_ghz / active;
  work.atomic_share = machine.scattered_atomics_ns / machine.clock_ghz / active;
  work.blocks = run;
  double over_own = 1;
  if (at_one_time && differ(trace.work)) {
    const Busiest most = busiest(trace.work, programs, machine);
    work.programs = most.programs;
    work.blocks = most.programs.size();
    over_own = most.over_own;
    // It takes as much more of what the chip shares as it has more accesses.
    for (double* share : {&work.dram_share, &work.l2_share, &work.partial_share, &work.atomic_share})
      *share *= most.over_mean;
  }
  const Outcome out = simulate(work, machine);
  double cycles = out.cycles * over_own;
  if (run < rounded) {
    Work half = work;
    half.blocks = std::max<uint64_t>(1, run / 2);
    const double before = simulate(half, machine).cycles;
    const double each = (cycles - before) / static_cast<double>(run - half.blocks);
    cycles += each * (blocks_each - static_cast<double>(run));
  }
  if (!trace.idle_block.warps.empty())
    cycles = std::max(cycles, idle_cycles(trace, &compiler, work, fits.blocks, machine));
  const double atomics = nanoseconds_of_atomics(touched, static_cast<double>(facts.blocks),
                                                static_cast<double>(facts.sectors_written), fits.blocks * sms) *
                         1e-9;
  // Where blocks differ the longest may run on when all others are done.
  Work last = work;
  last.programs = chosen(programs, 1, true);
  last.blocks = last.resident = 1;
  if (steps_of(*last.programs.front()) > 1.5 * static_cast<double>(steps))
    cycles = std::max(cycles, simulate(last, machine).cycles);
  // Those at the end of the only blocks that there are come when all else is done.
  const double rounds = std::max(1.0, blocks_each / fits.blocks);
  const double computed = machine.residue * cycles / machine.clock_ghz * 1e-9,
               alone = std::max(0.0, 2 * touched.atomics_late - 1) / rounds * std::min(computed, atomics);
  const double on_chip = std::max(computed, atomics) + alone;
  p.seconds = machine.launch_us * 1e-6 + on_chip;
  p.known = p.why.empty();
  if (!p.known) std::swap(p.rest, p.seconds);
  if (!p.known) return p;
  p.dram = out.dram / out.cycles;
  p.l2 = std::max(out.l2, out.port) / out.cycles;
  p.lsu = out.lsu / out.cycles;
  p.issue = std::max(out.issue, out.alu) / out.cycles;
  p.mufu = out.mufu / out.cycles;
  p.bytes_in_flight = out.byte_cycles / out.cycles * std::min(sms, static_cast<double>(facts.blocks));
  p.bytes_needed = dram_gbs(machine, written) / machine.clock_ghz * machine.dram_latency;
  p.instructions = instructions_of(programs) * scale;
  p.segments = out.segments;
  p.segment_scale = out.warps ? 1e6 / machine.clock_ghz * 1e-9 / static_cast<double>(out.warps) : 0;
  say_limit(out, facts, machine, atomics / p.seconds, &p);
  const double divisions = p.limit == "issue" ? divisions_in(trace, origin, operations) * scale / p.instructions : 0;
  if (divisions >= 0.1)
    p.words += "; divisions are " + percent(divisions) + " of them: multiply by a reciprocal, or shift";
  p.low = p.seconds / band_of(p.limit, machine);
  p.high = p.seconds * band_of(p.limit, machine);
  return p;
}

}  // namespace simt::timing
