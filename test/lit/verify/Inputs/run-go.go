// A fault that becomes a panic, and is recovered from.
package main

//go:noinline
func load(p *int) int { return *p }

//go:noinline
func fault() (result int) {
	defer func() { recover() }()
	return load(nil)
}

func main() { fault() }
