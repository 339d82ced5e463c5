#!/bin/bash
# Packs the committed course and the two scripts that Gradescope calls. Usage: make_zip.sh [FILE], by default autograder.zip
set -euo pipefail
file=$(realpath -m "${1:-autograder.zip}")
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
# At the root of the archive: Gradescope looks nowhere else.
here=common/grade/gradescope
git archive --format=zip -o "$file" --add-file=$here/setup.sh --add-file=$here/run_autograder --prefix=course/ HEAD
echo "$file: upload it as the autograder ($(du -h "$file" | cut -f1))"
git diff --quiet HEAD || echo "note: what is not committed is not in it"
