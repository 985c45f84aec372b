"""huge.py INPUTS FOLDER DB: sweeps files of 2^62 bytes, all holes but the first and last pages, in
a new folder in FOLDER."""
import os
import struct
import subprocess
import sys
import tempfile

inputs, place, database = sys.argv[1:]
with open(os.path.join(inputs, "amd64/v3-gas247.so"), "rb") as file:
    elf = file.read()
# All segments have the whole file, together more than 2^63 bytes.
(table,) = struct.unpack_from("<Q", elf, 32)
segments = bytearray(elf)
for i in range(struct.unpack_from("<H", elf, 56)[0]):
    struct.pack_into("<Q", segments, table + 56 * i + 32, 1 << 62)
    struct.pack_into("<I", segments, table + 56 * i, 1)
with tempfile.TemporaryDirectory(dir=place) as folder:
    for name, data in (("file", elf), ("segments", segments)):
        with open(os.path.join(folder, name + ".so"), "wb") as file:
            file.write(data)
            file.truncate(1 << 62)
            os.pwrite(file.fileno(), b"end", (1 << 62) - 3)
    with open(os.path.join(folder, "sound.so"), "wb") as file:
        file.write(elf)
    code = subprocess.run(["sframe-sweep", "run", folder, "--db", database]).returncode
sys.exit(code)
