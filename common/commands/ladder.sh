#!/bin/bash
# make ladder: builds every solution, checks each against the reference, measures each, prints the ladder, draws the chart.
# Without a GPU each is predicted for one (GPU=h200) in place of measured.
. "$(dirname "$0")/common.sh"
started=$SECONDS

set_up
read_labs
check_time_options
step "building the course (once; about two minutes on two cores) ..."
choose_backend
lab_list=$(for lab in $(labs); do is_step "$lab" || echo "$lab"; done)
step_list=$(for lab in $(labs); do ! is_step "$lab" || echo "$lab"; done)
rungs=$(for lab in $lab_list; do shared_object "$(solution_of "$lab")" "build/$backend"; done)
checked_of() { shared_object "$(solution_of "$1")" build/cpu/checked; }
if predicting; then
  # With the first lab comes what all need to be compiled. The others are compiled while those before them are predicted.
  build_own "$build/profile" "$build/worker" "$(checked_of ${lab_list%%[[:space:]]*})"
else
  checked=
  [ -n "${PREBUILT:-}" ] || checked="$build/worker $(for lab in $lab_list; do checked_of "$lab"; done)"
  build_own "build/$backend/worker" "$build/bench" "$(roofs_program)" $rungs $checked
  measure_roofs
  prepare_bench
fi

step "the logits of a small language model of the course's own words ..."
"$python" common/bench/bigrams.py --output build/bigrams || exit
words=$(wc -l <build/bigrams.words)

failed=0
count=$(wc -w <<<"$lab_list") number=0
# step_of LAB BACKEND: says what comes
step_of() {
  local -n of=shape_$2
  local cols shapes=()
  number=$((number + 1))
  for cols in "${shape_cols[@]}"; do shapes+=("${of[$cols]% *} x $cols"); done
  step "[$number/$count] $1: $(printf '%s\n' "${shapes[@]}" | paste -sd, | sed 's/,/, /g; s/\(.*\), /\1 and /') normal logits, $words x $words bigrams"
}
topk_of() { topk=(); [ "${lab_operator[$1]}" != softmax_topk ] || topk=(--topk-output build/bigrams.topk); }

# line_of RESULTS LAB COLS: its times, as soon as they are there. Whoever waits sees the ladder climb.
line_of() {
  local times
  times=$("$python" common/bench/predicted_table.py "$1" --lab "$2" --cols "$3" --line)
  [ -z "$times" ] || step "$times"
}

# predict_all RESULTS: as many labs at a time as there are cores, a make for each, which says what is done (common/build/predictions.mk). (One
# make for all would compile every lab before it predicts the first.) The ladder shows them in their order.
predict_all() {
  local lab part parts=("${shape_cols[@]}" bigrams) goals=() old=() said there=" " made folder=build/ladder/${gpu##*/}
  folder=${folder%.json}
  for lab in $lab_list; do
    for part in "${parts[@]}"; do goals+=("$folder/$lab.$part.there"); done
    [ -z "${PREBUILT:-}" ] || old+=(-o "$(checked_of "$lab")")
  done
  [ -z "${PREBUILT:-}" ] || old+=(-o "$build/profile" -o "$build/worker")
  exec {said}< <(printf '%s\n' "${goals[@]}" | xargs -P "$jobs" -n ${#parts[@]} \
    make -s -k --no-print-directory -j"$jobs" -f common/build/rules.mk predicted_gpu="$gpu" "${old[@]}" 2> >(grep -v '^make' >&2))
  for lab in $lab_list; do
    step_of "$lab" cuda
    for part in "${parts[@]}"; do
      made=
      until [[ $there == *" $lab.$part "* ]] || ! read -r -u "$said" made; do there+="$made "; done
      if [[ $there != *" $lab.$part "* ]]; then
        failed=1
        continue
      fi
      "$python" common/bench/predict.py --gpu "$gpu" --take "$folder/$lab.$part.json" --results "$1" --command "make ladder" || failed=1
      [ $part = bigrams ] || line_of "$1" "$lab" $part
    done
  done
  exec {said}<&-
}

# measure LAB ROWS COLS [more options for bench]
measure() {
  local lab=$1 rows=$2 cols=$3
  shift 3
  count_options "$(solution_of "$lab")"
  "${bench[@]}" --rung "$(shared_object "$(solution_of "$lab")" build/$backend)" --lab "$lab" --source solution \
    --rows "$rows" --cols "$cols" --results "$results" --command "make ladder" "${counts[@]}" "$@" || failed=1
}

measure_all() {
  local lab cols rows quadratic
  for lab in $lab_list; do
    step_of "$lab" "$backend"
    topk_of "$lab"
    for cols in "${shape_cols[@]}"; do
      read -r rows quadratic <<<"$(rows_of "$cols")"
      measure "$lab" "$rows" "$cols" $(variant_options "$lab" "$quadratic")
      line_of "$results" "$lab" $cols
    done
    measure "$lab" "$words" "$words" --input bigrams --matrix build/bigrams.f32 --matrix-rows "$words" --matrix-cols "$words" \
      --k 5 $(variant_options "$lab" 64) "${topk[@]}"
  done
}

if predicting; then
  results=$(predicted_file) || exit
  predict_all "$results"
else
  results=$(results_file) || exit
  measure_all
fi

# Another operator than the ladder's: measured by itself, with a chart of its own.
predicting && [ -n "$step_list" ] && step "$step_list is measured on a GPU, or with TIME=executor"
for lab in $(predicting || echo "$step_list"); do
  step "$lab: a decode step of a Swap-FFN layer, fused and not"
  rung=$(shared_object "$(solution_of "$lab")" build/$backend)
  if ! build "$rung"; then
    say "$lab does not build here; with nvcc it needs cuBLAS"
    failed=1
    continue
  fi
  measure_step "$lab" "$(solution_of "$lab")" solution "$rung" || failed=1
done

say ""
if predicting; then
  "$python" common/bench/predicted_table.py "$results" --gpu "$gpu" || exit
  draw_predicted "$results" student || exit
else
  "$python" common/bench/table.py "$results" --source solution || exit
  beside=
  if [ -n "${PREDICT:-}" ]; then
    build_own "$build/profile"
    beside=$(predicted_file) || exit
    number=0
    predict_all "$beside"
    say ""
    "$python" common/bench/predicted_table.py "$beside" --gpu "$gpu" || exit
  fi
  "$python" plots/roofline.py "$results" --output "$(chart roofline)" ${beside:+--beside "$beside"} || exit
fi
"$python" plots/climb.py "$results" --output "$(chart climb)" || exit
say ""
say "What top-K is for: the next word, by lab05 on the bigrams of this course's own text."
"$python" common/bench/bigrams.py --predict build/bigrams --k 5 || exit
say ""
[ $failed -eq 0 ] || fail "a solution is wrong or could not be measured; see above"
say "done in $((SECONDS - started)) s. The charts: $(chart roofline).svg, $(chart climb).svg. The figures: $results"
say "next: labs/lab01_naive/README.md"
