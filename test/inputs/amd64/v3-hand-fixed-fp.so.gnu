
v3-hand-fixed-fp.so:     file format elf64-x86-64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_3
    Flags: SFRAME_F_FDE_SORTED,
           SFRAME_F_FDE_FUNC_START_PCREL
    CFA fixed FP offset: -16
    CFA fixed RA offset: -8
    Num FDEs: 1
    Num FREs: 2

  Function Index :

    func idx [0]: pc = 0x122c, size = 16 bytes
    STARTPC         CFA       FP        RA           
    000000000000122c  sp+16     c-16      f            
    0000000000001230  fp+16     c-16      f            
