#!/bin/bash
# compile_rungs.sh COMPILER FILE.cu...: compiles rungs for the executor with warnings as errors; keeps nothing.
. "$(dirname "$0")/common.sh"
compiler=$1
shift
status=0
for file in "$@"; do
  { echo "#line 1 \"$file\""; sed -E -f common/simt/rewrite.sed "$file"; } |
    "$compiler" -std=c++17 -O2 -fPIC -Wall -Wextra -Werror -Wno-unknown-pragmas -fno-strict-aliasing -fno-math-errno \
      -I common/simt/include -I common/rung -x c++ - -c -o /dev/null || status=1
done
exit $status
