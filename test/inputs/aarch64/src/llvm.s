// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// clang refuses --gsframe for aarch64, but LLVM's assembler obeys this directive, and then leaves out every function
// because it does not know the return address register: a section that is nothing but a header.

	.cfi_sections .eh_frame, .sframe
	.include "basic.s"
