// Calls of all kinds, in a panic, down to a function that writes the return addresses that Go's runtime finds by itself
// (runtime.Callers) into a file, and dies by a signal that the runtime does not handle: while it runs on the goroutine's stack.
// With "quit": in the runtime's handler of a signal, on the stack of handlers.
package main

import (
	"fmt"
	"os"
	"reflect"
	"runtime"
	"syscall"
	"unsafe"
)

type request struct {
	next *request
	id   int
}

type shape interface{ measure(n int) int }
type square struct{ side [9]int }

func is(kind string) bool { return len(os.Args) > 2 && os.Args[2] == kind }

//go:noinline
func die() {
	var pcs [200]uintptr
	file, _ := os.Create(os.Args[1])
	for _, pc := range pcs[:runtime.Callers(2, pcs[:])] {
		fmt.Fprintf(file, "%x %s\n", pc, runtime.FuncForPC(pc-1).Name())
	}
	signal := syscall.SIGTRAP
	var action [8]uintptr
	if is("quit") {
		signal = syscall.SIGQUIT
	} else {
		syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(signal), uintptr(unsafe.Pointer(&action)), 0, 8, 0, 0)
	}
	syscall.RawSyscall(syscall.SYS_TGKILL, uintptr(os.Getpid()), uintptr(syscall.Gettid()), uintptr(signal))
}

//go:noinline
func large(n int) int {
	var room [70000]byte
	room[n%70000] = 1
	die()
	return int(room[(n+1)%70000])
}

//go:noinline
func leaf(r *request) int { // it has no frame
	return r.next.id
}

//go:noinline
func handle(r *request) int {
	if is("leaf") {
		return leaf(r) + 1
	}
	runtime.Gosched() // so that it has a frame
	return r.next.id
}

//go:noinline
func (s square) measure(n int) int {
	if n > 0 {
		return s.measure(n-1) + s.side[n%9]
	}
	return large(n)
}

func main() {
	done := make(chan bool)
	go func() {
		runtime.LockOSThread()
		defer func() {
			var s shape = &square{}
			reflect.ValueOf(s.measure).Call([]reflect.Value{reflect.ValueOf(5)})
		}()
		handle(&request{id: 7})
		done <- true
	}()
	<-done
}
