
v2-lld22-concat.so:     file format elf64-x86-64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_2
    Flags: SFRAME_F_FDE_FUNC_START_PCREL
    CFA fixed RA offset: -8
    Num FDEs: 12
    Num FREs: 33

  Function Index :

    func idx [0]: pc = 0x191c, size = 3 bytes
    STARTPC         CFA       FP        RA           
    000000000000191c  sp+8      u         f            

    func idx [1]: pc = 0x191f, size = 16 bytes
    STARTPC         CFA       FP        RA           
    000000000000191f  sp+8      u         f            
    0000000000001920  sp+16     c-16      f            
    0000000000001923  fp+16     c-16      f            
    000000000000192e  sp+8      u         f            

    func idx [2]: pc = 0x192f, size = 30 bytes
    STARTPC         CFA       FP        RA           
    000000000000192f  sp+8      u         f            
    0000000000001933  sp+32     u         f            
    000000000000193b  sp+8      u         f            
    000000000000193c  sp+32     u         f            
    000000000000194c  sp+8      u         f            

    func idx [3]: pc = 0x194d, size = 20 bytes
    STARTPC         CFA       FP        RA           
    000000000000194d  sp+8      u         f            
    0000000000001954  sp+4104   u         f            
    0000000000001960  sp+8      u         f            

    func idx [4]: pc = 0x1961, size = 20 bytes
    STARTPC         CFA       FP        RA           
    0000000000001961  sp+8      u         f            
    0000000000001968  sp+305419896u         f            
    0000000000001974  sp+8      u         f            

    func idx [5]: pc = 0x1975, size = 30 bytes
    STARTPC         CFA       FP        RA           
    0000000000001975  sp+8      u         f            
    000000000000197c  sp+512    u         f            
    0000000000001980  sp+512    c-512     f            
    000000000000198b  sp+512    u         f            
    0000000000001992  sp+8      u         f            

    func idx [6]: pc = 0x1993, size = 303 bytes
    STARTPC         CFA       FP        RA           
    0000000000001993  sp+8      u         f            
    0000000000001994  sp+16     u         f            
    0000000000001ac1  sp+8      u         f            

    func idx [7]: pc = 0x1ac2, size = 8 bytes
    STARTPC         CFA       FP        RA           
    0000000000001ac2  sp+8      u         f            
    0000000000001ac3  sp+16     u         f            
    0000000000001ac9  sp+8      u         f            

    func idx [8]: pc = 0x1aca, size = 8 bytes
    STARTPC         CFA       FP        RA           
    0000000000001aca  sp+8      u         f            
    0000000000001acb  sp+16     u         f            
    0000000000001ad1  sp+8      u         f            

    func idx [9]: pc = 0x1ad2, size = 16 bytes
    STARTPC         CFA       FP        RA           
    0000000000001ad2  sp+8      u         f            

    func idx [10]: pc = 0x1ae2, size = 9 bytes
    STARTPC         CFA       FP        RA           
    0000000000001ae2  sp+168    u         f            

    func idx [11]: pc = 0x1aeb, size = 13 bytes
    STARTPC         CFA       FP        RA           
    0000000000001aeb  sp+8      u         f            
