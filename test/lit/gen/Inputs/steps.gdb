# Steps through a program (frames.c) line by line to its end, then through it again by finish and next in each
# function; a backtrace at each stop.
set pagination off
set width 0
set confirm off
set print inferior-events off
define show_stop
  printf "stop %lx\n", (long) $pc
  backtrace
end
define step_to_end
  set $i = 0
  while $_isvoid($_exitcode) && $i < 500
    step
    if $_isvoid($_exitcode)
      show_stop
    end
    set $i = $i + 1
  end
end
define finish_to_end
  set $i = 0
  while $_isvoid($_exitcode) && $i < 100
    show_stop
    finish
    show_stop
    next
    show_stop
    continue
    set $i = $i + 1
  end
end
break main
run
step_to_end
delete
break leaf
break many
break saves
break tail
break empty
break grows
break deep
break fault
run
set $_exitcode = (void) 0
finish_to_end
