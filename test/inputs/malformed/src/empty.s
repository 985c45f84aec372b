# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 2
# A section without bytes.

	.include "fields.inc"
	sframe
