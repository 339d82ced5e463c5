#!/bin/bash
# make lab09: builds a lab that is part of a program of several devices, and runs the program on the executor's devices; with
# BACKEND=cuda on the GPUs of this machine. common/bench/sharded has what is given of the program.
#   VARIANT=packed  one of them      CASE="one row"  one case      CHECKS=off  not under the checks
#   CASES=all       also with 4 and with 8 devices, which takes a minute
. "$(dirname "$0")/common.sh"
read_labs
lab=$1
choose_file "$lab"
for option in TODO BROKEN; do
  [ -z "${!option:-}" ] || fail "$lab has no $option=; CASE= and VARIANT= choose what is tested"
done
case ${CASES:-} in '' | all | small) ;; *) fail "CASES=$CASES: it can be all" ;; esac
case ${CHECKS:-on} in on | off) ;; *) fail "CHECKS=$CHECKS: it can be on or off" ;; esac
variants=${program_variants[$lab]}
if [ -n "${VARIANT:-}" ]; then
  [[ " $variants " == *" $VARIANT "* ]] || fail "$lab has no variant '$VARIANT'.$(nearest "$VARIANT" $variants) It has: $variants"
  variants=$VARIANT
fi
set_up
need_build_folder
given=common/bench/sharded folder=build/cpu/sharded
work=$(mktemp -d "build/$lab.XXXXXX") || fail "cannot write to $PWD/build: is this folder read-only?"
trap 'rm -rf "$work"' EXIT
end_on_signals

# What a student's own file achieves is remembered for make status. Statuses: as in lab.sh.
remember() {  # STATUS
  [ "$source" = student ] && [ -z "${VARIANT:-}${CASE:-}" ] || return 0
  "$python" common/commands/progress.py record "$lab" --hash "$(sha256sum <"$file" | cut -d ' ' -f 1)" --status "$1" --results "$work/results.json"
}

# ---- Build ----
# compile MODE: the file for the executor, plain or under the checks, with the given parts.
compile() {
  local flags=()
  [ "$1" = plain ] || flags=(--check -DONLY_F32)
  exec "$python" common/simt/simtcc "${flags[@]}" -I $given "$file" $folder/$1/local_topk.o $folder/$1/sharded_test.o -o "$work/$1" 2>"$work/$1.txt"
}
say "$file"
case ${BACKEND:-cpu} in
  cpu)
    modes=(plain)
    [ "${CHECKS:-on}" = off ] || modes+=(check)
    [ -e $folder/check/sharded_test.o ] || step "building the program (once; under a minute on two cores) ..."
    build $(for mode in "${modes[@]}"; do echo $folder/$mode/local_topk.o $folder/$mode/sharded_test.o; done) ||
      fail "the course's own code does not compile; see above"
    for mode in "${modes[@]}"; do
      compile $mode &
      tests+=" $!"
    done
    wait $tests
    tests=
    for mode in "${modes[@]}"; do
      if [ ! -x "$work/$mode" ]; then
        cat "$work/$mode.txt" >&2
        remember 3
        fail "$file does not compile; the first message above says where"
      fi
    done
    runs=("plain 2" "check 1" "check 3" "plain 1" "plain 3")
    [ "${CASES:-}" != all ] || runs+=("plain 4" "plain 8")
    say "cpu: the executor with 1 to 8 devices; its speed says nothing of a GPU's"
    ;;
  cuda)
    gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')
    [ "$gpus" -ge 2 ] || fail "BACKEND=cuda: $lab needs two GPUs or more, and here is $gpus; without BACKEND=cuda the executor has several devices"
    nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null) || fail "BACKEND=cuda: nvcc is not installed"
    "$nvcc" -std=c++17 -O3 -arch=native -I $given -I common/rung "$file" $given/local_topk.cu $given/sharded_test.cu -lnccl -o "$work/cuda" ||
      fail "$file does not compile for the GPUs; NCCL's header and library must be where nvcc finds them (package libnccl-dev)"
    runs=("cuda $gpus")
    say "cuda: $gpus GPUs"
    ;;
  *) fail "BACKEND=$BACKEND: it can be cpu or cuda" ;;
esac

# ---- Run ----
passed=0 failed=0 first_failure=
# line NAME WHAT STATUS
line() {
  if [ "$3" -eq 0 ]; then
    passed=$((passed + 1))
    printf '%-58s ok\n' "$1  $2"
  else
    failed=$((failed + 1))
    first_failure=${first_failure:-$1, $2}
    printf '%-58s %sFAIL%s\n' "$1  $2" "$red" "$plain"
  fi
}
program=$work/${modes[0]:-cuda}
gain=$("$python" - plots/results/sharded-nvidia-h200-x2.json <<<'
import json, sys
times = json.load(open(sys.argv[1]))["8x128256"]
print(times["three_reductions"] / times["one_shot"])') || exit
if [ -z "${VARIANT:-}${CASE:-}" ]; then
  predicted=$("$program" predict "$gain" "$work/predictions.json")
  line predictions "4 numbers" $?
  say "$predicted"
fi
for variant in $variants; do
  # The first failure of a variant is enough.
  for run in "${runs[@]}"; do
    read -r mode devices <<<"$run"
    [[ " ${modes[*]:-cuda} " == *" $mode "* ]] || continue  # CHECKS=off
    types="f32, f16 and bf16" how= type=all
    [ "$mode" != check ] || types=f32 how=" under the checks" type=f32
    # --foreground: in this process group, so that what ends the group ends the program.
    SIMT_DEVICES=$devices timeout --foreground 300 "$work/$mode" $type "$variant" ${CASE:+"$CASE"} >"$work/output" 2>&1 &
    tests=$!
    wait $tests
    status=$? tests=
    case $status in 129 | 130 | 143) interrupted "$(kill -l $status)" ;; esac
    [ $status -ne 2 ] || fail "$(cat "$work/output")"
    line "$variant" "$types, $devices $([ "$devices" = 1 ] && echo device || echo devices)$how" $status
    [ $status -ne 0 ] || continue
    [ $status -ne 124 ] || echo "not done after 300 s" >>"$work/output"
    sed 's/^/  /' "$work/output" | head -n 40
    break
  done
done
unfinished=
say ""
say "$passed passed, $failed failed"
if [ -e "$work/predictions.json" ]; then
  printf '{"backend":"%s","checked":%s,"whole":true,"passed":%d,"failed":%d,"not_run":0,"first_failure":"%s","predictions":%s,"counts":{}}\n' \
    "${BACKEND:-cpu}" "$([ "${modes[*]:-}" = "plain check" ] && echo true || echo false)" $passed $failed "$first_failure" \
    "$(cat "$work/predictions.json")" >"$work/results.json"
  remember $((failed > 0))
fi
if [ $failed -gt 0 ]; then
  todos=$("$python" common/commands/todos.py open "$lab" "$file")
  [ -z "$todos" ] || say "Next: edit $file, line ${todos%% *}. TODOs that are as handed out: lines ${todos// /, }"
  say "A hint: make hint$(number_of "$lab")"
  exit 1
fi
[ -z "${TESTS_ONLY:-}${VARIANT:-}${CASE:-}" ] || exit 0
say "next: ${lab_next[$lab]}"
