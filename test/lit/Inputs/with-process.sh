#!/bin/sh
# with-process.sh PROGRAM COMMAND...: runs the command while the program, which must wait, runs; PID in its words is its process ID.
"$1" 1000 &
pid=$!
trap 'kill $pid' EXIT
until [ "$(readlink "/proc/$pid/exe")" = "$(readlink -f "$1")" ]; do sleep 0.01; done
shift
for word; do
  shift
  set -- "$@" "$(printf %s "$word" | sed "s/PID/$pid/")"
done
"$@"
