# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# dh --with sframe, or a build dependency on dh-sequence-sframe: dh_sframe after dh_strip, so that strip never
# sees the added sections.
use strict;
use warnings;
use Debian::Debhelper::Dh_Lib;

insert_after('dh_strip', 'dh_sframe');

1;
