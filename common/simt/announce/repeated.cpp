// Accesses of a place that the same block of code has accessed before: which of them nvcc's code does, too.
#include "rewriter.h"

namespace announce {

// Of two accesses of one place. On a GPU, too, what is loaded is loaded again where a store to global memory came
// between, which may have been to the same place, and a store is not left out for a later one if a load came between.
// Shared memory is another, and so is another part of the same structure: nvcc knows it, too.
bool Rewriter::happens_again(const Announced& before, const Announced& hook) const {
  if (!values_.may_be_global(hook.address)) return false;
  for (size_t i = before.passed + 1; i < hook.passed; i++) {  // before itself was noted, too
    const Passed& between = passed_[i];
    const int64_t offset = between.address.constant - hook.address.constant;
    const bool apart = offset >= hook.bytes || offset + between.bytes <= 0;
    if (is_same(between.address, hook.address) && apart) continue;
    if ((hook.loads && between.stores) || (hook.stores && between.loads)) return true;
  }
  return false;
}

bool Rewriter::is_announced(const Value& address, const Access& access) {
  const auto holds = [&](const Announced& hook) {
    const int64_t offset = address.constant - hook.address.constant;
    return is_same(address, hook.address) && offset >= 0 && offset + static_cast<int64_t>(access.bytes) <= hook.bytes;
  };
  const auto fits = [&](const Announced& hook) {
    return holds(hook) && (access.kind == Kind::load ? hook.loads : access.kind == Kind::store && hook.stores);
  };
  // Of volatile accesses each has its own, also where another of the same place came before: that one is not this.
  bool found = false;
  for (Announced& hook : announced_) {
    if (!fits(hook)) continue;
    found = true;
    if (!hook.is_volatile || hook.used) continue;
    hook.used = true;
    return true;
  }
  // What a thread has stored it need not load, either.
  const bool may_be_stored = access.kind == Kind::load && values_.may_be_global(address);
  const Announced* before = nullptr;
  for (Announced& hook : announced_) {
    if (hook.is_volatile || !holds(hook)) continue;
    if (!fits(hook)) {
      if (may_be_stored && hook.stores && hook.used) before = &hook;
      continue;
    }
    if (!hook.used && before && !happens_again(*before, hook)) continue;
    if (!hook.used) {
      hook.used = true;
      return true;
    }
    before = &hook;
  }
  return found;
}

}  // namespace announce
