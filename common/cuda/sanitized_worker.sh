#!/bin/bash
# The worker of a GPU under one tool of compute-sanitizer, started by the client in the worker's place (common/commands/
# sanitize.sh). From the environment: COMPUTE_SANITIZER, the program; LADDER_SANITIZER, the tool; LADDER_SANITIZER_LOGS, a
# folder that gets one log a start; SANITIZED_WORKER, for a test, another worker.
#
# When the client closes the connection, the worker ends by itself, but the tool has its report still to write; the client
# would kill it, as it kills everything in the worker's process group. So the tool runs in a session of its own, while this
# process waits for it in the group. If this process is killed, the tool has ten seconds; a kernel that never ends has to be
# killed with it. The file `running` is locked as long as a tool or its worker lives; `started` has their sessions' numbers.
client_socket=3 client_memory=4
if [ "${1:-}" != --session ]; then
  setsid "$0" --session $$ "$@" &
  tool=$!
  eval "exec $client_socket>&- $client_memory>&-"  # or the client would not see the worker's end
  wait $tool
  exit
fi
shift
waiting=$1
shift
echo $$ >>"$LADDER_SANITIZER_LOGS/started"
flock -s "$LADDER_SANITIZER_LOGS/running" "$COMPUTE_SANITIZER" --tool "$LADDER_SANITIZER" --print-limit 200 \
  --destroy-on-device-error kernel --log-file "$LADDER_SANITIZER_LOGS/$$.log" "${SANITIZED_WORKER:-build/cuda/worker}" "$@" &
tool=$!
eval "exec $client_socket>&- $client_memory>&-"
seconds_left=10
while kill -0 $tool 2>/dev/null; do
  if ! kill -0 "$waiting" 2>/dev/null; then
    [ $seconds_left -gt 0 ] || kill -KILL -- -$$
    seconds_left=$((seconds_left - 1))
    sleep 1
  fi
  sleep 0.1
done
wait $tool
