#!/bin/bash
# make new-lab NAME=lab10_thing: a new lab that works, to be made one's own; see theory/syllabus.md.
. "$(dirname "$0")/common.sh"
need_python
exec "$python" common/commands/new_lab.py "${NAME:-}"
