#!/bin/bash
# The worker of a GPU under one tool of compute-sanitizer, started by the client in the worker's place (common/commands/
# sanitize.sh). From the environment: COMPUTE_SANITIZER, the program; LADDER_SANITIZER, the tool; LADDER_SANITIZER_LOGS, a
# folder that gets one log a start.
#
# When the client closes the connection, the worker ends by itself, but the tool has its report still to write; the client
# would kill it, as it kills everything in the worker's process group. So the tool runs in a session of its own. It holds a
# lock on the file `running` as long as it or the worker lives, and its number is in `started`.
if [ "${1:-}" != --session ]; then
  exec setsid "$0" --session "$@"
fi
shift
echo $$ >>"$LADDER_SANITIZER_LOGS/started"
exec flock -s "$LADDER_SANITIZER_LOGS/running" "$COMPUTE_SANITIZER" --tool "$LADDER_SANITIZER" --print-limit 200 \
  --destroy-on-device-error kernel --log-file "$LADDER_SANITIZER_LOGS/$$.log" build/cuda/worker "$@"
