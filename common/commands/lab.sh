#!/bin/bash
# make lab02: builds and tests one rung; if it is right, measures it and adds its point to the chart. TODO=4: tests this TODO alone.
. "$(dirname "$0")/common.sh"

read_labs
lab=$(find_lab --programs "$1") || exit 2
! is_program "$lab" || exec common/commands/program.sh "$lab"
choose_file "$lab"

# What a student's own file achieves is remembered for make status. Statuses: those of the tests; 3: does not compile.
record=build/events-$lab.jsonl hash=$(sha256sum <"$file" | cut -d ' ' -f 1)
remember() {
  [ "$source" = student ] && [ -n "$record" ] && [ "$1" -ne 2 ] || return 0
  "$python" common/commands/progress.py record "$lab" --hash "$hash" --status "$1" --events "$record"
}
end_on_signals

case ${CASES:-} in '' | all | huge | small) ;; *) fail "CASES=$CASES: it can be all, or huge on a GPU; leave it out for the usual cases" ;; esac
case ${CHECKS:-on} in on | off) ;; *) fail "CHECKS=$CHECKS: it can be on or off" ;; esac
set_up
check_time_options
# TODO=4: this one alone, put into the solution. Nothing of it is recorded, measured or predicted.
tested=$file
if [ -n "${TODO:-}" ]; then
  tested=build/alone/$lab-$TODO.cu source=alone
  "$python" common/commands/alone.py "$lab" "$file" "$TODO" "$tested" || exit 2
fi
# All that the first verdict needs is built by one make, so that no core waits for the end of a part.
needed=("$build/tests/$lab")
if [ -z "${PREBUILT:-}" ]; then
  need_build_folder
  needed+=("$build/worker" $(make -s -f common/build/rules.mk print-announce))
fi
if [ ! -x "$build/worker" ]; then
  step "building the course's programs (once; about two minutes on two cores) ..."
elif [ ! -x "$build/tests/$lab" ]; then
  step "building the tests of this lab (once) ..."
fi
choose_backend "${needed[@]}"
[ "$source" != student ] || "$python" common/commands/progress.py unchanged "$lab" --hash "$hash"
rung=$(shared_object "$tested" "build/$backend")

build_own "build/$backend/worker"
[ -z "${TODO:-}" ] || record=/dev/null
{ : >"$record"; } 2>/dev/null || record=  # a folder that cannot be written remembers nothing
# The instrumented build runs small cases under memcheck, racecheck, initcheck and synccheck. It takes longest, so it begins beside the
# plain one. Not the first time: then both would build the parts of the course that they share. What it has to say is asked for below.
checked=
[ "${CHECKS:-on}" = off ] || [ "$backend" != cpu ] || checked=$(shared_object "$tested" build/cpu/checked)
# The first tests need no table of its instructions (common/build/instrumented.mk).
untimed=$checked
[ -n "${PREBUILT:-}" ] || untimed=${checked:+${checked%.so}.untimed.so}
if [ -n "$checked" ] && [ -e "$checked" ] && [ -z "${PREBUILT:-}" ]; then
  make -s --no-print-directory -j"$jobs" -f common/build/rules.mk "$untimed" >/dev/null 2>&1 &
fi
# For the executor g++ compiles; what only nvcc would refuse, clang finds meanwhile (common/simt/rules).
rules=()
[ "$backend" != cpu ] || [ -n "${PREBUILT:-}" ] || rules=("${rung%.so}.rules")
build_rung "$file" "$rung" "${rules[@]}" || {
  status=$?
  [ $status -le 128 ] || interrupted "$(kill -l $status)"
  end_jobs
  unfinished=
  remember 3
  does_not_compile
}

wait
[ -z "$checked" ] || build "$untimed" || fail "$file does not compile for the checks; CHECKS=off tests it without them"

# What a student predicts is counted on the solution, so that it can be checked before the student's kernel works.
solution=
[ -n "${TODO:-}" ] || solution=$(counted_solution "$lab")

# The table is made once somebody asks for it: whoever opens this pipe for writing waits until another opens it for reading.
counting= made=
if [ "$untimed" != "$checked" ]; then
  made=$(mktemp -u build/made.XXXXXX) counting=$checked
  mkfifo "$made" || cannot_write build
  trap 'end_jobs; rm -f "$made"' EXIT
  { exec make -s --no-print-directory -j"$jobs" -f common/build/rules.mk "$checked" 2> >(grep -v '^make' >&2); } >"$made" &
  table=$!
fi

todos=$("$python" common/commands/todos.py open "$lab" "$file")
request=$(request_for rung="$rung" checked="$untimed" counting="$counting" made="$made" solution="$solution" file="$file" worker="build/$backend/worker" case="${CASE:-}" variant="${VARIANT:-}" \
  cases="${CASES:-}" todo="${TODO:-}" open_todos:="[${todos// /,}]" events="$record" ends_with_parent:=true) || exit
"$build/tests/$lab" <(echo "$request") &
wait $!
status=$?
[ $status -le 128 ] || interrupted "$(kill -l $status)"
unfinished=
remember $status
[ $status -eq 0 ] || exit $status
[ -z "${CASE:-}${VARIANT:-}${TODO:-}${TESTS_ONLY:-}" ] || exit 0
if [ -n "$made" ] && { predicting || [ -n "${PREDICT:-}" ]; }; then
  exec {asked}<>"$made"
  wait $table
fi

if is_step "$lab"; then
  if predicting; then
    say "no time is predicted: a library computes part of it on tensor cores, which the model does not have"
    say "make lab$(number_of "$lab") on a GPU measures it; TIME=executor shows the executor's own time, which says nothing about a GPU's"
  else
    measure_step "$lab" "$file" "$source" "$rung" || exit
  fi
  say "next: ${lab_next[$lab]}"
  exit
fi

# Right: now how fast?
# predictions FILE: the rung's, and a student's beside the solution's, in the file
predictions() {
  build_own "$build/profile"
  if [ -n "$solution" ] && [ "$source" != solution ]; then
    predict "$lab" "$solution" solution "$1" --keep "${solution%.so}.predicted.json" || return
  fi
  predict "$lab" "$checked" "$source" "$1" --command "make $lab"
}
show_predictions() { "$python" common/bench/predicted_table.py "$1" --gpu "$gpu" --lab "$lab" --source "$source" --cols "${shape_cols[0]}" --words; }
if predicting; then
  if [ -z "$checked" ]; then
    say "CHECKS=off: nothing is counted, so no time is predicted"
    exit
  fi
  step "predicting its time on a GPU ..."
  results=$(predicted_file) || exit
  predictions "$results" || exit
  say ""
  show_predictions "$results" || exit
  draw_predicted "$results" "${FILE:-student}" || exit
else
  [ -x "$build/bench" ] || step "building the benchmark (once) ..."
  build_own "$build/bench" "$(roofs_program)"
  # The roofs come from the same machine, or the chart would compare nothing.
  measure_roofs
  prepare_bench
  results=$(results_file) || exit
  cols=${shape_cols[0]}
  read -r rows quadratic <<<"$(rows_of "$cols")"
  counts=()
  [ "${CHECKS:-on}" = off ] || count_options "$file"
  "${bench[@]}" --rung "$rung" --lab "$lab" --source "$source" --rows $rows --cols $cols $(variant_options "$lab" $quadratic) \
    --results "$results" "${counts[@]}" || exit
  say ""
  "$python" common/bench/table.py "$results" --source "$source" --lab "$lab" --cols $cols || exit
  beside=
  if [ -n "${PREDICT:-}" ]; then
    checked=$(shared_object "$tested" build/cpu/checked)
    build "$build/worker" "$checked" || fail "$file does not compile for the executor, which predicts its time"
    beside=$(predicted_file) || exit
    predictions "$beside" || exit
    say ""
    show_predictions "$beside" || exit
  fi
  "$python" plots/roofline.py "$results" --output "$(chart roofline)" --source "${FILE:-student}" ${beside:+--beside "$beside"} || exit
fi
if [ "$source" = student ]; then
  "$python" common/commands/gained.py "$lab" "$results"
  exit
fi
say "next: ${lab_next[$lab]}"
