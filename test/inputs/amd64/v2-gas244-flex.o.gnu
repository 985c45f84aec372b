
v2-gas244-flex.o:     file format elf64-x86-64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_2
    Flags: NONE
    CFA fixed RA offset: -8
    Num FDEs: 3
    Num FREs: 7

  Function Index :

    func idx [0]: pc = 0x20, size = 5 bytes
    STARTPC         CFA       FP        RA           
    0000000000000020  sp+8      u         f            
    0000000000000021  sp+0      u         f            

    func idx [1]: pc = 0x11, size = 18 bytes
    STARTPC         CFA       FP        RA           
    0000000000000011  sp+8      u         f            
    0000000000000015  sp+24     u         f            
    0000000000000022  sp+8      u         f            

    func idx [2]: pc = 0x1b, size = 5 bytes
    STARTPC         CFA       FP        RA           
    000000000000001b  sp+8      u         f            
    000000000000001f  sp+8      u         f            
