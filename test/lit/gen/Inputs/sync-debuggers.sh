#!/bin/sh
# sync-debuggers.sh DIRECTORY stops|cores|steps|faults: what gdb shows of frames.c is the same for the original (one/) and
# for the file of --shrink-cfi=sync (two/); "faults": of that level.
set -eu
inputs=$(cd "$(dirname "$0")" && pwd)
cd "$1"
gdb_quietly() { gdb -nx -batch -iex "set debuginfod enabled off" "$@"; }
level=sync
shrink() { sframe-gen --shrink-cfi=$level --full-cfi=full "$1" -o "$2" --report=none; }

# Stops of step, next, finish and breakpoints.
stops() {
  for options in -O0 -O2 "-O2 -fno-omit-frame-pointer"; do
    gcc -g $options "$inputs/frames.c" -o one/app
    shrink one/app two/app
    llvm-readelf -SW two/app | grep -q " .note.sframe "
    for d in one two; do
      (cd $d && gdb_quietly -x "$inputs/steps.gdb" app 2>&1 | grep -v "(process" >out)
    done
    cmp one/out two/out
    test "$(grep -c "^stop" two/out)" -gt 200
  done
}

# Cores that a wrong pointer and a full stack leave.
cores() {
  gcc -g -O2 -no-pie "$inputs/frames.c" -o app
  shrink app small
  ulimit -s 256
  for how in fault overflow; do
    gdb_quietly -ex run -ex "gcore core.$how" --args ./app $how >out 2>&1
    for f in app small; do
      gdb_quietly -ex "bt 12" -ex "info registers" -ex "frame 1" -ex "info registers" $f core.$how 2>err |
        sed -n '/^#0/,$p' >$f.$how
    done
    cmp app.$how small.$how
    grep -q "^#1 .*\(main\|overflow\)" small.$how
  done
}

# Without .debug_frame, a core of a wrong pointer, and stops at the entry of functions and where calls return to; with
# it, a core of a full stack and all stops.
faults() {
  level=faults
  show() {
    gdb_quietly -ex "bt 12" -ex "info registers" -ex "frame 1" -ex "info registers" $1 core.$2 2>err | sed -n '/^#0/,$p'
  }
  gcc -g -O2 -no-pie "$inputs/frames.c" -o app
  shrink app small
  llvm-objcopy --add-section .debug_frame=full small whole
  ulimit -s 256
  for how in fault overflow; do
    gdb_quietly -ex run -ex "gcore core.$how" --args ./app $how >out 2>&1
    for f in app small whole; do show $f $how >$f.$how; done
    cmp app.$how whole.$how
  done
  cmp app.fault small.fault
  # Equal names: the length of a path moves the stack.
  cp app one/app
  cp small two/app
  for d in one two; do
    gdb_quietly -ex "break *leaf" -ex run -ex bt -ex finish -ex "info registers rip rsp rbx" $d/app 2>&1 |
      grep "^[#r]" >$d/finish
  done
  cmp one/finish two/finish
  grep -q "^#6 .*main" two/finish
  cp whole two/app
  for d in one two; do
    (cd $d && gdb_quietly -x "$inputs/steps.gdb" app 2>&1 | grep -v "(process" >out)
  done
  cmp one/out two/out
}

# Every instruction, with all call frame information in the debug file, which is found by its build ID. Without it, some
# instructions of a function show wrong frames.
steps() {
  gcc -g -O2 -fno-omit-frame-pointer -Wl,--build-id=0x1234567890 "$inputs/frames.c" -o app
  shrink app small
  debug=debug/.build-id/12/34567890.debug
  mkdir -p debug/.build-id/12
  llvm-objcopy --only-keep-debug app $debug
  llvm-strip -g app -o one/app
  llvm-strip -g small -o two/app
  walk() {
    (cd "$1" && gdb_quietly -iex "set debug-file-directory $PWD/../debug" -ex "break main" -ex run \
      -x "$inputs/single-steps.gdb" app 2>err | grep "^[s#]" >"$2")
  }
  walk one steps
  walk two bare
  if cmp -s one/steps two/bare; then exit 1; fi
  llvm-objcopy --add-section .debug_frame=full $debug
  walk two steps
  cmp one/steps two/steps
  test "$(grep -c "^stop" two/steps)" = 700
}

"$2"
