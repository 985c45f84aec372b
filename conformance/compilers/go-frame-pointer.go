// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// about    No rule for FP, which every function with a frame saves and sets.
// machine  x86_64
// key      run-r403-mov
// functions main\.f1
// seen     go 1.19.8
//
//   0x457c94   mov %rax, 0x20(%rsp)               cfa=sp+32 ra=[cfa-8] fp=same: the FP rule same yields 0xc00003a748, the caller's is 0xc00003a770

package main

//go:noinline
func leaf(n int) int { return n + 1 }

//go:noinline
func f1(n int) int { return leaf(n) + leaf(n+1) }

func main() {
	s := 0
	for i := 0; i < 4; i++ {
		s += f1(i)
	}
	println(s)
}
