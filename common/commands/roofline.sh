#!/bin/bash
# make roofline: draws the chart again. FILE=plots/results/x.json chooses the measurements; default: this machine's.
. "$(dirname "$0")/common.sh"
common/commands/setup.sh --quiet || exit 2
if [ -n "${FILE:-}" ]; then
  results=$FILE
else
  choose_backend >/dev/null
  build "$(roofs_program)" || fail "the course's own code does not compile; see above"
  results=$(results_file)
  [ -f "$results" ] || fail "nothing was measured on this machine yet: run make ladder, or give FILE=$(grep -l '"points"' plots/results/*.json 2>/dev/null | head -1)"
fi
"$python" plots/roofline.py "$results" || exit
say "the chart: plots/roofline.svg"
fusion=$(dirname "$results")/fusion-$(basename "$results")
if [ -f "$fusion" ]; then
  "$python" plots/fusion.py "$fusion" --quiet
fi
