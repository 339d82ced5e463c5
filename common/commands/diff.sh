#!/bin/bash
# make diff02: what the solution does otherwise than your file, once yours is right. ANYWAY=1 shows it before.
. "$(dirname "$0")/common.sh"
lab=$(find_lab "$1") || exit 2
kernel=$(kernel_of "$lab")
yours=labs/$lab/$kernel solution=solutions/$lab/$kernel
[ -f "$yours" ] && [ -r "$yours" ] || fail "$yours: no such file"
[ -f "$solution" ] || fail "$solution is not there: whoever gave you the labs kept the solutions"
if [ -z "${ANYWAY:-}" ] && ! "$python" common/commands/status.py --right "$lab"; then
  fail "$yours is not known to be right as it is now (make lab${lab:3:2} tests it), and the difference would give the solution away.
A hint gives away less: make hint${lab:3:2}. To see it all the same: make diff${lab:3:2} ANYWAY=1"
fi
colour=never
[ -n "$bold" ] && colour=always
# Indentation and blank lines are no difference.
difference=$(diff --color=$colour -u -w -B --label "$yours (-)" --label "$solution (+)" "$yours" "$solution")
case $? in
  0) say "Your file and the solution say the same." ;;
  1) say "$difference" && say "" && say "- is yours, + the solution's. Another way may be as good: make lab${lab:3:2} SOLUTION=1 measures it beside yours." ;;
  *) fail "diff could not compare $yours with $solution" ;;
esac
