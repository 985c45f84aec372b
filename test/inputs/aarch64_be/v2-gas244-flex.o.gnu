
v2-gas244-flex.o:     file format elf64-bigaarch64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_2
    Flags: NONE
    Num FDEs: 1
    Num FREs: 2

  Function Index :

    func idx [0]: pc = 0x18, size = 12 bytes
    STARTPC         CFA       FP        RA           
    0000000000000018  sp+0      u         u            
    0000000000000020  sp+0      u         u            
