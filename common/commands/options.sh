# Sourced by common.sh: which commands use an option. One that is not here is for any command, or for make check's cluster.
declare -A used_by=(
  [ANYWAY]="diff" [BROKEN]="lab watch profile sanitize sweep" [CASE]="lab watch sanitize" [CASES]="lab watch" [CHECKS]="lab watch ladder"
  [DTYPES]="peers" [FILE]="lab watch profile sanitize sweep roofline" [GPU]="lab watch profile sweep ladder roofline" [K]="profile"
  [NAME]="new-lab" [ONLY]="test test-rest test-all test-bare" [OPS]="peers" [OVER]="sweep" [PEERS]="peers" [PREDICT]="lab watch ladder" [RESET]="hint" [SHAPE]="profile" [SHAPES]="peers profile-diff"
  [SOLUTION]="lab watch profile sanitize sweep check" [TODO]="lab watch hint" [VALUES]="peers" [VARIANT]="lab watch sanitize sweep" [VARIANTS]="peers"
)

# refuse_unused_options: `make ladder SHAPE=4` would run for minutes, and the 4 would be left out without a word.
refuse_unused_options() {
  local option goal command uses
  [ -n "${GIVEN_COMMANDS:-}" ] || return 0
  for option in ${GIVEN_OPTIONS:-}; do
    [ -n "${used_by[$option]:-}" ] || continue
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
    case $command in lab | watch | hint | diff | profile | sanitize | sweep) command+=01 ;; esac
    text+="${text:+, }make $command"
  done
  echo "$text"
}
