#!/bin/bash
# make diff02: how the solution differs from your file, once yours is right. ANYWAY=1 shows it before.
. "$(dirname "$0")/common.sh"
read_labs
lab=$(find_lab "$1") || exit 2
kernel=$(kernel_of "$lab")
yours=labs/$lab/$kernel solution=solutions/$lab/$kernel
[ -f "$yours" ] && [ -r "$yours" ] || fail "$yours: no such file"
[ -f "$solution" ] || fail "$solution is missing: this copy of the course has no solutions"
if [ -z "${ANYWAY:-}" ] && ! "$python" common/commands/status.py --right "$lab"; then
  fail "$yours has not passed its tests as it is now, and the difference would give the solution away.
Run make lab$(number_of "$lab") first. A hint gives away less: make hint$(number_of "$lab").
To see the difference all the same: make diff$(number_of "$lab") ANYWAY=1"
fi
colour=never
[ -n "$bold" ] && colour=always
# Indentation and blank lines are no difference.
difference=$(diff --color=$colour -u -w -B --label "$yours (-)" --label "$solution (+)" "$yours" "$solution")
case $? in
  0) say "Your file and the solution are the same." ;;
  1) say "$difference" && say "" && say "- is yours, + is the solution's. Yours may be as good:" &&
    say "make lab$(number_of "$lab") SOLUTION=1 measures the solution beside it." ;;
  *) fail "diff could not compare $yours with $solution" ;;
esac
