#!/bin/bash
# make roofline: draws the chart again, plots/roofline.svg, out of what was measured here. FILE=plots/results/x.json: out of
# other measurements. Without a GPU: out of what was predicted for GPU=h200. PUBLISH=1: out of what the repository shows of this
# machine, in place of its chart (common.sh).
. "$(dirname "$0")/common.sh"
set_up
if [ -n "${FILE:-}" ]; then
  [ -z "${PUBLISH:-}" ] || fail "FILE and PUBLISH=1 exclude each other"
  [ -f "$FILE" ] || fail "FILE=$FILE: no such file. \`make ladder\` measures this machine; plots/results/ has what was measured on others"
  results=$FILE
else
  choose_backend >/dev/null
  check_time_options
  if predicting; then
    results=$(predicted_file) || exit
    [ -f "$results" ] || fail "nothing was predicted for this GPU yet: run make ladder or make lab01, or draw what was measured on
one: make roofline FILE=plots/results/nvidia-h200.json"
    draw_predicted "$results" student
    exit
  fi
  build_own "$(roofs_program)"
  results=$(results_file) || exit
  [ -f "$results" ] || fail "nothing was measured on this machine yet: run make ladder or make lab01, or draw what was
measured elsewhere: make roofline FILE=plots/results/nvidia-h200.json"
fi
"$python" plots/roofline.py "$results" --output "$(chart roofline)" || exit
fusion=$(dirname "$results")/fusion-$(basename "$results")
if [ -f "$fusion" ]; then
  "$python" plots/fusion.py "$fusion" --quiet --out "$(chart fusion).svg"
fi
