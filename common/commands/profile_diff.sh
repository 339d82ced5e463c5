#!/bin/bash
# make profile-diff: the counters of every solution, read on this GPU with ncu and counted by the executor, side by side.
. "$(dirname "$0")/common.sh"
set_up
[ "${BACKEND:-auto}" != cpu ] || fail "profile-diff compares a GPU with the executor: BACKEND=cpu leaves nothing to compare"
BACKEND=cuda choose_backend
read_labs
sources=$(for lab in $(labs); do solution_of "$lab"; done)
targets="$build/worker $build/profile build/cuda/launch_once build/cuda/roofs"
for source in $sources; do targets+=" build/cuda/${source%cu}so $build/checked/${source%cu}so"; done
build_own $targets
output=$(results_folder) || exit
output+=/profile-diff-$("$(roofs_program)" --slug).json
"$python" common/cuda/profile_diff.py --output "$output.new" ${SHAPES:+--shapes "$SHAPES"} \
  --machine "$("$(roofs_program)" --machine)" $sources
status=$?
if [ $status -eq 2 ]; then
  [ -f "$output.new" ] && say "what could be read: $output.new; $output is as it was"
  exit 2
fi
mv "$output.new" "$output" || exit 2
say "the readings: $output$([ -z "${PUBLISH:-}" ] || echo "; \`make test\` holds the executor against them")"
exit $status
