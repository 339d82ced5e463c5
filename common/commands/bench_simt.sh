#!/bin/bash
# make bench-simt: the executor's own speed.
. "$(dirname "$0")/common.sh"
common/commands/setup.sh --quiet || exit 2
build "$build/bench_simt" || fail "the benchmark does not compile; see above"
exec "$build/bench_simt"
