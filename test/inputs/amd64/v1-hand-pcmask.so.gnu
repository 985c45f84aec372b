
v1-hand-pcmask.so:     file format elf64-x86-64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_1
    Flags: SFRAME_F_FDE_SORTED
    Num FDEs: 1
    Num FREs: 2

  Function Index :

    func idx [0]: pc = 0x122c, size = 64 bytes
    STARTPC[m]      CFA       FP        RA           
    0000000000000000  sp+8      u         u            
    000000000000000b  sp+16     u         u            
