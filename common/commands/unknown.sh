#!/bin/bash
. "$(dirname "$0")/common.sh"
read_labs_if_possible
if [[ " $COMMANDS_OF_LABS " == *" $1 "* ]]; then
  case $1 in lab | watch | hint) all=$(all_labs) ;; *) all=$(labs) ;; esac
  numbers=$(for lab in $all; do number_of "$lab"; done | sed -n '1p;$p' | paste -sd' ')
  fail "make $1: which lab? ${numbers:+make $1${numbers% *} to make $1${numbers#* }. }\`make help\` lists the commands."
fi
commands=$KNOWN_COMMANDS
for lab in $(labs); do
  number=$(number_of "$lab")
  for command in $COMMANDS_OF_LABS; do commands+=" $command$number"; done
done
[ "$1" != clean ] || fail "there is no command 'clean'. Everything that is built is in build/: delete that folder."
fail "there is no command '$1'.$(nearest "$1" $commands) \`make help\` lists the commands."
