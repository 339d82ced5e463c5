#!/bin/bash
# make sanitize02: a lab's tests under memcheck, racecheck, initcheck and synccheck of compute-sanitizer, on a GPU. Of the
# cases those that run under the executor's checks of the same names (testing_::is_small), or the one that CASE names.
. "$(dirname "$0")/common.sh"
read_labs
lab=$(find_lab "$1") || exit 2
choose_file "$lab"
set_up
[ "${BACKEND:-auto}" != cpu ] ||
  fail "compute-sanitizer needs a GPU; on the CPU make lab$(number_of "$lab") runs checks of the same names"
BACKEND=cuda choose_backend
COMPUTE_SANITIZER=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null) ||
  fail "compute-sanitizer is not found: it comes with the CUDA toolkit (package cuda-sanitizer of NVIDIA's repository)"
export COMPUTE_SANITIZER
rung=$(shared_object "$file" build/cuda)
build_own build/cuda/worker "$build/tests/$lab"
build_rung "$file" "$rung" || does_not_compile

mkdir -p build/sanitizer
logs=$(mktemp -d "build/sanitizer/$lab.XXXXXX") || cannot_write build
request=$(request_for rung="$rung" file="$file" worker=common/cuda/sanitized_worker.sh case="${CASE:-}" variant="${VARIANT:-}" cases=small) || exit
tools="memcheck racecheck initcheck synccheck"
step "running ${CASE:-the small cases} under $tools ..."

# Kills what a tool has started: each start is a session of its own.
end_sessions() {  # TOOL
  while read -r session; do kill -KILL -- "-$session"; done <"$logs/$1/started"
} 2>/dev/null
# What the tests themselves say is for make labNN, so it is not shown: here outputs are not poisoned and limits are longer.
under() {
  local tool=$1
  trap 'trap "" INT TERM HUP; end_jobs; end_sessions $tool; exit 1' INT TERM HUP
  mkdir -p "$logs/$tool"
  export LADDER_SANITIZER=$tool LADDER_SANITIZER_LOGS=$PWD/$logs/$tool
  # --foreground: in this process group, so that what ends the group ends the tests.
  LADDER_PATIENCE=2 BACKEND=cuda timeout --foreground 300 "$build/tests/$lab" <(echo "$request") >"$logs/$tool/tests.txt" 2>&1 &
  wait $!
  # The tools end by themselves soon after; one whose kernel never ends is killed with all that it has started.
  timeout --foreground 10 flock -x "$logs/$tool/running" true 2>/dev/null &
  wait $! || end_sessions "$tool"
}
end_on_signals
trap '[ -z "$unfinished" ] || rm -rf "$logs"' EXIT
for tool in $tools; do
  under "$tool" &
done
wait
unfinished=
# A command line that the tests refuse (no such case, a file that exports nothing) is refused by each of the four.
if grep -q '^error:' "$logs/memcheck/tests.txt"; then
  cat "$logs/memcheck/tests.txt" >&2
  rm -rf "$logs"
  exit 2
fi
"$python" common/cuda/sanitizer.py --source "$file" $(printf "$logs/%s " $tools)
status=$?
case $status in
  0)
    say "$file is clean under all four"
    rm -rf "$logs"
    ;;
  1) say "the logs: $logs" ;;
  *) fail "a tool could not do its work; the logs: $logs" ;;
esac
exit $status
