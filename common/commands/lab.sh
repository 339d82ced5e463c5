#!/bin/bash
# make lab02: builds and tests one rung; if it is right, measures it and adds its point to the chart.
. "$(dirname "$0")/common.sh"

lab=$(find_lab "$1") || exit 2
choose_file "$lab"

# What a student's own file achieves is remembered for make status. Statuses: those of the tests; 3: does not compile.
record=build/results-$lab.json hash=$(sha256sum <"$file" | cut -d ' ' -f 1)
remember() {
  [ "$source" = student ] && [ -n "$record" ] && [ "$1" -ne 2 ] || return 0
  "$python" common/commands/progress.py record "$lab" --hash "$hash" --status "$1" --results "$record"
}

common/commands/setup.sh --quiet || exit 2
choose_backend
rung=$(shared_object "$file" "build/$backend")

[ -x "$build/tests/$lab" ] || step "building the tests (once; under a minute)"
build "build/$backend/worker" "$build/tests/$lab" "$build/bench" "$(roofs_program)" || fail "the course's own code does not compile; see above"
{ : >"$record"; } 2>/dev/null || record=  # a folder that cannot be written remembers nothing
build "$rung" || { remember 3; fail "$file does not compile; the first message above says where"; }

# The instrumented build runs small cases under memcheck, racecheck, initcheck and synccheck.
checked=
case ${CHECKS:-on} in
  on) [ "$backend" = cpu ] && checked=$(shared_object "$file" build/cpu/checked) ;;
  off) ;;
  *) fail "CHECKS=$CHECKS: it can be on or off" ;;
esac
[ -z "$checked" ] || build "$checked" || fail "$file does not compile for the checks; CHECKS=off tests it without them"

# What a student predicts is counted on the solution, so that it can be checked before the student's kernel works.
solution=$(counted_solution "$lab")

LADDER_BACKEND_SHOWN=1 LADDER_RUNG=$rung LADDER_CHECKED=$checked LADDER_SOLUTION=$solution LADDER_FILE=$file LADDER_WORKER=build/$backend/worker \
  LADDER_CASE=${CASE:-} LADDER_CASES=${CASES:-} LADDER_RESULTS=$record "$build/tests/$lab"
status=$?
remember $status
[ $status -eq 0 ] || exit $status
[ -z "${CASE:-}${TESTS_ONLY:-}" ] || exit 0

if is_step "$lab"; then
  measure_step "$lab" "$file" "$source" "$rung" || exit
  say "next: theory/11_sharing.md"
  exit
fi

# Right: now how fast? The roofs come from the same machine, or the chart would compare nothing.
measure_roofs
prepare_bench
results=$(results_file)
rows=64 quadratic=4
[ "$backend" = cpu ] || rows=4096 quadratic=4096
counts=()
[ "${CHECKS:-on}" = off ] || count_options "$file"
"${bench[@]}" --rung "$rung" --lab "$lab" --source "$source" --rows $rows --cols 4096 --quadratic per_element=$quadratic \
  --results "$results" "${counts[@]}" || exit
say ""
"$python" common/bench/table.py "$results" --source "$source" --lab "$lab" --cols 4096 || exit
"$python" plots/roofline.py "$results" --source "${FILE:-student}" || exit
say "the chart: plots/roofline.svg"
if [ "$source" = student ]; then
  "$python" common/commands/gained.py "$lab" "$results"
  exit
fi
next=$(labs | grep -A1 -x "$lab" | tail -n 1)
if [ "$next" = "$lab" ]; then
  say "next: make ladder"
else
  say "next: labs/$next/README.md"
fi
