#!/bin/bash
# Runs a command that must print nothing: a build without warnings.
output=$("$@" 2>&1)
status=$?
[ -z "$output" ] || printf '%s\n' "$output"
[ $status -eq 0 ] && [ -z "$output" ]
