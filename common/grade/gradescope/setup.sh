#!/bin/bash
# Gradescope runs this once, as root, when it builds the image: installs the packages, builds the course, tries the sandbox.
set -euo pipefail
root=${AUTOGRADER_ROOT:-/autograder}
cd "$root/source/course"
if [ -z "${PREBUILT_PACKAGES:-}" ]; then  # set where the packages are there already
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends make git ca-certificates >/dev/null
fi
# The solutions, as a student would hand them in. All that students' runs need is built on the way.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/submissions/the_solutions"
cp -r solutions "$work/submissions/the_solutions/labs"
if make check SUBMISSIONS="$work/submissions" OUT="$work/out"; then
  echo "setup: the solutions were graded and pass"
else
  echo "setup: grading the solutions did not succeed; see above" >&2
  exit 1
fi
