
v2-llvm22-second.o:     file format elf64-x86-64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_2
    Flags: SFRAME_F_FDE_FUNC_START_PCREL
    CFA fixed RA offset: -8
    Num FDEs: 3
    Num FREs: 8

  Function Index :

    func idx [0]: pc = 0x0, size = 14 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+8      u         f            
    0000000000000004  sp+48     u         f            
    000000000000000d  sp+8      u         f            

    func idx [1]: pc = 0xe, size = 6 bytes
    STARTPC         CFA       FP        RA           
    000000000000000e  sp+8      u         f            
    000000000000000f  sp+16     c-16      f            
    0000000000000012  fp+16     c-16      f            
    0000000000000013  sp+8      c-16      f            

    func idx [2]: pc = 0x14, size = 1 bytes
    STARTPC         CFA       FP        RA           
    0000000000000014  sp+8      u         f            
