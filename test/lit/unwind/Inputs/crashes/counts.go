// A write into a map that was never made.
package main

import "fmt"

type counter struct {
	words map[string]int
}

//go:noinline
func (c *counter) add(word string) {
	c.words[word]++
}

//go:noinline
func countAll(c *counter, words []string) {
	for _, word := range words {
		c.add(word)
	}
}

func main() {
	c := &counter{}
	countAll(c, []string{"to", "be"})
	fmt.Println(c.words)
}
