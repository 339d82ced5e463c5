#!/bin/bash
# make test: everything that CI runs, without a GPU. One line a check; the output of a failed one is shown.
# ONLY=word runs the checks whose name holds the word.
. "$(dirname "$0")/common.sh"
started=$SECONDS
common/commands/setup.sh --quiet || exit 2
logs=build/test-logs
mkdir -p "$logs" 2>/dev/null || fail "cannot write to $PWD/build: is this folder read-only?"

passed=0 failed=0
# check NAME COMMAND...: passes if the command succeeds.
check() {
  local name=$1 log begun=$SECONDS
  shift
  [[ $name == *"${ONLY:-}"* ]] || return
  log=$logs/${name//[^A-Za-z0-9_.-]/_}.log
  if "$@" >"$log" 2>&1 </dev/null; then
    passed=$((passed + 1))
    printf '%-58s ok    %4d s\n' "$name" $((SECONDS - begun))
  else
    failed=$((failed + 1))
    printf '%-58s %sFAIL%s  %4d s\n' "$name" "$red" "$plain" $((SECONDS - begun))
    tail -n 40 "$log" | sed 's/^/    /'
    say "    (all of it: $log)"
  fi
}

lab_list=$(labs)
own_tests=$(printf "$build/tests/%s " simt_warp simt_block simt_failures half worker compare reference bench)
programs="$build/worker $build/backend $build/bench $build/roofs $build/bench_simt"
lab_tests=$(for lab in $lab_list; do echo "$build/tests/$lab"; done)

check "build: programs and tests, no warnings" common/commands/quiet.sh make -s -j"$jobs" -f common/build/rules.mk \
  $programs $own_tests $lab_tests

check "course: starters mirror solutions, nothing is missing" "$python" common/commands/check_course.py
for file in common/commands plots common/bench; do
  check "python: $file" "$python" -m unittest discover -s "$file" -p 'test_*.py'
done
for program in $own_tests; do
  check "own tests: $(basename "$program")" "$program"
done

# Every case of every variant, also the slow ones; and each untouched starter must fail, and say what to do.
starter_fails() {
  local output
  output=$(make "lab${1:3:2}" 2>&1) && { echo "the untouched starter passed"; return 1; }
  echo "$output"
  grep -q "Next: edit labs/$1/" <<<"$output" && grep -q "TODO 1" <<<"$output"
}
for lab in $lab_list; do
  rung=$build/solutions/$lab/$(kernel_of "$lab" | sed 's/cu$/so/')
  check "$lab: solution, all cases" env BACKEND=cpu bash -c "make -s -f common/build/rules.mk $rung &&
    LADDER_RUNG=$rung LADDER_FILE=solutions/$lab/$(kernel_of "$lab") LADDER_WORKER=$build/worker LADDER_CASES=all $build/tests/$lab"
  check "$lab: the untouched starter fails, readably" starter_fails "$lab"
done

# The same files with clang, and with CUDA's compiler where it is: so that neither build can rot.
cu_files=$(ls labs/*/*.cu solutions/*/*.cu)
check "warnings: every rung with g++ -Werror" common/commands/compile_rungs.sh g++ $cu_files
if command -v clang++ >/dev/null; then
  check "warnings: every rung with clang++ -Werror" common/commands/compile_rungs.sh clang++ $cu_files
fi
if command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ]; then
  for file in $cu_files; do
    check "nvcc, sm_75 to sm_90: $file" make -s -f common/build/rules.mk "build/cuda/check/${file%.cu}.o"
  done
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
