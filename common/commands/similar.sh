#!/bin/bash
# make similar: which files of a class are alike; see common/grade/similar.py. make check of a class does it, too.
. "$(dirname "$0")/common.sh"

[ -n "${SUBMISSIONS:-}" ] && [ -n "${OUT:-}" ] || fail "SUBMISSIONS=folder OUT=folder say whose files are compared and where the list goes"
options=("$SUBMISSIONS" "$OUT")
[ -z "${LABS:-}" ] || options+=(--only "$LABS")
[ -z "${ALSO:-}" ] || options+=(--also "$ALSO")
exec "$python" common/grade/make_similar.py "${options[@]}"
