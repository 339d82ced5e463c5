#!/bin/bash
# make probe: measures the GPU that is there (latencies, bandwidths, rates, launches) and makes a machine file of it, so that times can be
# predicted for it elsewhere: GPU=plots/local/gpu-x.json. A second on the GPU.
. "$(dirname "$0")/common.sh"
set_up
choose_backend
[ "$backend" = cuda ] || fail "make probe measures a GPU, and there is none here that CUDA can use. make lab02 GPU=h200 predicts for one"
build build/cuda/probe build/cuda/roofs || fail "the probe does not compile; see above"
slug=$(build/cuda/roofs --slug) || exit 2
folder=$(results_folder) || exit
build/cuda/probe >"$folder/probe-$slug.json.new" && mv "$folder/probe-$slug.json.new" "$folder/probe-$slug.json" || fail "the GPU could not be measured"
file=plots/local/gpu-$slug.json
mkdir -p plots/local
"$python" common/simt/timing/probe/machine_file.py "$folder/probe-$slug.json" --output "$file" || exit
say ""
say "measured: $folder/probe-$slug.json"
say "To predict for this GPU on any machine: make ladder GPU=$file"
