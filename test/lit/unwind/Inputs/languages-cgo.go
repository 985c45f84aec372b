// Dies in C.
package main

/*
#include <stdlib.h>
static void crash(void) { abort(); }
*/
import "C"

//go:noinline
func handle() { C.crash() }

func main() { handle() }
