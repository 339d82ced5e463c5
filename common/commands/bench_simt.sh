#!/bin/bash
# make bench-simt: the executor's own speed.
. "$(dirname "$0")/common.sh"
set_up
kernel=common/bench/simt_softmax.so
build "$build/bench_simt" "$build/$kernel" "$build/checked/$kernel" || fail "the benchmark does not compile; see above"
exec "$build/bench_simt" "$build/$kernel" "$build/checked/$kernel"
