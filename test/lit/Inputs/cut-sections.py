"""cut-sections.py INPUTS FOLDER SIZE...: writes the first bytes of each raw section of INPUTS into FOLDER."""
import glob
import os
import sys

inputs, folder, *sizes = sys.argv[1:]
os.makedirs(folder)
for path in glob.glob(os.path.join(inputs, "*", "*.sframe")):
    name = os.path.relpath(path, inputs).replace("/", "-")
    for size in sizes:
        with open(path, "rb") as file, open(os.path.join(folder, name + "-" + size), "wb") as out:
            out.write(file.read(int(size)))
