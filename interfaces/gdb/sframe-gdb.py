# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Gives gdb an unwinder that uses SFrame sections and sidecars: docs/gdb.md.
#
#   gdb -x sframe-gdb.py PROGRAM      or, in ~/.gdbinit: source DIR/sframe-gdb.py
#
# It only finds the Python package, in ../python: so it is in the source tree and where it is
# installed. sframe/_gdb.py has the unwinder.
import gdb


def load_sframe(script):
    import os
    import sys

    folder = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(script))), "python")
    if os.path.exists(os.path.join(folder, "sframe", "__init__.py")) and folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        from sframe import _gdb
    except ImportError as error:
        gdb.write("sframe-gdb.py: not loaded: %s\n" % error, gdb.STDERR)
    else:
        _gdb.register()


load_sframe(__file__)
del load_sframe
