#!/bin/bash
# make: where you are and what to type. Nothing is built for it, and common.sh, which looks for more, is not needed.
cd "$(dirname "$0")/../.." || exit
command -v python3 >/dev/null || exec common/commands/help.sh
PYTHONDONTWRITEBYTECODE=1 exec python3 common/commands/status.py --short
