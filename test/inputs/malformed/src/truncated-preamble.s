# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 2
# Three bytes of a preamble.

	.include "fields.inc"
	sframe
	.2byte	0xdee2			# sfp_magic
	.byte	2			# sfp_version; sfp_flags is missing
