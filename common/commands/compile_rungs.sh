#!/bin/bash
# compile_rungs.sh COMPILER FILE.cu...: compiles rungs for the executor with warnings as errors; keeps nothing.
. "$(dirname "$0")/common.sh"
compiler=$1
shift
read -ra flags < <(make -s -f common/build/rules.mk CXX="$compiler" print-rung-flags)
[ ${#flags[@]} -gt 0 ] || fail "common/build/rules.mk names no flags"
status=0
for file in "$@"; do
  "$LADDER_PYTHON" -B common/simt/rewritten.py "$file" < "$file" |
    "$compiler" "${flags[@]}" -Werror -x c++ - -c -o /dev/null || status=1
done
exit $status
