
v3-gas247-flex.o:     file format elf64-bigaarch64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_3
    Flags: SFRAME_F_FDE_FUNC_START_PCREL
    Num FDEs: 1
    Num FREs: 3

  Function Index :

    func idx [0]: pc = 0x34, size = 12 bytes
    STARTPC         CFA       FP        RA           
    0000000000000034  sp+0      u         u            
    0000000000000038  RA undefined
    000000000000003c  sp+0      u         u            
