#!/bin/bash
# Installs what is missing from the distribution's packages. With --quiet it says nothing when all is there; --docs adds
# what the web site needs, --slurm what the tests of grading on Slurm need.
. "$(dirname "$0")/common.sh"

[ -z "${PREBUILT:-}" ] || exit 0  # what was brought along needs no packages

packages=() reasons=()
need() {  # package, what it is for
  packages+=("$1")
  reasons+=("$1 ($2)")
}

# CXX may name another compiler, clang++ say; then that one must be there.
command -v "${CXX:-g++}" >/dev/null || need g++ "compiles kernels and the course's own code"
# Where nvcc compiles the files, for a GPU that is there, it refuses them itself.
nvcc_compiles() {
  [ "${BACKEND:-}" != cpu ] && [ -e /dev/nvidiactl ] && { command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ]; }
}
command -v clang++ >/dev/null || nvcc_compiles || need clang "finds what nvcc would refuse"
command -v addr2line >/dev/null || need binutils "finds source lines"
[ -d /usr/include/catch2 ] || need catch2 "tests"
[ -d /usr/include/eigen3 ] || need libeigen3-dev "the reference in double precision"
[ -f /usr/include/nlohmann/json.hpp ] || need nlohmann-json3-dev "results files"
command -v python3 >/dev/null || need python3 "charts and tables"
has_modules "$python" matplotlib || need python3-matplotlib "charts"
has_modules "$python" numpy || need python3-numpy "the Python binding"

if [[ " $* " == *" --docs "* ]]; then
  command -v doxygen >/dev/null || need doxygen "makes the web site"
  [ -d /usr/share/doxygen-awesome-css ] || need doxygen-awesome-css "its looks"
  [ -d /usr/share/javascript/mathjax ] || need libjs-mathjax "its formulas"
fi
if [[ " $* " == *" --slurm "* ]]; then
  PATH=$PATH:/usr/sbin:/sbin command -v slurmctld >/dev/null || need slurm-wlm "tests of grading on Slurm"
fi
# Only the grading of others' work needs it, and the tests of that: nobody is kept from a lab for want of it.
if [[ " $* " == *" --sandbox "* || " $* " != *" --quiet "* ]]; then
  command -v bwrap >/dev/null || need bubblewrap "the sandbox of make check"
fi

if [ ${#packages[@]} -eq 0 ]; then
  [ "${1:-}" = --quiet ] || { say "everything is installed"; "$python" common/commands/compile_commands.py; }
  exit 0
fi

list=$(printf ', %s' "${reasons[@]}")
say "missing: ${list:2}"
if ! command -v apt-get >/dev/null; then
  fail "this is not a Debian or Ubuntu system (no apt-get). Please install: ${packages[*]}"
fi
run=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || fail "not root, and no sudo. Please have someone run: apt-get install ${packages[*]}"
  run=(sudo)
fi
need_build_folder
log=build/setup.log
say "installing ..."
install() { "${run[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${packages[@]}" >>$log 2>&1; }
: >$log
install || { "${run[@]}" apt-get update >>$log 2>&1 && install; } ||
  fail "apt-get could not install ${packages[*]}; the end of $log:
$(tail -n 5 $log)"
choose_python
has_modules "$python" matplotlib numpy ||
  fail "python3-matplotlib and python3-numpy were installed, but neither /usr/bin/python3 nor $(command -v python3) has them"
say "installed"
