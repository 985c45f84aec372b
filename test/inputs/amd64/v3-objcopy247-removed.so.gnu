
v3-objcopy247-removed.so:     file format elf64-x86-64

No .sframe section present

