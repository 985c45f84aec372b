# A core of a program (saves.c) at the first ret of a function that saves registers.
set confirm off
break saves
run
set $start = $sp
while *(unsigned char *) $pc != 0xc3 || $sp != $start
  stepi
end
gcore core.ret
kill
