#!/bin/bash
# make ladder: builds every solution, checks each against the reference, measures each, prints the ladder, draws the chart.
. "$(dirname "$0")/common.sh"
started=$SECONDS

common/commands/setup.sh --quiet || exit 2
step "building the course (a minute the first time) ..."
choose_backend
[ "$backend" = cpu ] || fail "make ladder does not measure on a GPU yet; BACKEND=cpu climbs the ladder on the CPU"
lab_list=$(labs)
rungs=$(for lab in $lab_list; do echo "$build/solutions/$lab/$(kernel_of "$lab" | sed 's/cu$/so/')"; done)
build "$build/worker" "$build/bench" "$build/roofs" $rungs || fail "the course's own code does not compile; see above"
measure_roofs

step "counting the course's own words (the logits of a small language model) ..."
mapfile -t texts < <(find README.md labs theory -name '*.md' | sort)
"$python" common/bench/bigrams.py --output build/bigrams "${texts[@]}" || exit
words=$(wc -l <build/bigrams.words)

results=$(results_file)
failed=0
# run LAB ROWS COLS [more options for bench]
measure() {
  local lab=$1 rows=$2 cols=$3
  shift 3
  "$build/bench" --worker "$build/worker" --rung "$build/solutions/$lab/$(kernel_of "$lab" | sed 's/cu$/so/')" --lab "$lab" \
    --source solution --rows "$rows" --cols "$cols" --results "$results" --command "make ladder" "$@" || failed=1
}

count=$(wc -w <<<"$lab_list") number=0
for lab in $lab_list; do
  number=$((number + 1))
  step "[$number/$count] $lab: 64 x 4096 and 16 x 50257 normal logits, $words x $words bigrams"
  measure "$lab" 64 4096 --quadratic per_element=4 --roofs build/roofs.json
  measure "$lab" 16 50257 --quadratic per_element=1
  topk=()
  [ "$lab" = lab05_topk ] && topk=(--topk-output build/bigrams.topk)
  measure "$lab" "$words" "$words" --input bigrams --matrix build/bigrams.f32 --matrix-rows "$words" --matrix-cols "$words" \
    --k 5 --quadratic per_element=64 "${topk[@]}"
done

say ""
"$python" common/bench/table.py "$results" --source solution || exit
"$python" plots/roofline.py "$results" || exit
say ""
say "What top-K is for: the next word, by lab05 on the bigrams of this course's own text."
"$python" common/bench/bigrams.py --predict build/bigrams --k 5 || exit
say ""
[ $failed -eq 0 ] || fail "a solution is wrong or could not be measured; see above"
say "done in $((SECONDS - started)) s. The chart: plots/roofline.svg. The figures: $results"
say "next: labs/lab01_naive/README.md"
