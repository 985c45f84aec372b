# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 2 3
# 27 of the header's 28 bytes.

	.include "fields.inc"
	sframe
	.2byte	0xdee2			# sfp_magic
	.byte	V			# sfp_version
	.byte	1			# sfp_flags
	.byte	3			# sfh_abi_arch
	.byte	0, -8			# fixed FP and RA offsets
	.byte	0			# sfh_auxhdr_len
	.4byte	0, 0			# sfh_num_fdes, sfh_num_fres
	.4byte	0, 0			# sfh_fre_len, sfh_fdeoff
	.byte	0, 0, 0			# sfh_freoff, one byte short
