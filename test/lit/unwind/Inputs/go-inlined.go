// A crash in a function that is inlined.
package main

import "fmt"

type user struct {
	name string
	age  int
}

func find(users map[string]*user, name string) *user { return users[name] }

func age(name string) int {
	user := find(map[string]*user{"bob": {"bob", 3}}, name)
	return user.age
}

func main() {
	fmt.Println(age("carol"))
}
