"""odd_programs.py FOLDER: makes programs in FOLDER that do as the real ones, but sframe-gen reports
a number that no database holds for the file wrong.so."""
import os
import shutil
import sys

(folder,) = sys.argv[1:]
os.makedirs(folder)
for name in ("sframe-gen", "sframe-verify", "sframe-dump"):
    os.symlink(shutil.which(name), os.path.join(folder, name))
os.unlink(os.path.join(folder, "sframe-gen"))
with open(os.path.join(folder, "sframe-gen"), "w") as file:
    file.write(
        r"""#!/bin/sh
"%s" "$@" || exit $?
case $1 in *wrong.so)
  while [ $# -gt 0 ]; do [ "$1" != --report-file ] || report=$2; shift; done
  sed -i 's/"fdes": *[0-9]*/"fdes": 99999999999999999999/' "$report" ;;
esac
"""
        % shutil.which("sframe-gen")
    )
os.chmod(os.path.join(folder, "sframe-gen"), 0o755)
