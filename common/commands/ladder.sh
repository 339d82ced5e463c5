#!/bin/bash
# make ladder: builds every solution, checks each against the reference, measures each, prints the ladder, draws the chart.
. "$(dirname "$0")/common.sh"
started=$SECONDS

set_up
[ -z "${GPU:-}" ] || "$python" common/bench/predict.py --check-gpu --gpu "$GPU" || exit 2
step "building the course (a minute the first time) ..."
choose_backend
lab_list=$(for lab in $(labs); do is_step "$lab" || echo "$lab"; done)
step_list=$(for lab in $(labs); do ! is_step "$lab" || echo "$lab"; done)
rungs=$(for lab in $lab_list; do echo "build/$backend/solutions/$lab/$(kernel_of "$lab" | sed 's/cu$/so/')"; done)
checked=
[ -n "${PREBUILT:-}" ] || checked="$build/worker $(for lab in $lab_list; do shared_object "solutions/$lab/$(kernel_of "$lab")" build/cpu/checked; done)"
build "build/$backend/worker" "$build/bench" "$(roofs_program)" $rungs $checked || fail "the course's own code does not compile; see above"
measure_roofs
prepare_bench

step "counting the course's own words (the logits of a small language model) ..."
mapfile -t texts < <(find README.md common labs theory -name '*.md' 2>/dev/null | sort)
"$python" common/bench/bigrams.py --output build/bigrams "${texts[@]}" || exit
words=$(wc -l <build/bigrams.words)

results=$(results_file) || exit
failed=0
# measure LAB ROWS COLS [more options for bench]
measure() {
  local lab=$1 rows=$2 cols=$3
  shift 3
  count_options "solutions/$lab/$(kernel_of "$lab")"
  "${bench[@]}" --rung "build/$backend/solutions/$lab/$(kernel_of "$lab" | sed 's/cu$/so/')" --lab "$lab" --source solution \
    --rows "$rows" --cols "$cols" --results "$results" --command "make ladder" "${counts[@]}" "$@" || failed=1
}

# Rows of 4096 columns, rows of 50257, and on how many of them a variant is measured whose work grows with cols squared.
shapes=(64 4 16 1)
[ "$backend" = cpu ] || shapes=(4096 4096 2048 64)

count=$(wc -w <<<"$lab_list") number=0
for lab in $lab_list; do
  number=$((number + 1))
  step "[$number/$count] $lab: ${shapes[0]} x 4096 and ${shapes[2]} x 50257 normal logits, $words x $words bigrams"
  measure "$lab" "${shapes[0]}" 4096 --quadratic per_element="${shapes[1]}"
  measure "$lab" "${shapes[2]}" 50257 --quadratic per_element="${shapes[3]}"
  topk=()
  [ "$lab" = lab05_topk ] && topk=(--topk-output build/bigrams.topk)
  measure "$lab" "$words" "$words" --input bigrams --matrix build/bigrams.f32 --matrix-rows "$words" --matrix-cols "$words" \
    --k 5 --quadratic per_element=64 "${topk[@]}"
done

# Another operator than the ladder's: measured by itself, with a chart of its own.
for lab in $step_list; do
  step "$lab: a decode step of a Swap-FFN layer, fused and not"
  rung=build/$backend/solutions/$lab/$(kernel_of "$lab" | sed 's/cu$/so/')
  if ! build "$rung"; then
    say "$lab does not build here; with nvcc it needs cuBLAS"
    failed=1
    continue
  fi
  measure_step "$lab" "solutions/$lab/$(kernel_of "$lab")" solution "$rung" || failed=1
done

say ""
"$python" common/bench/table.py "$results" --source solution || exit
"$python" plots/roofline.py "$results" --output "$(chart roofline)" || exit
if [ "$backend" = cpu ] && [ -z "${PREBUILT:-}" ]; then
  say ""
  say "On this machine's processor the ladder is no GPU's. Predicted for one that is not here:"
  build "$build/profile" || fail "the course's own code does not compile; see above"
  for lab in $lab_list; do
    say ""
    "$python" common/bench/predict.py --gpu "${GPU:-h200}" --lab "$lab" --rung "$(shared_object "solutions/$lab/$(kernel_of "$lab")" build/cpu/checked)" || failed=1
  done
fi
say ""
say "What top-K is for: the next word, by lab05 on the bigrams of this course's own text."
"$python" common/bench/bigrams.py --predict build/bigrams --k 5 || exit
say ""
[ $failed -eq 0 ] || fail "a solution is wrong or could not be measured; see above"
say "done in $((SECONDS - started)) s. The chart: $(chart roofline).svg. The figures: $results"
say "next: labs/lab01_naive/README.md"
