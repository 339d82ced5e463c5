#!/bin/bash
# make profile02: a lab's memory requests, counted as Nsight Compute counts them, one row per kernel and one per source line.
. "$(dirname "$0")/common.sh"
read_labs
lab=$(find_lab "$1") || exit 2
choose_file "$lab"
[[ ${K:-50} =~ ^[1-9][0-9]*$ ]] || fail "K=$K: it can be a number of results, for example 50"
shape=${SHAPE:-64x4096}
# Cores x d_model there; the rest is in proportion.
[ -n "${SHAPE:-}" ] || ! is_step "$lab" || shape=32x32
[[ $shape =~ ^([1-9][0-9]*)x([1-9][0-9]*)$ ]] || fail "SHAPE=$shape: it can be ROWSxCOLUMNS, for example 64x4096"
rows=${BASH_REMATCH[1]} cols=${BASH_REMATCH[2]}
# Where every thread reads the whole row, a wide one takes minutes. Elsewhere 64 rows are enough to count, but leave half of a GPU
# idle: the time is predicted for the rows of make labNN, which are like them.
times=1
if [ -z "${SHAPE:-}" ]; then
  if [ -n "${lab_quadratic[$lab]}" ]; then
    rows=64 cols=600
  elif ! is_step "$lab"; then
    times=$((${shape_cuda[${shape_cols[0]}]% *} / rows))
  fi
fi

set_up
check_time_options
choose_backend
report=build/profile.json
if [ "$backend" = cuda ]; then
  rung=$(shared_object "$file" build/cuda)
  build_own build/cuda/launch_once
  build_rung "$file" "$rung" || does_not_compile
  "$python" common/cuda/read_counters.py --rows "$rows" --cols "$cols" --k "${K:-50}" "$rung" >"$report"
else
  rung=$(shared_object "$file" build/cpu/checked)
  build_own "$build/worker" "$build/profile"
  build_rung "$file" "$rung" || does_not_compile
  SIMT_GPU=$gpu SIMT_GPU_TIMES=$times "$build/profile" --worker "$build/worker" --rung "$rung" --rows "$rows" --cols "$cols" --k "${K:-50}" >"$report"
fi
status=$?
[ $status -ne 2 ] || exit 2
"$python" common/simt/profile.py "$report" --variant "${VARIANT:-*}" || exit
say "the same in Nsight Compute's names: $report"
exit $status
