# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Gives gdb an unwinder that uses SFrame sections and sidecars: docs/gdb.md.
#
#   gdb -x sframe-gdb.py PROGRAM      or, in ~/.gdbinit: source FOLDER/sframe-gdb.py
#
# It only finds the Python package and the library. Both are looked for in the folder that this file was
# installed to, or is in in the source tree; sframe/_gdb.py has the unwinder.
import gdb


def load_sframe(script):
    import glob
    import os
    import sys

    folder = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(script))), "python")
    if os.path.exists(os.path.join(folder, "sframe", "__init__.py")) and folder not in sys.path:
        sys.path.insert(0, folder)
    # PREFIX/share/sframe/python: the library is in PREFIX/lib, or in lib64, or in the folder of an architecture.
    prefix = os.path.dirname(os.path.dirname(os.path.dirname(folder)))
    libraries = [path for pattern in ("lib*", os.path.join("lib", "*"))
                 for path in sorted(glob.glob(os.path.join(glob.escape(prefix), pattern, "libsframe-c.so.0")))]
    chosen = libraries and "SFRAME_LIBRARY" not in os.environ
    if chosen:
        os.environ["SFRAME_LIBRARY"] = libraries[0]
    try:
        from sframe import _gdb
    except ImportError as error:
        gdb.write("sframe-gdb.py: not loaded: %s\n" % error, gdb.STDERR)
    else:
        _gdb.register()
    finally:
        if chosen:
            del os.environ["SFRAME_LIBRARY"]


load_sframe(__file__)
del load_sframe
