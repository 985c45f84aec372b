
v3-gas247-flex.o:     file format elf64-x86-64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_3
    Flags: SFRAME_F_FDE_FUNC_START_PCREL
    CFA fixed RA offset: -8
    Num FDEs: 7
    Num FREs: 21

  Function Index :

    func idx [0]: pc = 0x0, size = 40 bytes, attr = "F"
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+8      u         f            
    0000000000000005  r10+0     u         f            
    0000000000000011  r10+0     (fp+0)    U            
    0000000000000013  (fp-8)    (fp+0)    U            
    0000000000000022  r10+0     (fp+0)    U            
    0000000000000027  sp+8      (fp+0)    U            

    func idx [1]: pc = 0x28, size = 11 bytes, attr = "F"
    STARTPC         CFA       FP        RA           
    0000000000000028  sp+8      u         f            
    000000000000002b  r11+8     u         f            
    0000000000000032  sp+8      u         f            

    func idx [2]: pc = 0x33, size = 9 bytes, attr = "F"
    STARTPC         CFA       FP        RA           
    0000000000000033  sp+8      u         f            
    0000000000000036  sp+8      r11+0     U            
    000000000000003b  sp+8      u         f            

    func idx [3]: pc = 0x3c, size = 5 bytes, attr = "F"
    STARTPC         CFA       FP        RA           
    000000000000003c  sp+8      u         f            
    000000000000003d  sp+0      u         r1+0         

    func idx [4]: pc = 0x41, size = 18 bytes, attr = "F"
    STARTPC         CFA       FP        RA           
    0000000000000041  sp+8      u         f            
    0000000000000045  sp+24     u         f            
    000000000000004e  sp+24     u         c-24         
    0000000000000052  sp+8      u         f            

    func idx [5]: pc = 0x53, size = 9 bytes, attr = "S"
    STARTPC         CFA       FP        RA           

    func idx [6]: pc = 0x5f, size = 5 bytes
    STARTPC         CFA       FP        RA           
    000000000000005f  sp+8      u         f            
    0000000000000060  RA undefined
    0000000000000063  RA undefined
