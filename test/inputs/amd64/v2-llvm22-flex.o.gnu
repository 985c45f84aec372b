
v2-llvm22-flex.o:     file format elf64-x86-64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_2
    Flags: SFRAME_F_FDE_FUNC_START_PCREL
    CFA fixed RA offset: -8
    Num FDEs: 4
    Num FREs: 7

  Function Index :

    func idx [0]: pc = 0x33, size = 9 bytes
    STARTPC         CFA       FP        RA           
    0000000000000033  sp+8      u         f            

    func idx [1]: pc = 0x3c, size = 5 bytes
    STARTPC         CFA       FP        RA           
    000000000000003c  sp+8      u         f            
    000000000000003d  sp+0      u         f            

    func idx [2]: pc = 0x41, size = 18 bytes
    STARTPC         CFA       FP        RA           
    0000000000000041  sp+8      u         f            
    0000000000000045  sp+24     u         f            
    0000000000000052  sp+8      u         f            

    func idx [3]: pc = 0x5f, size = 5 bytes
    STARTPC         CFA       FP        RA           
    000000000000005f  sp+8      u         f            
