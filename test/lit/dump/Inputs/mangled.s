# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Two functions of 16 bytes: a C++ name and a plain one.
	.text
	.type	_ZN3app3runEi, @function
_ZN3app3runEi:
	.skip	16, 0x90
	.size	_ZN3app3runEi, .-_ZN3app3runEi
	.type	plain, @function
plain:
	.skip	16, 0x90
	.size	plain, .-plain

	.include "fields.inc"
	sframe
	header	flags=5, fixed_ra=-8, num_fdes=2, num_fres=2
	fde	start=_ZN3app3runEi-., rows=a
	fde	start=plain-., rows=b
	fres
	func	a
	row1	start=0, words=1
	.byte	8
	func	b
	row1	start=0, words=1
	.byte	8
	done
