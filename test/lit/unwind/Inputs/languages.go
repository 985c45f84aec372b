// Goroutines in several states; then a panic (nil, bounds, error, text, custom, twice) or a fatal error.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"
)

type request struct {
	next *request
	id   int
}

type code int16

//go:noinline
func handle(r *request) int { return r.next.id }

//go:noinline
func worker(wg *sync.WaitGroup, c chan int) { defer wg.Done(); <-c }

//go:noinline
func deep(n int, c chan int) int {
	if n == 0 {
		return <-c
	}
	return deep(n-1, c) + 1
}

func main() {
	var group sync.WaitGroup
	var mutex sync.Mutex
	never, send := make(chan int), make(chan int)
	for i := 0; i < 3; i++ {
		group.Add(1)
		go worker(&group, never)
	}
	mutex.Lock()
	go func() { mutex.Lock() }()
	go func() { time.Sleep(time.Hour) }()
	go deep(50, never)
	go func() {
		select {
		case <-never:
		case send <- 1:
		}
	}()
	pipe := make([]int, 2)
	syscall.Pipe(pipe)
	go syscall.Read(pipe[0], make([]byte, 1))
	for runtime.NumGoroutine() < 9 {
		runtime.Gosched()
	}
	time.Sleep(20 * time.Millisecond) // so that all are where they stay
	switch os.Args[1] {
	case "nil":
		fmt.Println(handle(&request{}))
	case "bounds":
		few := make([]int, 3)
		fmt.Println(few[len(os.Args)+5])
	case "error":
		panic(fmt.Errorf("no such %s: %w", "thing", os.ErrNotExist))
	case "text":
		panic("out of cheese\x1b[31m")
	case "custom":
		panic(code(-7))
	case "fatal":
		var free sync.Mutex
		free.Unlock()
	case "twice":
		defer func() { panic("second") }()
		panic("first")
	}
}
