# Sourced by every command: where things are, how to speak, how to build.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

build=build/cpu
jobs=$(nproc 2>/dev/null || echo 2)

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
  bold=$'\e[1m' dim=$'\e[2m' red=$'\e[31m' plain=$'\e[0m'
else
  bold='' dim='' red='' plain=''
fi

# Wraps what it reads to the terminal that stderr is; elsewhere lines stay as they are.
fit() {
  local columns
  if [ -t 2 ] && columns=$(stty size <&2 2>/dev/null) && [ "${columns#* }" -gt 20 ]; then
    fold -s -w "${columns#* }" | sed 's/ *$//'
  else
    cat
  fi
}
say() { printf '%s\n' "$*" 2>/dev/null; }  # no word of a reader that has ended
step() { printf '%s%s%s\n' "$dim" "$*" "$plain" | fit >&2; }
fail() {
  printf '%serror:%s %s\n' "$red" "$plain" "$*" | fit >&2
  exit 2
}

# Looked for, not imported: that takes ten times as long.
has_modules() {  # PYTHON MODULE...
  "$1" -c 'import sys, importlib.util as u; sys.exit(not all(map(u.find_spec, sys.argv[1:])))' "${@:2}" 2>/dev/null
}

# Sets $python: the python3 that is new enough (tomllib: 3.11) and has the packages. They come from the distribution, for the
# distribution's python3, while another one (pyenv, conda) may stand first on the PATH. Where none has the packages, one that is
# new enough. The scripts that make runs get the same one.
choose_python() {
  local modules
  for modules in "tomllib matplotlib numpy" tomllib; do
    for python in /usr/bin/python3 python3; do
      ! has_modules "$python" $modules || break 2
    done
  done
  export LADDER_PYTHON=$python
}
choose_python

# nearest WORD CANDIDATE...: " Do you mean CANDIDATE?", if one is like the word; else nothing.
nearest() {
  local found
  found=$("$python" -c 'import difflib, sys; print(*difflib.get_close_matches(sys.argv[1], sys.argv[2:], 1, 0.6))' "$@" 2>/dev/null)
  [ -z "$found" ] || echo " Do you mean $found?"
}

# What the Makefile does not know in the command line (make lab02 VARAINT=tree) would be left out without a word.
for option in ${UNKNOWN_OPTIONS:-}; do
  fail "there is no option $option=.$(nearest "${option^^}" $KNOWN_OPTIONS) \`make help\` lists them."
done
. common/commands/options.sh
refuse_unused_options
refuse_other_values

# For what installs nothing.
need_python() {
  local version
  version=$("$python" -c 'import platform; print(platform.python_version())' 2>/dev/null) || fail "python3 is not installed: make setup installs it"
  has_modules "$python" tomllib || fail "python3 is $version, which is too old: the course needs 3.11 or later, as Debian 12 and Ubuntu 24.04 have it"
}

# Installs what is missing. The python3 is chosen again afterwards: only now one may have the packages.
set_up() {
  common/commands/setup.sh --quiet "$@" || exit 2
  choose_python
  need_python
}

# cannot_write FOLDER: ends the command.
cannot_write() { fail "cannot write to $PWD/$1: is this folder read-only, or another user's?"; }
need_build_folder() { mkdir -p build 2>/dev/null && [ -w build ] || cannot_write build; }

# Builds targets of common/build/rules.mk. What a compiler says is shown; what make says about it is not.
# PREBUILT=1: build/ was brought along from another machine, as a GPU machine without a compiler needs it. Nothing is built.
build() {
  local target
  if [ -n "${PREBUILT:-}" ]; then
    for target; do
      [ -e "$target" ] || fail "PREBUILT=1, but $target is missing: build it on a machine with compilers and copy it here"
    done
    return
  fi
  need_build_folder
  local make=(make -s --no-print-directory -j"$jobs" -f common/build/rules.mk)
  if [ -t 2 ]; then
    "${make[@]}" --trace "$@" 2> >(sed -u $'/^make/d; s/^/\r\e[K/' >&2) |
      show_progress "$("${make[@]}" -n --trace "$@" 2>/dev/null | grep -c "$traced")"
  else
    "${make[@]}" "$@" 2> >(grep -v '^make' >&2)
  fi
}

# The course's own parts, or the end of the command.
build_own() { build "$@" || fail "the course's own code does not compile; see above"; }

# build_rung FILE TARGET...: builds them out of FILE. If that fails, $first_error is the first error in FILE, which a command says last:
# a template's error is followed by a screen of notes.
build_rung() {
  local file=$1 said status
  shift
  need_build_folder
  said=$(mktemp build/said.XXXXXX) || cannot_write build
  build "$@" 2> >(awk -f common/commands/once.awk | tee "$said" >&2)
  status=$?
  wait $!  # for tee
  # x.cu:59:72: error: expected ';' -> 59: expected ';'. By line: two programs have read the file, one after the other.
  first_error=$(grep -F "$file:" "$said" | sed -nE 's/.*:([0-9]+):[0-9]+: (fatal )?error: /\1: /p' |
    sort -s -n | sed -e 's/: a function-definition is not allowed here.*/&; is a } missing above it?/;q')
  rm -f "$said"
  return $status
}
does_not_compile() {
  [ -z "$first_error" ] || fail "$file does not compile. The first error is in line $first_error"
  fail "$file does not compile; the first message above says where"
}

# What make --trace prints where it begins a target.
traced='^common/build/[a-z]*\.mk:[0-9]*: '

# show_progress N: counts these lines on the terminal, "building: 12 of 58", and takes the line away at the end. A few targets
# take no time that one would wonder about.
show_progress() {
  local line done=0
  while IFS= read -r line; do
    [ "$1" -ge 8 ] && [[ $line =~ $traced ]] && printf '\r\e[K%sbuilding: %d of %d%s' "$dim" $((++done)) "$1" "$plain" >&2
  done
  [ "$1" -lt 8 ] || printf '\r\e[K' >&2
}

# For a command that tests a file: Ctrl-C, a closed window, a reader of its output that has ended (| head -3). Such a run says nothing of the
# file and is not recorded. What takes long runs in the background and is waited for, as a signal interrupts wait, but no command in the
# foreground. $unfinished is set until there is a result.
end_on_signals() {
  local signal
  unfinished=1
  for signal in INT TERM HUP PIPE; do trap "interrupted $signal" $signal; done
}
# Ends what this shell runs in the background. A variable with its numbers is set a moment after it has begun, and a signal may come between.
end_jobs() {
  local running
  running=$(jobs -pr)
  # TERM: a shell may have INT ignored by what it runs in the background.
  [ -z "$running" ] || { kill -s TERM $running; wait $running; } 2>/dev/null
}
interrupted() {  # SIGNAL
  trap '' INT TERM HUP PIPE
  end_jobs
  [ -z "${made:-}" ] || rm -f "$made"  # the pipe of lab.sh: a shell that a signal ends runs no trap for EXIT
  [ ! -t 2 ] || printf '\r\e[K' >&2
  [ -z "$unfinished" ] || step "interrupted (SIG$1): the tests did not end, and nothing of this run is recorded"
  trap - INT TERM HUP PIPE
  kill -s "$1" $$
  exit 1
}

# Sets what labs/labs.toml says (common/course/__main__.py).
lab_names=() program_names=()
read_labs() {
  local facts
  has_modules "$python" tomllib || set_up
  facts=$(PYTHONPATH=common "$python" -m course shell) || exit 2
  eval "${facts//declare -A/declare -gA}"
}
# request_for NAME=TEXT ... NAME:=JSON ...: what a lab's test program is asked for (common/testing/request.h); it reads it from a file.
request_for() { PYTHONPATH=common "$python" -m course request backend_shown:=true "$@"; }
labs() { [ ${#lab_names[@]} -eq 0 ] || printf '%s\n' "${lab_names[@]}"; }
# So with those that are no rungs but programs.
all_labs() { [ ${#lab_names[@]} -eq 0 ] || printf '%s\n' "${lab_names[@]}" "${program_names[@]}" | LC_ALL=C sort; }
# The same where nothing may be installed for it: there may then be no labs.
read_labs_if_possible() { ! has_modules "$python" tomllib || read_labs; }

# "02" of lab02_smem, "06b" of lab06b_topk: what a command ends with.
number_of() { local number=${1#lab}; echo "${number%%_*}"; }

# The folder name of a lab that was given as 02, 2 or 02_smem. --programs: also of one that is no rung but a program.
find_lab() {
  local name programs= wanted
  [ "$1" != --programs ] || { programs=1; shift; }
  wanted=$1
  [[ $wanted =~ ^[0-9][a-z]?$ ]] && wanted=0$wanted
  for name in $(all_labs); do
    [[ $name == "lab$wanted" || $name == "lab${wanted}_"* ]] || continue
    [ -n "$programs" ] || ! is_program "$name" || fail "$name is part of a program of several devices, which has no rung: make lab$(number_of "$name"), watch$(number_of "$name") and hint$(number_of "$name") are for it"
    echo "$name"
    return
  done
  fail "there is no lab '$1'. The labs are: $(all_labs | paste -sd' ')"
}
is_program() { [[ " ${program_names[*]} " == *" $1 "* ]]; }

kernel_of() { echo "${lab_kernel[$1]}"; }
solution_of() { echo "solutions/$1/$(kernel_of "$1")"; }

# Which file a command is about, by FILE, SOLUTION and BROKEN: sets $file, and $source as results name it. Of a wrong program also
# $broken_facts (common/testing/broken_program.py).
choose_file() {
  local kernel facts
  kernel=$(kernel_of "$1")
  if [ -n "${FILE:-}" ]; then
    [ -z "${SOLUTION:-}${BROKEN:-}" ] || fail "FILE, SOLUTION=1 and BROKEN exclude each other"
    file=$FILE source=$FILE
  elif [ -n "${BROKEN:-}" ]; then
    [ -z "${SOLUTION:-}" ] || fail "FILE, SOLUTION=1 and BROKEN exclude each other"
    if is_program "$1"; then
      facts=$("$python" common/testing/broken_program.py "$BROKEN" 2>&1) || fail "${facts#error: }"
      mapfile -t broken_facts <<<"$facts"
      file=build/broken/$1/$BROKEN/$kernel
    else
      file=$("$python" common/testing/broken.py "$1" "$BROKEN" 2>&1) || fail "${file#error: }"
    fi
    source=$file
  elif [ -n "${SOLUTION:-}" ]; then
    file=solutions/$1/$kernel source=solution
  else
    file=labs/$1/$kernel source=student
  fi
  [[ $file == *.cu ]] || fail "$file: a rung is a .cu file"
  [ -f "$file" ] && [ -r "$file" ] || fail "$file: no such file"
}

# The built form of a .cu file: build/cpu/labs/.../x.so, or build/cpu/abs/... for one outside the repository.
shared_object() {
  local path
  path=$(realpath --relative-base=. "$1")
  case $path in
    /*) echo "$2/abs${path%.cu}.so" ;;
    *) echo "$2/${path%.cu}.so" ;;
  esac
}

# The instrumented build of a lab's solution, on which predictions are counted. Nothing, and a word about it, if it
# cannot be had: a class may be given the labs without the solutions.
counted_solution() {
  local file object
  file=$(solution_of "$1")
  object=$build/checked/${file%.cu}.so
  if [ -n "${PREBUILT:-}" ]; then
    [ -e "$object" ] && [ -x "$build/worker" ] && echo "$object" && return
  elif [ -f "$file" ]; then
    build "$build/worker" "$object" && echo "$object" && return
  fi
  step "predictions are not checked: they are counted on $file, which is missing or does not compile"
}

# Sets $backend (cpu or cuda) and prints the line that says which and why. TARGET...: what else is built on the way.
choose_backend() {
  build_own "$build/backend" "$@"
  backend=$("$build/backend" --name) || exit 2
  "$build/backend"
}

# The program that knows this machine, as the chosen backend sees it: a CPU or a GPU.
roofs_program() { echo "build/$backend/roofs"; }

# Measurements go to plots/local and charts to plots/NAME.svg and .png, where git does not look. With PUBLISH=1 they replace
# what the repository shows: plots/results, and plots/NAME-h200.svg or, where it is predicted, plots/NAME-predicted-h200.svg.
results_folder() {
  local folder=plots/local
  [ -z "${PUBLISH:-}" ] || folder=plots/results
  mkdir -p "$folder" 2>/dev/null || cannot_write plots
  echo "$folder"
}
results_file() {
  local folder
  folder=$(results_folder) && echo "$folder/$("$(roofs_program)" --slug).json"
}
chart() {  # NAME: its path without .svg
  local machine
  if [ -n "${PUBLISH:-}" ]; then
    if predicting; then
      machine=predicted-$(basename "$gpu" .json)
    elif [ "$backend" = cpu ]; then
      machine=cpu
    else
      machine=$("$(roofs_program)" --slug)
    fi
    echo "plots/$1-${machine#nvidia-}"
  else
    echo "plots/$1"
  fi
}

# Without a GPU times are predicted for one (common/simt/timing). TIME=executor: the executor's own time is measured instead,
# which ranks kernels otherwise than a GPU does.
predicting() { [ "$backend" = cpu ] && [ -z "${TIME:-}" ]; }
gpu=${GPU:-h200}
# Refuses a GPU that is not known, or another TIME, before anything takes time.
check_time_options() {
  case ${TIME:-} in '' | executor) ;; *) fail "TIME=$TIME: it can be executor, for the executor's own time; leave it out for the time predicted for a GPU" ;; esac
  local problem
  [ -z "${GPU:-}" ] || problem=$("$python" common/bench/predict.py --check-gpu "$GPU" 2>&1) || fail "${problem#error: }"
}

# The file of the predictions for $gpu, and what was measured on that GPU, if the repository has it.
predicted_file() {
  local folder name
  folder=$(results_folder) && name=$("$python" common/bench/predict.py --name-of "$gpu") && echo "$folder/predicted-$name.json"
}
measured_there() {
  local name
  name=$("$python" common/bench/predict.py --name-of "$gpu") && [ ! -f "plots/results/$name.json" ] || echo "plots/results/$name.json"
}
# predict LAB CHECKED SOURCE RESULTS [more options for predict.py]
predict() {
  "$python" common/bench/predict.py --gpu "$gpu" --lab "$1" --rung "$2" --source "$3" --results "$4" "${@:5}"
}
# draw RESULTS SOURCE: the chart of predictions, beside what was measured.
draw_predicted() {
  local beside
  beside=$(measured_there)
  "$python" plots/roofline.py "$1" --output "$(chart roofline)" --source "$2" ${beside:+--beside "$beside"}
}

# Sets $roofs, a file with the machine's roofs. A CPU's are measured once; a GPU's, which takes a second, in every run,
# since they go with the clock of the moment.
measure_roofs() {
  roofs=build/$backend/roofs.json
  [ "$backend" = cpu ] && [ -s "$roofs" ] && return
  step "measuring this machine's roofs ..."
  "$(roofs_program)" >"$roofs.new" && mv "$roofs.new" "$roofs" || fail "the roofs could not be measured"
}

# Sets $counts, the benchmark's options for counting the bytes of a .cu file on the executor, if it can be built for that.
count_options() {
  local object
  object=$(shared_object "$1" build/cpu/checked)
  counts=()
  if [ -n "${PREBUILT:-}" ]; then
    [ -e "$object" ] && [ -x "$build/worker" ] || return 0
  elif ! build "$build/worker" "$object"; then
    say "the bytes of $1 are not counted: it does not compile for the executor"
    return 0
  fi
  counts=(--checked "$object" --counter "$build/worker")
}

# variant_options LAB ROWS: the benchmark's options for variants that are not measured as others are: those whose work grows with the
# square of the columns, and those that are there to be wrong.
variant_options() {
  local variant
  for variant in ${lab_wrong[$1]}; do printf -- '--wrong %s ' "$variant"; done
  for variant in ${lab_quadratic[$1]}; do printf -- '--quadratic %s=%s ' "$variant" "$2"; done
}

# Whether a lab's operator is not softmax but the step of many tensors (common/ops/swap_ffn), which is measured by itself.
is_step() { [ "${lab_operator[$1]}" = swap_ffn ]; }

# Where the figures of that operator are.
step_results() {
  local folder
  folder=$(results_folder) && echo "$folder/fusion-$("$(roofs_program)" --slug).json"
}

# "4096 64": of rows of so many columns, how many this backend measures, and how many where work grows with cols^2.
rows_of() {
  local -n of_backend=shape_$backend
  echo "${of_backend[$1]}"
}

# measure_step LAB FILE SOURCE RUNG: measures its variants at the sizes of the course on a GPU, at small ones on a CPU.
measure_step() {
  local sizes=64,256,32,2,2,16,8,64 results
  [ "$backend" = cpu ] || sizes=1024,4096,512,8,2,64,8,224
  results=$(step_results) || exit
  build_own "$build/swap_ffn_bench" "$(roofs_program)"
  counts=()
  [ "${CHECKS:-on}" = off ] || count_options "$2"
  "$build/swap_ffn_bench" --worker "build/$backend/worker" --rung "$4" --backend "$backend" --source "$3" --sizes $sizes \
    --machine "$("$(roofs_program)" --machine)" --results "$results" "${counts[@]}" || return
  say ""
  "$python" plots/fusion.py "$results" --source "$3" --out "$(chart fusion).svg"
}

# Sets $bench, the benchmark's command for this machine. Needs what measure_roofs sets.
prepare_bench() {
  bench=("$build/bench" --worker "build/$backend/worker" --backend "$backend" --machine "$("$(roofs_program)" --machine)"
    --roofs "$roofs")
}
