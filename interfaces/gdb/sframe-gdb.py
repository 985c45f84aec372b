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
    # PREFIX/share/sframe/python: the library is in PREFIX/lib, or in lib64, or in the folder of an architecture, of
    # which there may be several.
    prefix = glob.escape(os.path.dirname(os.path.dirname(os.path.dirname(folder))))
    named = os.environ.get("SFRAME_LIBRARY")
    libraries = [named] if named else [path for pattern in ("lib*", os.path.join("lib", "*"))
                                       for path in sorted(glob.glob(os.path.join(prefix, pattern, "libsframe-c.so.0")))] + [None]
    for library in libraries:
        try:
            if library:
                os.environ["SFRAME_LIBRARY"] = library
            from sframe import _gdb
            return _gdb.register()
        except ImportError as error:
            problem = error
        finally:
            if not named:
                os.environ.pop("SFRAME_LIBRARY", None)
    gdb.write("sframe-gdb.py: not loaded: %s\n" % problem, gdb.STDERR)


load_sframe(__file__)
del load_sframe
