#!/bin/bash
# make sweep02: the variants of a lab over widths of a row, 256 to 8192; OVER=threads: over threads per block, 32 to 1024. Prints a
# table and draws plots/sweep02-cols.svg. Without a GPU the times are predicted for one (GPU=h200).
. "$(dirname "$0")/common.sh"
read_labs
lab=$(find_lab "$1") || exit 2
! is_step "$lab" || fail "$lab has no rows whose width could be varied"
choose_file "$lab"
over=${OVER:-cols}
case $over in
  cols) points="256 512 1024 2048 4096 8192" ;;
  threads) points="32 64 128 256 512 1024" ;;
  *) fail "OVER=$over: it can be cols or threads" ;;
esac

set_up
check_time_options
choose_backend
[ "$backend" = cuda ] || predicting || fail "TIME=executor: the executor's time says nothing about a block size; leave it out"
folder=build/sweep/$lab
rm -rf "$folder"
mkdir -p "$folder" || exit
[ -z "${VARIANT:-}" ] || only=(--variant "$VARIANT")

# rung_of FILE: its build for this backend
rung_of() { if predicting; then shared_object "$1" build/cpu/checked; else shared_object "$1" build/cuda; fi; }

files=() rungs=()
for point in $points; do
  each=$file
  if [ "$over" = threads ]; then
    each=$folder/threads-$point.cu
    "$python" common/commands/block_size.py "$file" "$point" "$each" || exit 2
  fi
  files+=("$each")
  rungs+=("$(rung_of "$each")")
done
step "building ..."
if predicting; then
  build "$build/worker" "$build/profile" "${rungs[@]}" || fail "$file does not compile; the first message above says where"
else
  build "build/$backend/worker" "$build/bench" "$(roofs_program)" "${rungs[@]}" || fail "$file does not compile; the first message above says where"
  measure_roofs
  prepare_bench
fi

number=0 failed=0
for point in $points; do
  cols=4096 rung=${rungs[$number]} results=$folder/$over-$point.json
  [ "$over" = threads ] || cols=$point
  number=$((number + 1))
  step "[$number/$(wc -w <<<"$points")] $over = $point"
  if predicting; then
    predict "$lab" "$rung" student "$results" --command "make sweep$(number_of "$lab")" --rows 4096 --cols $cols
  else
    "${bench[@]}" --rung "$rung" --lab "$lab" --source student --rows 4096 --cols $cols --results "$results" \
      --command "make sweep$(number_of "$lab")" $(variant_options "$lab" 64) >/dev/null
  fi
  case $? in 0) ;; 1) failed=1 ;; *) exit 2 ;; esac
  # Nothing that is wrong at the first point is told of at each of the others, too.
  ! grep -q '"points": \[\]' "$results" || fail "no variant is right at $over = $point: \`make lab$(number_of "$lab")\` says what is wrong; SOLUTION=1 sweeps the solution"
done
say ""
"$python" plots/sweep.py "$folder"/$over-*.json --over "$over" "${only[@]}" --output "$(chart "sweep$(number_of "$lab")-$over")" || exit
[ $failed -eq 0 ] || fail "some variants are wrong, or refuse a shape, and are left out; \`make lab$(number_of "$lab")\` says more"
say "the chart: $(chart "sweep$(number_of "$lab")-$over").svg"
