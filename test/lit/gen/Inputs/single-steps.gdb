# A backtrace at each of the next 700 instructions.
set pagination off
set width 0
set confirm off
set $i = 0
while $i < 700
  stepi
  printf "stop %lx\n", (long) $pc
  backtrace
  set $i = $i + 1
end
