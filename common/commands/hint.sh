#!/bin/bash
# make hint02: the next hint of a lab, below those already seen. TODO=4: of those for TODO 4. RESET=1 starts again.
. "$(dirname "$0")/common.sh"
need_python
read_labs
lab=$(find_lab --programs "$1") || exit 2
exec "$python" common/commands/hint.py "$lab" ${TODO:+"$TODO"}
