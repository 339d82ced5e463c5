#!/bin/bash
# make decide: what a person decides about a grade in OUT; see common/grade/decide.py.
. "$(dirname "$0")/common.sh"

options=(--out "${OUT:-}")
for name in STUDENT LAB ITEM POINTS BONUS LATE_DAYS COMMENT BY FILL COLUMN; do
  option=${name,,}
  [ -z "${!name+set}" ] || [ -z "${!name}" ] || options+=("--${option//_/-}=${!name}")
done
for name in RELEASE DENY UNDO; do
  [ -z "${!name:-}" ] || options+=("--${name,,}")
done
exec "$python" common/grade/decide.py "${options[@]}"
