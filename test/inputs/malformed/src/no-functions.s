# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 1 2 3
# A good section with no functions: not malformed, but an edge.

	.include "fields.inc"
	sframe
	header	flags=1, fixed_ra=-8, num_fdes=0, num_fres=0
	fres
	done
