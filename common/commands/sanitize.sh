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
build build/cuda/worker "$build/tests/$lab" || fail "the course's own code does not compile; see above"
build "$rung" || fail "$file does not compile; the first message above says where"

mkdir -p build/sanitizer
logs=$(mktemp -d "build/sanitizer/$lab.XXXXXX") || fail "cannot write to $PWD/build: is this folder read-only?"
tools="memcheck racecheck initcheck synccheck"
step "running ${CASE:-the small cases} under $tools ..."

# What the tests themselves say is for make labNN, so it is not shown: here outputs are not poisoned and limits are longer.
under() {
  mkdir -p "$logs/$1"
  export LADDER_SANITIZER=$1 LADDER_SANITIZER_LOGS=$PWD/$logs/$1
  LADDER_BACKEND_SHOWN=1 LADDER_PATIENCE=2 LADDER_CASES=small LADDER_CASE=${CASE:-} LADDER_VARIANT=${VARIANT:-} LADDER_RUNG=$rung LADDER_FILE=$file \
    LADDER_WORKER=common/cuda/sanitized_worker.sh BACKEND=cuda timeout 300 "$build/tests/$lab" >"$logs/$1/tests.txt" 2>&1
  local status=$?
  # The tools end by themselves soon after; one whose kernel never ends is killed with all that it has started.
  if ! timeout 10 flock -x "$logs/$1/running" true 2>/dev/null; then
    while read -r session; do kill -KILL -- "-$session" 2>/dev/null; done <"$logs/$1/started"
  fi
  return $status
}
for tool in $tools; do
  under "$tool" &
done
wait
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
