#!/bin/bash
# make experiments: the measurements that chapters 8 and 9 of the book speak of, on this machine's GPU.
. "$(dirname "$0")/common.sh"
set_up
choose_backend
[ "$backend" = cuda ] || fail "these experiments are about a GPU's memory and clocks; there is none here. Those of an NVIDIA H200 \
are in plots/results/experiments-nvidia-h200.json"
build_own build/cuda/experiments build/cuda/dependent_copy build/cuda/roofs
results=$(results_folder) || exit
slug=$(build/cuda/roofs --slug)
for program in experiments dependent_copy; do
  file=$results/${program/_/-}-$slug.json
  build/cuda/$program >build/$program.json || fail "the experiments could not be run; see above"
  mv build/$program.json "$file"
  cat "$file"
  say "written to $file"
done
say "theory/08_limit.md and theory/09_measuring.md say what the figures mean"
