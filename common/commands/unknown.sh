#!/bin/bash
. "$(dirname "$0")/common.sh"
fail "there is no command '$1'. \`make help\` lists the commands."
