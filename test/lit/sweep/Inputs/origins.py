"""origins.py PROJECT: names of compilers, as compilers write them into DW_AT_producer, .comment and
.go.buildinfo."""
import os
import sys

sys.path.insert(0, os.path.join(sys.argv[1], "tools", "sframe-sweep"))
from sframe_sweep import origin  # noqa: E402

for name, wanted in (
    ("GCC: (Debian 12.2.0-14+deb12u1) 12.2.0", "GCC 12.2.0"),
    ("GCC: (GNU) 8.5.0 20210514 (Red Hat 8.5.0-28)", "GCC 8.5.0"),
    ("GCC: (Ubuntu 13.2.0-4ubuntu3) 13.2.0", "GCC 13.2.0"),
    ("GCC: (crosstool-NG 1.24.0 (rc1)) 9.4.0", "GCC 9.4.0"),
    ("GNU C11 10.3.1 20210422 (Red Hat 10.3.1-1)", "GCC 10.3.1"),
    ("GNU C++17 12.2.0 -mtune=generic -O2", "GCC 12.2.0"),
    ("GNU Fortran2008 12.2.0 -O2", "GCC 12.2.0"),
    ("Debian clang version 14.0.6", "clang 14.0.6"),
    ("clang LLVM (rustc version 1.63.0)", "rustc 1.63.0"),
    ("rustc version 1.95.0 (59807616e 2026-04-14)", "rustc 1.95.0"),
    ("go1.19.8", "Go 1.19.8"),
    ("Go cmd/compile go1.19.8; regabi", "Go 1.19.8"),
    ("GNU AS 2.40", None),
    ("Linker: LLD 22.1.0", None),
    ("", None),
):
    assert origin.normalized(name) == wanted, (name, origin.normalized(name), wanted)
