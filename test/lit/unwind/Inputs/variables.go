// Prints its variables, and dies.
package main

import (
	"fmt"
	"os"
)

type point struct {
	x, y int
}

//go:noinline
func work(count int, name string) {
	half := float64(count) / 2
	at := point{count, -count}
	list := []int{count, count + 1, count + 2}
	small := uint8(count)
	fmt.Printf("count = %d\nname = %q\nhalf = %g\nat.x = %d\nat.y = %d\nlength of list = %d\nsmall = %d\n",
		count, name, half, at.x, at.y, len(list), small)
	os.Stdout.Sync()
	var nothing *point
	nothing.x = count
	fmt.Println(half, at, list, small)
}

func main() {
	work(1234+len(os.Args), "gopher \"é\""+os.Args[0][:0])
}
