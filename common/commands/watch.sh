#!/bin/bash
# make watch02: tests your file again on every save, until Ctrl-C. CASE=, CHECKS=, BACKEND= as for make lab02.
. "$(dirname "$0")/common.sh"
read_labs
lab=$(find_lab --programs "$1") || exit 2
choose_file "$lab"
set_up
exec "$python" common/commands/watch.py "$lab" "$file"
