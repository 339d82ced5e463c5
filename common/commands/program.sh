#!/bin/bash
# make lab09: builds a lab that is part of a program of several devices, and runs the program on the GPUs of this machine, if there are
# two or more, or on the executor's devices. common/bench/sharded has what is given of the program.
#   VARIANT=packed  one of them      CASE="one row"  one case      CHECKS=off  not under the checks
#   CASES=all       also with 4 and with 8 devices, which takes a minute
#   BROKEN=name     a wrong program of common/bench/sharded/broken.toml: its variant, under the checks
. "$(dirname "$0")/common.sh"
read_labs
lab=$1
choose_file "$lab"
[ -z "${TODO:-}" ] || fail "$lab has no TODO=; CASE= and VARIANT= choose what is tested"
case ${BACKEND:-auto} in auto | cpu | cuda) ;; *) fail "BACKEND=$BACKEND: it can be auto, cuda or cpu" ;; esac
[ -z "${BROKEN:-}" ] || [ "${BACKEND:-auto}" != cuda ] || fail "BROKEN=$BROKEN: wrong programs run on the executor, which says what is wrong with them; leave BACKEND=cuda out"
case ${CASES:-} in '' | all | small) ;; *) fail "CASES=$CASES: it can be all; leave it out for the usual cases" ;; esac
case ${CHECKS:-on} in on | off) ;; *) fail "CHECKS=$CHECKS: it can be on or off" ;; esac
variants=${program_variants[$lab]}
[ -z "${BROKEN:-}" ] || variants=${broken_facts[0]}
if [ -n "${VARIANT:-}" ]; then
  [[ " $variants " == *" $VARIANT "* ]] || fail "VARIANT=$VARIANT: it can be ${variants// /, }, the variants of $lab.$(nearest "$VARIANT" $variants)"
  variants=$VARIANT
fi
part=${VARIANT:-}${CASE:-}${BROKEN:-}  # not all of the lab
set_up
need_build_folder
given=common/bench/sharded folder=build/cpu/sharded
work=$(mktemp -d "build/$lab.XXXXXX") events=$work/events || cannot_write build
trap 'rm -rf "$work"' EXIT
if [ -n "${CASE:-}" ]; then
  build_own $folder/cases
  mapfile -t cases < <($folder/cases)
  printf '%s\n' "${cases[@]}" | grep -qxF -- "$CASE" ||
    fail "there is no case \"$CASE\".$(nearest "$CASE" "${cases[@]}") The cases are: $(printf '%s, ' "${cases[@]}" | sed 's/, $//')"
fi
end_on_signals

# What a student's own file achieves is remembered for make status. Statuses: as in lab.sh.
remember() {  # STATUS
  [ "$source" = student ] && [ -z "$part" ] || return 0
  "$python" common/commands/progress.py record "$lab" --hash "$(sha256sum <"$file" | cut -d ' ' -f 1)" --status "$1" --events "$events"
}

# ---- Where it runs ----
# links_nccl OPTION...: whether a program that needs NCCL can be built with nvcc's options, and begins.
links_nccl() {
  printf '#include <nccl.h>\nint main() { int version; return ncclGetVersion(&version); }\n' >"$work/nccl.cpp"
  "$nvcc" "$work/nccl.cpp" "$@" -o "$work/nccl" >"$work/nccl.txt" 2>&1 && "$work/nccl" >>"$work/nccl.txt" 2>&1
}
# Sets $nccl, nvcc's options for NCCL: of NCCL_HOME, or where nvcc looks by itself, or of pip's package, which has no libnccl.so
# without a number. Else sets $missing and $how.
find_nccl() {
  local folder library found=()
  if [ -n "${NCCL_HOME:-}" ]; then
    found=("$NCCL_HOME")
  else
    nccl=(-lnccl -Xlinker "-rpath=$(dirname "$nvcc")/../lib64")
    ! links_nccl "${nccl[@]}" || return 0
    mapfile -t found < <(for each in "$python" python3; do
      "$each" -c 'import nvidia.nccl; print(*nvidia.nccl.__path__, sep="\n")' 2>/dev/null
    done)
  fi
  for folder in "${found[@]}"; do
    for library in "$folder"/lib*/libnccl.so "$folder"/lib*/libnccl.so.2; do
      [ -e "$library" ] || continue
      nccl=(-I "$folder/include" -L "$(dirname "$library")" "-l:$(basename "$library")" -Xlinker "-rpath=$(dirname "$library")")
      ! links_nccl "${nccl[@]}" || return 0
    done
  done
  missing="NCCL's library libnccl.so.2"
  ! grep -q 'nccl\.h' "$work/nccl.txt" 2>/dev/null || missing="NCCL's header nccl.h"
  if [ -n "${NCCL_HOME:-}" ]; then
    missing="NCCL_HOME=$NCCL_HOME does not have include/nccl.h and a lib/libnccl.so.2 that goes with it"
  else
    missing+=" is found neither by nvcc nor in a pip package"
  fi
  how="install libnccl-dev (NVIDIA's apt repository) or nvidia-nccl-cu$("$nvcc" --version | sed -n 's/.*release \([0-9]*\).*/\1/p') (pip), or set NCCL_HOME"
}
# Sets $backend and says which and why: "cpu: one GPU: lab 09 runs on the executor's devices".
choose_devices() {
  local about missing='' how="BACKEND=cpu runs it on the executor's devices" name="lab $(number_of "$lab")"
  backend=cpu
  if [ "${BACKEND:-}" = cpu ]; then
    missing="BACKEND=cpu was asked for"
  elif [ -n "${BROKEN:-}" ]; then
    missing="BROKEN=$BROKEN"
  else
    build_own $build/backend
    read -r gpus about <<<"$($build/backend --gpus)"
    nvcc=$(make -s -f common/build/rules.mk print-nvcc)
    case $gpus in
      0) missing="no CUDA device ($about)" ;;
      1) missing="one GPU" ;;
      *)
        if [ -n "$nvcc" ]; then
          find_nccl
        else
          missing="nvcc is not found" how="install the CUDA toolkit or set NVCC"
        fi
        [ -z "$missing" ] || missing="$gpus GPUs, but $missing"
        ;;
    esac
    [ -n "$missing" ] || backend=cuda
  fi
  if [ $backend = cuda ]; then
    say "cuda: $gpus GPUs, $about"
  elif [ "${BACKEND:-}" = cuda ]; then
    [ "$gpus" -ge 2 ] || missing="it needs two GPUs or more, and there is $missing"
    fail "BACKEND=cuda: $name cannot run on GPUs: $missing; $how"
  else
    say "cpu: $missing: $name runs on the executor's devices"
  fi
}
choose_devices

# ---- Build ----
# compile MODE: the file for the executor, plain or under the checks, with the given parts.
compile() {
  local flags=() test=$folder/$1/sharded_test.o
  [ "$1" = plain ] || flags=(--check -DONLY_F32)
  [ -z "${BROKEN:-}" ] || [ "${broken_facts[2]}" = 0 ] || test=$(dirname "$file")/sharded_test.cu
  exec "$python" common/simt/simtcc "${flags[@]}" -I $given -I common/rung -I common/testing -I common/reference "$file" $folder/$1/local_topk.o "$test" $folder/judge.o -o "$work/$1" 2>"$work/$1.txt"
}
say "$file"
[ -z "${BROKEN:-}" ] || say "broken: ${broken_facts[3]}"
case $backend in
  cpu)
    modes=(plain)
    [ "${CHECKS:-on}" = off ] || modes+=(check)
    [ -z "${BROKEN:-}" ] || modes=("${modes[-1]}")
    [ -e $folder/check/sharded_test.o ] || step "building the program (once; a minute, or several where the cores are busy) ..."
    build_own $folder/judge.o $(for mode in "${modes[@]}"; do echo $folder/$mode/local_topk.o $folder/$mode/sharded_test.o; done)
    for mode in "${modes[@]}"; do
      compile $mode &
    done
    wait
    for mode in "${modes[@]}"; do
      if [ ! -x "$work/$mode" ]; then
        cat "$work/$mode.txt" >&2
        remember 3
        fail "$file does not compile; the first message above says where"
      fi
    done
    # The checks first: a race, or a wait for what does not come, explains a wrong result better than the result does.
    runs=("plain 2" "plain 1" "plain 3")
    [ "${CHECKS:-on}" = off ] || runs=("check 3" "check 1" "${runs[@]}")
    [ "${CASES:-}" != all ] || runs+=("plain 4" "plain 8")
    [ -z "${BROKEN:-}" ] || runs=("$modes ${broken_facts[1]}")
    ;;
  cuda)
    modes=()
    build_own $folder/judge.o
    "$nvcc" -std=c++17 -O3 -arch=native -I $given -I common/rung -I common/testing -I common/reference "$file" $given/local_topk.cu $given/sharded_test.cu $folder/judge.o "${nccl[@]}" -o "$work/cuda" ||
      fail "$file does not compile for the GPUs; the first message above says where"
    runs=("cuda $gpus")
    ;;
esac

# ---- Run ----
passed=0 failed=0 failing= failing_in= one_case=
event() { printf "$@" >>"$events"; }  # as common/testing/events.h has them
event '{"type":"begin","lab":"%s","backend":"%s","checked":%s,"whole":true}\n' "$lab" "$backend" "$([ "${modes[*]:-}" = "plain check" ] && echo true || echo false)"
# line NAME WHAT STATUS
line() {
  if [ "$3" -eq 0 ]; then
    passed=$((passed + 1))
    say "$(printf '%-58s ok' "$1  $2")"
  else
    failed=$((failed + 1))
    say "$(printf '%-58s %sFAIL%s' "$1  $2" "$red" "$plain")"
  fi
}
program=$work/${modes[0]:-cuda}
gain=$("$python" - plots/results/sharded-nvidia-h200-x2.json <<<'
import json, sys
times = json.load(open(sys.argv[1]))["8x128256"]
print(times["three_reductions"] / times["one_shot"])') || exit
if [ -z "$part" ]; then
  predicted=$("$program" predict "$gain" "$events.predicted")
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
    wait $!
    status=$?
    case $status in 129 | 130 | 143) interrupted "$(kill -l $status)" ;; esac
    [ $status -ne 2 ] || fail "$(cat "$work/output")"
    line "$variant" "$types, $devices $([ "$devices" = 1 ] && echo device || echo devices)$how" $status
    [ $status -ne 0 ] || continue
    [ $status -ne 124 ] || echo "not done after 300 s" >>"$work/output"
    say "$(sed "s,$PWD/,,g; s/^/  /" "$work/output" | head -n 40)"  # paths from the root, as everywhere
    # Of what the message names, the file's first line; of a wrong result, the case.
    if [ -z "$failing" ] && failing=$(grep -oE "${file//[.+]/.}:[0-9]+" "$work/output" | head -n 1) && [ -n "$failing" ]; then
      failing=${failing##*:} failing_in="$variant on $devices $([ "$devices" = 1 ] && echo device || echo devices)$how"
    fi
    [ -n "$one_case" ] || one_case=$(sed -nE "s/^FAIL $variant, (\"[^\"]*\"),.*/VARIANT=$variant CASE=\1/p" "$work/output" | head -n 1)
    break
  done
done
unfinished=
say ""
say "$passed passed, $failed failed"
if [ -e "$events.predicted" ]; then
  cat "$events.predicted" >>"$events"
  event '{"type":"end","passed":%d,"failed":%d,"not_run":0}\n' $passed $failed
  remember $((failed > 0))
fi
[ $failed -eq 0 ] || [ -z "${BROKEN:-}" ] || exit 1
if [ $failed -gt 0 ]; then
  say "Next: edit $file"
  next_line() { sed -n "$1{s/^ *//; s/[ ]*\r\?\$//; p}" "$file"; }
  # shown TEXT: as wide as a terminal, as the tests of other labs print it (common/testing/next_step.cpp)
  shown() { if [ ${#1} -le 80 ]; then say "$1"; else say "$(cut -c 1-76 <<<"$1" | sed 's/ [^ ]*$//') ..."; fi; }
  [ -z "$failing" ] || shown "  line $failing fails in $failing_in: $(next_line "$failing")"
  for todo in $("$python" common/commands/todos.py open "$lab" "$file"); do
    shown "  line $todo, $(next_line "$todo" | sed 's,^// *,,')"
  done
  [ -z "$one_case" ] || say "One case alone: make lab$(number_of "$lab") ${FILE:+FILE=$FILE }$one_case"
  say "A hint: make hint$(number_of "$lab")"
  exit 1
fi
[ -z "${TESTS_ONLY:-}$part" ] || exit 0
say "next: ${lab_next[$lab]}"
