#include "device_functions.h"

#include <cmath>
#include <cstring>
#include <ctime>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "../device_heap.h"
#include "../instrument/recorder.h"
#include "device_printf.h"

namespace simt::apart {

namespace {

// Mathematics that takes and returns numbers alone, each as it is for double and with an f for float.
constexpr const char* mathematics[] = {
    "acos",   "acosh",     "asin",      "asinh",   "atan",      "atan2",  "atanh", "cbrt",      "ceil",    "copysign",
    "cos",    "cosh",      "erf",       "erfc",    "exp",       "exp10",  "exp2",  "expm1",     "fabs",    "fdim",
    "floor",  "fma",       "fmax",      "fmin",    "fmod",      "hypot",  "ilogb", "j0",        "j1",      "jn",
    "ldexp",  "lgamma",    "llrint",    "llround", "log",       "log10",  "log1p", "log2",      "logb",    "lrint",
    "lround", "nearbyint", "nextafter", "pow",     "remainder", "rint",   "round", "roundeven", "scalbln", "scalbn",
    "sin",    "sinh",      "sqrt",      "tan",     "tanh",      "tgamma", "trunc", "y0",        "y1",      "yn"};

// Of the executor and of the compiler; the instrumentation's announce what the kernel does.
constexpr const char* others[] = {"abs",
                                  "labs",
                                  "llabs",
                                  "memcpy",
                                  "memmove",
                                  "memset",
                                  "__wrap_memcpy",
                                  "__wrap_memmove",
                                  "__wrap_memset",
                                  "__assert_fail",
                                  "abort",
                                  "__tls_get_addr",
                                  "__stack_chk_fail",
                                  "__cxa_pure_virtual",
                                  "_ZSt9terminatev"};
constexpr const char* executors[] = {"block_barrier",
                                     "warp_exchange",
                                     "active_lanes",
                                     "yield",
                                     "fence",
                                     "grid_barrier",
                                     "is_cooperative",
                                     "in_kernel",
                                     "checked_value",
                                     "checked_lanes",
                                     "checked_operand",
                                     "before_atomic",
                                     "before_atomic_store",
                                     "clock_ticks",
                                     "carry_flag",
                                     "set_carry_flag",
                                     "meeting_init",
                                     "meeting_expect",
                                     "meeting_arrive",
                                     "meeting_drop",
                                     "meeting_wait",
                                     "meeting_is_over",
                                     "meeting_ask",
                                     "meeting_transfer",
                                     "meet",
                                     "copy_in_bulk",
                                     "meeting_of_parity",
                                     "meeting_put",
                                     "meeting_get",
                                     "fence_system",
                                     "cluster_barrier",
                                     "cluster_rank",
                                     "cluster_index",
                                     "cluster_size",
                                     "map_shared_rank",
                                     "query_shared_rank"};
constexpr const char* beginnings[] = {"__tsan_", "__sanitizer_cov_trace_pc", "simt_seen_"};
// Arithmetic of numbers that the processor lacks; not that which returns a second result through a pointer.
constexpr const char* arithmetic[] = {"__add",      "__sub",    "__mul",   "__div",  "__mod", "__udiv",  "__umod",
                                      "__neg",      "__ashl",   "__ashr",  "__lshr", "__fix", "__float", "__extend",
                                      "__trunc",    "__cmp",    "__ucmp",  "__eq",   "__ne",  "__lt",    "__le",
                                      "__gt",       "__ge",     "__unord", "__pow",  "__clz", "__ctz",   "__ffs",
                                      "__popcount", "__parity", "__clrsb", "__bswap"};

bool begins(const std::string& name, const std::string& with) { return name.compare(0, with.size(), with) == 0; }

const std::unordered_set<std::string>& exact_names() {
  static const auto* const names = [] {
    auto* const set = new std::unordered_set<std::string>(std::begin(others), std::end(others));
    for (const std::string name : mathematics) {
      set->insert(name);
      set->insert(name + "f");
    }
    return set;
  }();
  return *names;
}

// __udivti3, __popcountdi2, __floatuntisf: what is done, the type, and mostly how many operands and results there are.
bool is_arithmetic(const std::string& name) {
  const size_t length = name.size() - (name.back() == '2' || name.back() == '3');
  if (length < 6 || !std::strchr("ifc", name[length - 1]) || !std::strchr("qhsdtx", name[length - 2])) return false;
  for (const char* const beginning : arithmetic) {
    if (begins(name, beginning)) return true;
  }
  return false;
}

#define SIMT_CALLER reinterpret_cast<uintptr_t>(__builtin_return_address(0))

template <typename T>
void store(T* to, T value, uintptr_t caller) {
  record(reinterpret_cast<uintptr_t>(to), sizeof(T), Event::store, caller);
  *to = value;
}

double device_frexp(double x, int* exponent) {
  int found = 0;
  const double result = std::frexp(x, &found);
  store(exponent, found, SIMT_CALLER);
  return result;
}
float device_frexpf(float x, int* exponent) {
  int found = 0;
  const float result = std::frexp(x, &found);
  store(exponent, found, SIMT_CALLER);
  return result;
}
double device_modf(double x, double* whole) {
  double found = 0;
  const double result = std::modf(x, &found);
  store(whole, found, SIMT_CALLER);
  return result;
}
float device_modff(float x, float* whole) {
  float found = 0;
  const float result = std::modf(x, &found);
  store(whole, found, SIMT_CALLER);
  return result;
}
double device_remquo(double x, double y, int* quotient) {
  int found = 0;
  const double result = std::remquo(x, y, &found);
  store(quotient, found, SIMT_CALLER);
  return result;
}
float device_remquof(float x, float y, int* quotient) {
  int found = 0;
  const float result = std::remquo(x, y, &found);
  store(quotient, found, SIMT_CALLER);
  return result;
}
void device_sincos(double x, double* sine, double* cosine) {
  const double s = std::sin(x), c = std::cos(x);
  store(sine, s, SIMT_CALLER);
  store(cosine, c, SIMT_CALLER);
}
void device_sincosf(float x, float* sine, float* cosine) {
  const float s = std::sin(x), c = std::cos(x);
  store(sine, s, SIMT_CALLER);
  store(cosine, c, SIMT_CALLER);
}
double device_nan(const char*) { return std::nan(""); }
float device_nanf(const char*) { return std::nanf(""); }

// Where the heap has room, and what time it is, follow from what other threads have done: by either a thread can be
// told a number.
void* device_malloc(size_t bytes) {
  note_received(sizeof(void*));
  return device_heap::allocate(bytes);
}
clock_t device_clock() {
  note_received(sizeof(clock_t));
  return std::clock();
}
void device_free(void* pointer) {
  if (device_heap::contains(reinterpret_cast<uintptr_t>(pointer))) device_heap::release(pointer);
}
void device_delete_sized(void* pointer, size_t) { device_free(pointer); }

template <typename Function>
const void* address(Function* function) {
  return reinterpret_cast<const void*>(function);
}

}  // namespace

bool is_device_function(const char* name) {
  const std::string text = name;
  if (exact_names().count(text)) return true;
  for (const char* const beginning : beginnings) {
    if (begins(text, beginning)) return true;
  }
  for (const char* const function : executors) {
    const size_t length = std::strlen(function);
    if (begins(text, "_ZN4simt" + std::to_string(length) + function + "E")) return true;
  }
  return is_arithmetic(text);
}

const void* device_version(const char* name) {
  static const auto* const versions = new std::unordered_map<std::string, const void*>{
      {"frexp", address(device_frexp)},
      {"frexpf", address(device_frexpf)},
      {"modf", address(device_modf)},
      {"modff", address(device_modff)},
      {"remquo", address(device_remquo)},
      {"remquof", address(device_remquof)},
      {"sincos", address(device_sincos)},
      {"sincosf", address(device_sincosf)},
      {"nan", address(device_nan)},
      {"nanf", address(device_nanf)},
      {"printf", address(device_printf)},
      {"puts", address(device_puts)},
      {"putchar", address(device_putchar)},
      {"malloc", address(device_malloc)},
      {"free", address(device_free)},
      {"clock", address(device_clock)},
      {"_Znwm", address(device_malloc)},
      {"_Znam", address(device_malloc)},
      {"_ZdlPv", address(device_free)},
      {"_ZdaPv", address(device_free)},
      {"_ZdlPvm", address(device_delete_sized)},
      {"_ZdaPvm", address(device_delete_sized)},
  };
  const auto found = versions->find(name);
  return found == versions->end() ? nullptr : found->second;
}

}  // namespace simt::apart
