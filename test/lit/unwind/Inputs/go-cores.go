// Goroutines whose stacks are in memory that has been used before; then a fault at the first instruction of a
// function.
package main

import (
	"reflect"
	"runtime"
	"time"
	"unsafe"
)

var callers []uintptr

//go:noinline
func before(p *int) int { return *p + 1 }

//go:noinline
func load(p *int) int { return *p }

//go:noinline
func fault(p *int) int { return load(p) + before(p) }

//go:noinline
func deep(n int, c chan int) int {
	if n == 0 {
		return <-c
	}
	return deep(n-1, c) + 1
}

func worker(i int, never chan int) {
	spoil()
	switch i % 3 {
	case 0:
		deep(i%7, never)
	case 1:
		select {
		case <-never:
		case <-time.After(time.Hour):
		}
	default:
		time.Sleep(time.Hour)
	}
}

// Above the frame of goexit, where nothing is in use, is what the memory's last user has left: a return
// address.
//
//go:noinline
func spoil() {
	var here uintptr
	pcs := make([]uintptr, 64)
	callers = pcs // so that they are not on the stack, which is searched
	inverted := ^pcs[runtime.Callers(0, pcs)-1]
	for at := uintptr(unsafe.Pointer(&here)); ; at += 8 {
		if ^*(*uintptr)(unsafe.Pointer(at)) == inverted {
			*(*uintptr)(unsafe.Pointer(at + 8)) = reflect.ValueOf(fault).Pointer() + 8
			return
		}
	}
}

func main() {
	never := make(chan int)
	for i := 0; i < 300; i++ {
		go worker(i, never)
	}
	time.Sleep(100 * time.Millisecond) // so that all are where they stay
	fault(nil)
}
