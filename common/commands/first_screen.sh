#!/bin/bash
# make: where you are and what to type. Nothing is built for it, and common.sh, which looks for more, is not needed.
cd "$(dirname "$0")/../.." || exit
command -v python3 >/dev/null || exec common/commands/help.sh
# An older one, without tomllib, cannot read labs.toml; it may stand first on the PATH.
for python in /usr/bin/python3 python3; do
  "$python" -IS -c 'import tomllib' 2>/dev/null && exec "$python" common/commands/status.py --short
done
exec common/commands/help.sh
