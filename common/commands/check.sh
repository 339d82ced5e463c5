#!/bin/bash
# make check: grades this working copy, or with SUBMISSIONS and OUT a class. make check-doctor: proves the sandbox.
# check.sh task FOLDER: a task of ON=slurm, on a node.
. "$(dirname "$0")/common.sh"

case ${ON:-} in
  '') ;;
  slurm)
    [ -n "${SUBMISSIONS:-}" ] || fail "ON=slurm grades a class: it needs SUBMISSIONS=folder and OUT=folder"
    [ "${BACKEND:-cpu}" = cpu ] || fail "with ON=slurm, GPUS=1 asks for speed: the nodes measure it, and not this machine"
    export BACKEND=cpu
    ;;
  *) fail "ON=$ON: it can be slurm; without it this machine grades" ;;
esac
# Before anything is built for it.
[ -z "${SUBMISSIONS:-}" ] || [ -d "$SUBMISSIONS" ] || fail "SUBMISSIONS=$SUBMISSIONS: it can be a folder with a student's folder or archive for each, and there is no such folder"
[ -z "${SUBMISSIONS:-}" ] || [ -n "${OUT:-}" ] || fail "SUBMISSIONS needs OUT=folder, where grades and reports go"
set_up
read_labs
# Two graders that begin at once do not build the same files.
if mkdir -p build 2>/dev/null && [ -w build ]; then
  exec 9>build/check.lock && flock 9
fi
targets=("$build/worker")
for lab in $(labs); do
  targets+=("$build/tests/$lab" "$(shared_object "$(solution_of "$lab")" "$build/checked")")
done
if [ "${1:-}" = doctor ]; then
  targets=("$build/worker" build/grade/escapes)
else
  [ -z "${ON:-}" ] && [ "${1:-}" != task ] || targets+=(build/grade/escapes)
  # Speed is measured where there is a GPU, whatever the rest runs on; BACKEND=cpu leaves it out, BACKEND=cuda insists on it.
  choose_backend
  if [ "$backend" = cuda ]; then
    targets+=("$build/speed" build/cuda/worker build/cuda/roofs)
    for lab in $(labs); do
      targets+=("$(shared_object "$(solution_of "$lab")" build/cuda)")
    done
  fi
fi
[ -x "$build/tests/$(labs | tail -n 1)" ] || step "building the tests (once; about a minute)"
build_own "${targets[@]}"
exec 9>&-
[ "${1:-}" != task ] || exec "$python" common/grade/slurm/task.py "$2"

options=()
[ -z "${SOLUTION:-}" ] || options+=(--solutions)
[ -z "${SUBMISSIONS:-}" ] || options+=(--submissions "$SUBMISSIONS")
[ -z "${OUT:-}" ] || options+=(--out "$OUT")
[ -z "${POINTS:-}" ] || options+=(--points "$POINTS")
[ -z "${LABS:-}" ] || options+=(--only "$LABS")
[ -z "${KEEP:-}" ] || options+=(--keep)
[ -z "${JOBS:-}" ] || options+=(--jobs "$JOBS")
if [ -n "${ON:-}" ]; then
  options+=(--on "$ON")
  for name in PARTITION ACCOUNT QOS TIME MEM GPUS EXCLUSIVE PER_TASK; do
    [ -z "${!name:-}" ] || options+=(--slurm "$name=${!name}")
  done
fi
[ "${backend:-cpu}" = cpu ] || options+=(--gpu)
[ "${1:-}" = doctor ] && options+=(--doctor)
exec "$python" common/grade/check.py "${options[@]}"
