#!/bin/bash
# make test: everything, without a GPU, but of the long lists (wrong kernels, submissions, programs) a sample. make test-rest: what
# make test leaves out; make test-all: both. CI runs both. One line per check; the output of a failed one is shown.
# ONLY=word,word runs the checks whose name holds one of the words, with whole lists.
# MINUTES=N begins no check after N minutes; what is left out is counted as skipped.
# Most checks use one core and often wait: one more than there are cores run at once. Their lines come in the order of this
# file. With ONLY, one after the other: then nothing may have been built yet, and each builds what it needs.
. "$(dirname "$0")/common.sh"
# The checks run make themselves. What stands in this command line, ONLY=lab02, is not meant for them, and they would refuse it.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL
started=$SECONDS
[[ ${MINUTES:=1000} =~ ^[0-9]+$ ]] || fail "MINUTES=$MINUTES: it can be a whole number of minutes, for example 20"
set_up --sandbox
read_labs
export LADDER_TESTS=${LADDER_TESTS:-$([ -n "${ONLY:-}" ] && echo all || echo sample)}  # common/course/sampling.py
# Which part of a long list is taken goes with the last commit, so that in time each is. Without git it is always the first.
export LADDER_TURN=${LADDER_TURN:-$(($(git log -1 --format=%ct 2>/dev/null || echo 0) / 3600))}
case $LADDER_TESTS in sample | rest | all) ;; *) fail "LADDER_TESTS=$LADDER_TESTS: it can be sample, rest or all" ;; esac
# The checks that have long lists; those of Python files are found below.
declare -A long=(["shelf: every wrong kernel gets its verdict"]= ["corpus: every submission gets its verdict"]=)
logs=build/test-logs
mkdir -p "$logs" 2>/dev/null || cannot_write build

# A check that runs as root can take /dev/null away from all users of the machine, which breaks apt-get, sandboxes and Slurm.
rights_of_null() { stat -c %A /dev/null; }
rights_before=$(rights_of_null)
case $rights_before in *rw-) ;; *) say "/dev/null is $rights_before: users other than root cannot write to it, so that checks may fail; chmod 666 /dev/null" ;; esac

at_once=$([ -n "${ONLY:-}" ] && echo 1 || echo $((jobs + 1)))
passed=0 failures=() ran=()
# report NAME STATUS SECONDS CPU_SECONDS: one line for a check, and the end of its output if it failed. What a check costs is its
# processor time: its seconds go with what runs beside it.
report() {
  local log=$logs/${1//[^A-Za-z0-9_.-]/_}.log
  ran+=("$log")
  if [ "$2" -eq 0 ]; then
    passed=$((passed + 1))
    printf '%-58s ok    %4d s, CPU %4d s\n' "$1" "$3" "$4"
  else
    failures+=("$1")
    printf '%-58s %sFAIL%s  %4d s, CPU %4d s\n' "$1" "$red" "$plain" "$3" "$4"
    show_end "$1"
  fi
}
# show_end NAME: which tests failed in a check, and the end of its output.
show_end() {
  grep -hE '^(FAIL|ERROR): ' "$(log_of "$1")" | sed 's/^/    /'
  tail -n 40 "$(log_of "$1")" | sed 's/^/    /'
  say "    (all of it: $(log_of "$1"))"
}
log_of() { echo "$logs/${1//[^A-Za-z0-9_.-]/_}.log"; }

# wanted NAME: whether ONLY asks for a check.
wanted() {
  local word
  [ "$LADDER_TESTS" != rest ] || [ -n "${long[$1]+set}" ] || [[ $1 = build:* ]] || return 1
  [ -n "${ONLY:-}" ] || return 0
  while IFS= read -rd , word; do
    [ -z "$word" ] || [[ $1 != *"$word"* ]] || return 0
  done <<<"$ONLY,"
  return 1
}
skipped=()
# skip NAME WHY: a check that cannot run here; it is counted.
skip() { ! wanted "$1" || skipped+=("$1: $2"); }

begun=()  # checks that no line is printed for yet, in order; each leaves "status seconds CPU-seconds" behind
# Prints the lines that are due: up to the first check that still runs.
print_due() {
  local running status
  while [ ${#begun[@]} -gt 0 ]; do
    running=$(jobs -rp)
    status=$(log_of "${begun[0]}").status
    if [ ! -s "$status" ]; then
      [ -z "$running" ] || return 0
      echo "1 0 0" >"$status"  # it was killed
    fi
    report "${begun[0]}" $(cat "$status")
    begun=("${begun[@]:1}")
  done
}
# wait_until_fewer_than N: until fewer than that many checks run.
wait_until_fewer_than() {
  print_due
  while [ "$(jobs -rp | wc -l)" -ge "$1" ]; do
    wait -n
    print_due
  done
}
# check NAME COMMAND...: passes if the command succeeds. It may run beside those before and after it.
check() {
  local name=$1 log
  log=$(log_of "$name")
  shift
  wanted "$name" || return 0
  wait_until_fewer_than "$at_once"
  if [ $((SECONDS - started)) -ge $((MINUTES * 60)) ]; then
    skipped+=("$name: MINUTES=$MINUTES have passed")
    return 0
  fi
  rm -f "$log.status"
  begun+=("$name")
  (
    export LADDER_PROGRESS=$PWD/$log.progress  # these runs are no student's
    start=$SECONDS status=0 TIMEFORMAT='%U %S'
    { time "$@" >"$log" 2>&1 </dev/null; } 2>"$log.cpu" || status=$?
    echo "$status $((SECONDS - start)) $(awk '{ printf "%.0f", $1 + $2 }' "$log.cpu")" >"$log.status"
  ) &
}
# alone NAME COMMAND...: a check that others build on, or that uses every core itself: nothing runs beside it.
alone() {
  wanted "$1" || return 0
  wait_until_fewer_than 1
  check "$@"
  wait_until_fewer_than 1
}

# later NAME COMMAND...: a check that make test leaves to make test-rest: it takes long, or asks what few machines can answer.
later() {
  [ "$LADDER_TESTS" != sample ] || return 0
  long[$1]=
  check "$@"
}

lab_list=$(labs)
own_tests=$(printf "$build/tests/%s " simt_warp simt_block simt_cooperative simt_graph simt_graph_nodes simt_math simt_failures simt_launch_limits simt_checks simt_counters half worker compare \
  reference bench)
programs=$(printf "$build/%s " worker backend bench swap_ffn_bench roofs profile bench_simt warp_counts libladder_client.so)
programs+=" build/grade/escapes simtcc-parts"
lab_tests=$(for lab in $lab_list; do echo "$build/tests/$lab"; done)

alone "build: programs and tests, no warnings" common/commands/quiet.sh make -s -j"$jobs" -f common/build/rules.mk \
  $programs $own_tests $lab_tests

# What is built for the tests below, which would otherwise build it at the same time.
cu_files=$(for lab in $lab_list; do echo "labs/$lab/$(kernel_of "$lab") solutions/$lab/$(kernel_of "$lab")"; done)
rungs=$(for file in $cu_files; do echo "$(shared_object "$file" "$build") $(shared_object "$file" "$build/checked")"; done)
alone "build: every lab's starter and solution, no warnings" common/commands/quiet.sh make -s -j"$jobs" -f common/build/rules.mk $rungs

check "course: starters mirror solutions, nothing is missing" "$python" common/commands/check_course.py
check "book: arithmetic, measured figures, links" "$python" theory/check_book.py
# python_tests FOLDER: the tests beside its Python files; of a rest, those of its long lists.
python_tests() {
  [ "$LADDER_TESTS" != rest ] || ! "$python" common/course/run_tests.py --long "$1" || long["python: $1"]=
  check "python: $1" "$python" common/course/run_tests.py "$1"
}
for folder in common/course common/ops common/grade common/commands plots common/bench common/simt common/simt/rules common/simt/counters common/simt/timing common/testing common/cuda \
  common/python common/peers theory; do
  python_tests "$folder"
done
if PATH=$PATH:/usr/sbin:/sbin command -v slurmctld >/dev/null; then
  python_tests common/grade/slurm
else
  skip "python: common/grade/slurm" "slurm-wlm is not installed"
fi
# run PROGRAM ARGUMENTS...: builds a program, if ONLY left out the check that builds all, and runs it.
run() { make -s -j"$jobs" -f common/build/rules.mk "$1" && "$@"; }
for program in $own_tests; do
  check "own tests: $(basename "$program")" run "$program"
done

check "counters: all readings of an H200" run "$build/warp_counts" common/simt/counters/h200_warp_accesses.csv
counters_of_solutions() {
  make -s -j"$jobs" -f common/build/rules.mk $(for lab in $lab_list; do shared_object "$(solution_of "$lab")" "$build/checked"; done) &&
    "$python" common/cuda/profile_diff.py --check plots/results/profile-diff-nvidia-h200.json
}
check "counters: the solutions' as read on an H200" counters_of_solutions
check "peers: the tables are those of the results" "$python" plots/peers.py --readme common/peers/README.md plots/results --check

# Every case of every variant; and each untouched starter must fail, and say what to do. Where time grows with cols^2, one
# of the wide cases that are left out by default stands for them: all of them take minutes.
starter_fails() {
  local output
  output=$(make "${1%%_*}" 2>&1) && { echo "the untouched starter passed"; return 1; }
  echo "$output"
  grep -q "Next: edit labs/$1/" <<<"$output" && grep -q "TODO 0" <<<"$output" && grep -q "TODO 1" <<<"$output" &&
    grep -q "not filled in yet: " <<<"$output" && grep -q "A hint: make hint$(number_of "$1")$" <<<"$output"
}
# solution_passes LAB SHARED_OBJECT [CASE]
solution_passes() {
  local object=$build/$2 checked=$build/checked/$2 request
  make -s -f common/build/rules.mk "$object" "$checked" &&
    request=$(request_for rung="$object" checked="$checked" solution="$checked" file="${2%.so}.cu" worker="$build/worker" case="${3:-}") &&
    BACKEND=cpu "$build/tests/$1" <(echo "$request")
}
for lab in $lab_list; do
  so=solutions/$lab/$(kernel_of "$lab" | sed 's/cu$/so/')
  check "$lab: solution" solution_passes "$lab" "$so"
  if [ -n "${lab_quadratic[$lab]}" ]; then
    later "$lab: solution, 50,257 columns" solution_passes "$lab" "$so" normal-1x50257
  fi
  check "$lab: the untouched starter fails, readably" starter_fails "$lab"
done

# The site, where what it is made with is installed (make docs installs it), and in a browser where there is one.
if command -v doxygen >/dev/null && [ -d /usr/share/doxygen-awesome-css ] && [ -d /usr/share/javascript/mathjax ]; then
  check "docs: the web site" common/commands/docs.sh --test
else
  skip "docs: the web site" "doxygen, doxygen-awesome-css or libjs-mathjax is not installed (make docs installs them)"
fi

# The labs and solutions with the other compilers, so that no build can rot: g++, unless they were built with it above,
# clang, and CUDA's where it is. Not the shelf: those are meant to be wrong.
for compiler in g++ clang++; do
  [ "$compiler" != "${CXX:-g++}" ] || continue
  name="warnings: every rung with $compiler -Werror"
  if ! command -v $compiler >/dev/null; then
    skip "$name" "$compiler is not installed"
  elif [ "$LADDER_TESTS" = sample ]; then  # one, in turn: a warning in a header that all rungs include shows in any of them
    files=($cu_files)
    check "warnings: a rung with $compiler -Werror" common/commands/compile_rungs.sh $compiler "${files[LADDER_TURN % ${#files[@]}]}"
  else
    later "$name" common/commands/compile_rungs.sh $compiler $cu_files
  fi
done
if [ "$LADDER_TESTS" = sample ]; then
  :
elif command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ]; then
  later "nvcc, sm_75 to sm_120: every rung" make -s -k -j"$jobs" -f common/build/rules.mk \
    $(for file in $cu_files; do echo "build/cuda/check/${file%.cu}.o"; done)
else
  skip "nvcc, sm_75 to sm_120: every rung" "nvcc is not installed"
fi
if ! command -v clang-format >/dev/null; then
  skip "format: clang-format" "clang-format is not installed"
elif ! git rev-parse --git-dir >/dev/null 2>&1; then
  skip "format: clang-format" "this is no git checkout"
else
  check "format: clang-format" bash -c "git ls-files '*.cpp' '*.h' '*.cu' | xargs clang-format --dry-run -Werror"
fi

# That the solutions are clean under the checks, which the shelf also asks, has been seen above.
alone "shelf: every wrong kernel gets its verdict" "$python" common/testing/shelf.py --broken
# All of them take an hour on two cores, so they need more room than a check that takes minutes.
corpus="corpus: every submission gets its verdict"
if [ "$LADDER_TESTS" != sample ] && [ $((SECONDS - started + 30 * 60)) -ge $((MINUTES * 60)) ]; then
  skip "$corpus" "it takes an hour, and MINUTES=$MINUTES leave less than 30 minutes to begin"
else
  alone "$corpus" "$python" common/grade/test_corpus.py
fi

wait_until_fewer_than 1
[ $((passed + ${#failures[@]} + ${#skipped[@]})) -gt 0 ] || fail "ONLY=${ONLY:-}: no check has that in its name; the words are those that \`make test\` prints, \`corpus\` for example"
say ""
# Tests inside the checks say by themselves what they cannot do here: "... skipped 'why'". Those that are left to make test-rest
# (common/course/sampling.py) are part of the sample below.
left=0
for log in "${ran[@]}"; do
  while IFS= read -r line; do
    case $line in *": make test-rest runs it") left=$((left + 1)) ;; *) skipped+=("$line") ;; esac
  done < <(sed -nE "s/^(.*) \.\.\. skipped ['\"](.*)['\"]$/\1: \2/p" "$log")
done
[ ${#skipped[@]} -eq 0 ] || printf 'skipped: %s\n' "${skipped[@]}"
if [ "$LADDER_TESTS" = sample ]; then
  grep -ho 'sampled: [0-9]* of .*' "${ran[@]}" || true
  [ $left -eq 0 ] || say "left out: $left long tests"
  say "make test-rest runs what is left out of these lists, every rung with clang++ and nvcc, and the wide cases that grow with cols^2."
fi
# Again at the end: whoever sees the last lines alone, of a long log, sees what failed.
for name in "${failures[@]}"; do
  say "failed: $name"
  show_end "$name"
done
if [ "$(rights_of_null)" != "$rights_before" ]; then
  failures+=("a check has changed /dev/null from $rights_before to $(rights_of_null)")
  say "failed: ${failures[-1]}"
fi
say "make test$([ "$LADDER_TESTS" = sample ] || [ -n "${ONLY:-}" ] || echo "-$LADDER_TESTS") took $((SECONDS - started)) s"
say "$passed passed, ${#failures[@]} failed$([ ${#skipped[@]} -eq 0 ] || echo ", ${#skipped[@]} skipped")"
[ ${#failures[@]} -eq 0 ]
