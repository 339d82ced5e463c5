#!/bin/bash
# make test: everything that CI runs, without a GPU. One line a check; the output of a failed one is shown.
# ONLY=word runs the checks whose name holds the word.
. "$(dirname "$0")/common.sh"
started=$SECONDS
common/commands/setup.sh --quiet --sandbox || exit 2
logs=build/test-logs
export LADDER_PROGRESS=$PWD/build/test-progress.json  # these runs are no student's
mkdir -p "$logs" 2>/dev/null || fail "cannot write to $PWD/build: is this folder read-only?"

passed=0 failed=0
# report NAME STATUS SECONDS: one line for a check, and the end of its output if it failed.
report() {
  local log=$logs/${1//[^A-Za-z0-9_.-]/_}.log
  if [ "$2" -eq 0 ]; then
    passed=$((passed + 1))
    printf '%-58s ok    %4d s\n' "$1" "$3"
  else
    failed=$((failed + 1))
    printf '%-58s %sFAIL%s  %4d s\n' "$1" "$red" "$plain" "$3"
    tail -n 40 "$log" | sed 's/^/    /'
    say "    (all of it: $log)"
  fi
}
# check NAME COMMAND...: passes if the command succeeds.
check() {
  local name=$1 begun=$SECONDS status=0
  shift
  [[ $name == *"${ONLY:-}"* ]] || return
  "$@" >"$logs/${name//[^A-Za-z0-9_.-]/_}.log" 2>&1 </dev/null || status=$?
  report "$name" $status $((SECONDS - begun))
}
# begin NAME COMMAND...: starts a check beside those that follow; finish NAME waits for it.
begin() {
  local name=$1 log=$logs/${1//[^A-Za-z0-9_.-]/_}.log
  shift
  [[ $name == *"${ONLY:-}"* ]] || return
  (
    begun=$SECONDS status=0
    "$@" >"$log" 2>&1 </dev/null || status=$?
    echo "$status $((SECONDS - begun))" >"$log.status"
  ) &
}
finish() {
  [[ $1 == *"${ONLY:-}"* ]] || return
  wait
  report "$1" $(cat "$logs/${1//[^A-Za-z0-9_.-]/_}.log.status")
}

lab_list=$(labs)
own_tests=$(printf "$build/tests/%s " simt_warp simt_block simt_cooperative simt_graph simt_math simt_failures simt_checks simt_counters half worker compare \
  reference bench)
programs=$(printf "$build/%s " worker backend bench swap_ffn_bench roofs profile bench_simt warp_counts libladder_client.so)
programs+=" build/grade/escapes"
lab_tests=$(for lab in $lab_list; do echo "$build/tests/$lab"; done)

check "build: programs and tests, no warnings" common/commands/quiet.sh make -s -j"$jobs" -f common/build/rules.mk \
  $programs $own_tests $lab_tests

check "course: starters mirror solutions, nothing is missing" "$python" common/commands/check_course.py
check "book: arithmetic, measured figures, links" "$python" theory/check_book.py
# The judge's tests mostly wait, and build in places of their own: they run beside the others.
check "build: the solutions" common/commands/quiet.sh make -s -j"$jobs" -f common/build/rules.mk \
  $(for file in solutions/*/*.cu; do echo "$(shared_object "$file" "$build") $(shared_object "$file" "$build/checked")"; done)
begin "python: common/grade" "$python" -m unittest discover -s common/grade -p 'test_*.py'
for folder in common/commands plots common/bench common/simt common/simt/counters common/testing common/cuda common/python \
  common/peers theory; do
  check "python: $folder" "$python" -m unittest discover -s "$folder" -p 'test_*.py'
done
finish "python: common/grade"
for program in $own_tests; do
  check "own tests: $(basename "$program")" "$program"
done

check "counters: all readings of an H200" "$build/warp_counts" common/simt/counters/h200_warp_accesses.csv
counters_of_solutions() {
  make -s -j"$jobs" -f common/build/rules.mk $(for file in solutions/*/*.cu; do shared_object "$file" "$build/checked"; done) &&
    "$python" common/cuda/profile_diff.py --check plots/results/profile-diff-nvidia-h200.json
}
check "counters: the solutions' as read on an H200" counters_of_solutions
check "README: the table of peers is that of the results" "$python" plots/peers.py --readme README.md \
  plots/results/peers-nvidia-h200.json --check

# Every case of every variant; and each untouched starter must fail, and say what to do. Where time grows with cols^2, one
# of the wide cases that are left out by default stands for them: all of them take minutes.
starter_fails() {
  local output
  output=$(make "lab${1:3:2}" 2>&1) && { echo "the untouched starter passed"; return 1; }
  echo "$output"
  grep -q "Next: edit labs/$1/" <<<"$output" && grep -q "TODO 0" <<<"$output" && grep -q "TODO 1" <<<"$output" &&
    grep -q "not filled in yet: " <<<"$output"
}
for lab in $lab_list; do
  so=solutions/$lab/$(kernel_of "$lab" | sed 's/cu$/so/')
  environment="BACKEND=cpu LADDER_RUNG=$build/$so LADDER_CHECKED=$build/checked/$so LADDER_FILE=${so%.so}.cu"
  environment+=" LADDER_WORKER=$build/worker LADDER_SOLUTION=$build/checked/$so"
  check "$lab: solution" bash -c "make -s -f common/build/rules.mk $build/$so $build/checked/$so && env $environment $build/tests/$lab"
  if [ "$lab" = lab01_naive ]; then
    check "$lab: solution, 50,257 columns" env $environment LADDER_CASE=normal-1x50257 "$build/tests/$lab"
  fi
  check "$lab: the untouched starter fails, readably" starter_fails "$lab"
done

# The site, where what it is made with is installed (make docs installs it), and in a browser where there is one.
if command -v doxygen >/dev/null && [ -d /usr/share/doxygen-awesome-css ] && [ -d /usr/share/javascript/mathjax ]; then
  check "docs: the web site" common/commands/docs.sh --test
else
  say "doxygen, doxygen-awesome-css or libjs-mathjax is not installed: the web site was not made"
fi

check "corpus: every submission gets its verdict" "$python" common/grade/test_corpus.py
check "shelf: every wrong kernel gets its verdict" "$python" common/testing/shelf.py

# The same files with clang, and with CUDA's compiler where it is: so that neither build can rot.
cu_files=$(ls labs/*/*.cu solutions/*/*.cu)  # not the shelf: those are meant to be wrong
check "warnings: every rung with g++ -Werror" common/commands/compile_rungs.sh g++ $cu_files
if command -v clang++ >/dev/null; then
  check "warnings: every rung with clang++ -Werror" common/commands/compile_rungs.sh clang++ $cu_files
fi
if command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ]; then
  check "nvcc, sm_75 to sm_90: every rung" make -s -k -j"$jobs" -f common/build/rules.mk \
    $(for file in $cu_files; do echo "build/cuda/check/${file%.cu}.o"; done)
else
  say "nvcc is not installed: the CUDA build was not checked"
fi
if command -v clang-format >/dev/null; then
  check "format: clang-format" bash -c "git ls-files '*.cpp' '*.h' '*.cu' | xargs clang-format --dry-run -Werror"
fi

say ""
say "make test took $((SECONDS - started)) s"
say "$passed passed, $failed failed"
[ $failed -eq 0 ]
