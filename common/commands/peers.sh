#!/bin/bash
# make peers: this repository beside PyTorch, torch.compile, Triton, cuDNN, FlashInfer and RAFT on this GPU, in one run.
# OPS=softmax,topk,rms_norm,... DTYPES=f32,f16,bf16 SHAPES=4096x4096,... measure a part, which goes to build/.
# VALUES=normal,descending,ascending,ties,constant,masked,ignored: on such logits; without it on normal ones.
# PEERS=none: only this repository and the floor. VARIANTS=lab04.f16x8,... measures these beside the default.
# PUBLISH=1: in place of what the repository shows: plots/results, plots/peers-h200.svg, the tables in common/peers/README.md.
. "$(dirname "$0")/common.sh"
set_up
[[ ${PEERS:-none} == none ]] || fail "PEERS=$PEERS: it can be none, which leaves all out but this repository and the floor"
[ "${BACKEND:-auto}" != cpu ] || fail "peers are measured on a GPU; BACKEND=cpu leaves nothing to compare with"
BACKEND=cuda choose_backend
targets=build/cuda/roofs
read_labs
for lab in $(labs); do targets+=" $(shared_object "$(solution_of "$lab")" build/cuda)"; done
build_own $targets

# The python that has PyTorch is often not the distribution's.
peers_python=
for candidate in "${PYTHON:-}" python3 /usr/bin/python3; do
  [ -n "$candidate" ] && "$candidate" -c 'import torch' 2>/dev/null && peers_python=$candidate && break
done
[ -n "$peers_python" ] || fail "PyTorch is not installed: the peers need it, with CUDA; see https://pytorch.org (PYTHON=path names
the python that has it)"

slug=$("$(roofs_program)" --slug)
output=$(results_folder) || exit
output+=/peers-$slug.json
[ -z "${OPS:-}${DTYPES:-}${SHAPES:-}${VALUES:-}${PEERS:-}" ] || output=build/peers-$slug-part.json
"$peers_python" common/peers/measure.py --output "$output.new" --ops "${OPS:-}" --dtypes "${DTYPES:-}" --shapes "${SHAPES:-}" \
  --values "${VALUES:-}" --variants "${VARIANTS:-}" --peers "${PEERS:-}"
status=$?
[ $status -eq 0 ] || { [ ! -s "$output.new" ] || say "what was measured until then: $output.new"; exit $status; }
mv "$output.new" "$output" || exit 2
say ""
"$python" plots/peers.py --table "$output" || exit
if [[ $output == plots/* ]]; then
  "$python" plots/peers.py --draw "$output" --output "$(chart peers)" || say "draw it where matplotlib is: python3 plots/peers.py --draw $output"
  [ -z "${PUBLISH:-}" ] || "$python" plots/peers.py --readme common/peers/README.md plots/results || exit
fi
say "the figures: $output"
