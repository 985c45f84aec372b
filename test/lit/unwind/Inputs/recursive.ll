; For examples/orc_jit.cc: recursion, frames with and without a fixed size, a cleanup that an exception runs, and calls
; of the host. start() returns 34 + 1 + 7.
declare i32 @host()
declare i32 @__gxx_personality_v0(...)

@cleaned = global i32 0
@last = global i32 0

define i32 @fibonacci(i32 %n) noinline uwtable {
  %small = icmp slt i32 %n, 2
  br i1 %small, label %leaf, label %inner
leaf:
  ret i32 %n
inner:
  %a = sub i32 %n, 1
  %b = sub i32 %n, 2
  %x = call i32 @fibonacci(i32 %a)
  %y = call i32 @fibonacci(i32 %b)
  %sum = add i32 %x, %y
  ret i32 %sum
}

; Calls itself n times, then the host.
define i32 @deep(i32 %n) noinline uwtable {
  %is_last = icmp eq i32 %n, 0
  br i1 %is_last, label %last, label %inner
last:
  %h = call i32 @host()
  store volatile i32 %h, ptr @last ; no jump in the place of the call
  ret i32 %h
inner:
  %m = sub i32 %n, 1
  %x = call i32 @variable(i32 %n, i32 %m)
  store volatile i32 %x, ptr @last
  ret i32 %x
}

; Has room whose size is known only when it runs.
define i32 @variable(i32 %size, i32 %n) noinline uwtable {
  %room = alloca i8, i32 %size
  store volatile i8 1, ptr %room
  %x = call i32 @deep(i32 %n)
  %one = load volatile i8, ptr %room
  %wide = zext i8 %one to i32
  %y = mul i32 %x, %wide
  ret i32 %y
}

; An exception runs its cleanup and goes on.
define i32 @cleaning(i32 %n) noinline uwtable personality ptr @__gxx_personality_v0 {
  %x = invoke i32 @deep(i32 %n) to label %normal unwind label %cleanup
normal:
  ret i32 %x
cleanup:
  %exception = landingpad { ptr, i32 } cleanup
  store volatile i32 1, ptr @cleaned
  resume { ptr, i32 } %exception
}

; Uses many registers across a call, so that calls save them.
define i32 @registers(i32 %n) noinline uwtable {
  %a = call i32 @fibonacci(i32 2)
  %b = call i32 @fibonacci(i32 3)
  %c = call i32 @fibonacci(i32 1)
  %d = call i32 @fibonacci(i32 4)
  %e = call i32 @fibonacci(i32 %n)
  %s1 = add i32 %a, %b
  %s2 = add i32 %s1, %c
  %s3 = add i32 %s2, %d
  %s4 = add i32 %s3, %e
  ret i32 %s4
}

define i32 @start() uwtable {
  %x = call i32 @fibonacci(i32 9)
  %y = call i32 @cleaning(i32 5)
  %z = call i32 @registers(i32 0)
  %s = add i32 %x, %y
  %t = add i32 %s, %z
  ret i32 %t
}
