# Sourced by common.sh: which commands use an option of the Makefile. any: whatever a command compiles, runs or measures.
declare -A used_by=(
  [BACKEND]=any [CXX]=any [PREBUILT]=any [PYTHON]=any
  # for students
  [ANYWAY]="diff" [BROKEN]="lab watch profile sanitize sweep" [CASE]="lab watch sanitize" [CASES]="lab watch" [CHECKS]="lab watch ladder"
  [FILE]="lab watch profile sanitize sweep roofline" [GPU]="lab watch profile sweep ladder roofline" [K]="profile" [OVER]="sweep"
  [PREDICT]="lab watch ladder" [RESET]="hint" [SHAPE]="profile" [SOLUTION]="lab watch profile sanitize sweep check" [TESTS_ONLY]="lab watch"
  [TIME]="lab watch sweep ladder roofline check" [TODO]="lab watch hint" [VARIANT]="lab watch profile sanitize sweep"
  # measurements
  [DTYPES]="peers" [OPS]="peers" [PEERS]="peers" [VALUES]="peers" [PUBLISH]="lab sweep ladder roofline experiments probe profile-diff peers"
  [SHAPES]="peers profile-diff" [VARIANTS]="peers"
  # grading
  [ALSO]="similar" [JOBS]="check" [KEEP]="check" [LABS]="check similar" [ON]="check" [OUT]="check decide similar" [POINTS]="check decide"
  [SUBMISSIONS]="check similar"
  [ACCOUNT]="check" [EXCLUSIVE]="check" [GPUS]="check" [MEM]="check" [PARTITION]="check" [PER_TASK]="check" [QOS]="check"  # on a cluster
  [BONUS]="decide" [BY]="decide" [COLUMN]="decide" [COMMENT]="decide" [DENY]="decide" [FILL]="decide" [ITEM]="decide" [LAB]="decide"
  [LATE_DAYS]="decide" [RELEASE]="decide" [STUDENT]="decide" [UNDO]="decide"
  # for developers
  [COMMANDS]="test-bare" [MINUTES]="test test-rest test-all" [NAME]="new-lab" [ONLY]="test test-rest test-all test-bare" [SYSTEMS]="test-bare"
)

# Options that are there or not: PUBLISH=0 would do what PUBLISH=1 does.
switches=" ANYWAY DENY KEEP PREBUILT PREDICT PUBLISH RELEASE RESET SOLUTION TESTS_ONLY UNDO "
refuse_other_values() {
  local option
  for option in ${GIVEN_OPTIONS:-}; do
    [[ $switches != *" $option "* || ${!option} == @(|1) ]] || fail "$option=${!option}: it can be 1; leave it out to switch it off"
  done
}

# refuse_unused_options: `make ladder SHAPE=4` would run for minutes, and the 4 would be left out without a word.
refuse_unused_options() {
  local option goal command uses
  [ -n "${GIVEN_COMMANDS:-}" ] || return 0
  for option in ${GIVEN_OPTIONS:-}; do
    [ "${used_by[$option]}" != any ] || continue
    uses=
    for goal in $GIVEN_COMMANDS; do
      command=${goal%%[0-9]*}
      [[ " ${used_by[$option]} " != *" $command "* ]] || uses=1
    done
    [ -n "$uses" ] || fail "make $GIVEN_COMMANDS does not use $option=. It is for: $(spelled_commands ${used_by[$option]})"
  done
}

# make lab01, make peers
spelled_commands() {
  local command text=
  for command; do
    [[ " $COMMANDS_OF_LABS " != *" $command "* ]] || command+=01
    text+="${text:+, }make $command"
  done
  echo "$text"
}
