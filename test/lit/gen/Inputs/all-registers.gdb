# The call-saved registers of AMD64 in each frame of the crashed thread.
set pagination off
set width 0
define show_frames
  set $i = 0
  while $i < 22
    printf "frame %d pc %lx sp %lx bp %lx bx %lx 12 %lx 13 %lx 14 %lx 15 %lx\n", $i, (long) $pc, (long) $sp, $rbp, $rbx, $r12, $r13, $r14, $r15
    up-silently
    set $i = $i + 1
  end
end
show_frames
