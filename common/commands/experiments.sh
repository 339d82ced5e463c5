#!/bin/bash
# make experiments: the measurements that chapters 8 and 9 of the book speak of, on this machine's GPU.
. "$(dirname "$0")/common.sh"
set_up
choose_backend
[ "$backend" = cuda ] || fail "these experiments are about a GPU's memory and clocks; there is none here. Those of an NVIDIA H200 \
are in plots/results/experiments-nvidia-h200.json"
build build/cuda/experiments build/cuda/roofs || fail "the course's own code does not compile; see above"
results=$(results_folder) || exit
results+=/experiments-$(build/cuda/roofs --slug).json
build/cuda/experiments >build/experiments.json || fail "the experiments could not be run; see above"
mv build/experiments.json "$results"
cat "$results"
say "written to $results; theory/08_limit.md and theory/09_measuring.md say what the figures mean"
