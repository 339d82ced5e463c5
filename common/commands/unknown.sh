#!/bin/bash
. "$(dirname "$0")/common.sh"
read_labs_if_possible
case $1 in
  lab | watch | hint | diff | profile | sanitize | sweep)
    numbers=$(for lab in $(labs); do number_of "$lab"; done | sed -n '1p;$p' | paste -sd' ')
    fail "make $1: which lab? ${numbers:+make $1${numbers% *} to make $1${numbers#* }. }\`make help\` lists the commands." ;;
esac
commands="setup ladder status roofline docs test-docs experiments bench-simt peers profile-diff new-lab check check-doctor test test-rest test-all test-bare help"
for lab in $(labs); do
  number=$(number_of "$lab")
  for command in lab watch hint diff profile sanitize sweep; do commands+=" $command$number"; done
done
fail "there is no command '$1'.$(nearest "$1" $commands) \`make help\` lists the commands."
