#!/bin/bash
# make hint02: the next hint of a lab, below those already seen. RESET=1 starts again.
. "$(dirname "$0")/common.sh"

lab=$(find_lab "$1") || exit 2
hints=labs/$lab/hints.md
total=$(grep -c '^## Hint ' "$hints")
mkdir -p build/hints 2>/dev/null || fail "cannot write to $PWD/build: is this folder read-only?"
seen_file=build/hints/$lab
seen=$(cat "$seen_file" 2>/dev/null || echo 0)
[ -n "${RESET:-}" ] && seen=0
[[ $seen =~ ^[0-9]+$ ]] || seen=0
[ "$seen" -lt "$total" ] && seen=$((seen + 1))
echo "$seen" >"$seen_file"
"$python" common/commands/progress.py hint "$lab" "$seen"

awk -v last="$seen" '/^## Hint / { n++ } n >= 1 && n <= last' "$hints"
say ""
if [ "$seen" -lt "$total" ]; then
  say "hint $seen of $total. make hint${lab:3:2} shows the next; make lab${lab:3:2} tests your file."
else
  say "that was the last of $total hints. The solution: solutions/$lab/$(kernel_of "$lab"). make hint${lab:3:2} RESET=1 starts again."
fi
