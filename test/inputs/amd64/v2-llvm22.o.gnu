
v2-llvm22.o:     file format elf64-x86-64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_2
    Flags: SFRAME_F_FDE_FUNC_START_PCREL
    CFA fixed RA offset: -8
    Num FDEs: 12
    Num FREs: 33

  Function Index :

    func idx [0]: pc = 0x0, size = 3 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+8      u         f            

    func idx [1]: pc = 0x3, size = 16 bytes
    STARTPC         CFA       FP        RA           
    0000000000000003  sp+8      u         f            
    0000000000000004  sp+16     c-16      f            
    0000000000000007  fp+16     c-16      f            
    0000000000000012  sp+8      u         f            

    func idx [2]: pc = 0x13, size = 30 bytes
    STARTPC         CFA       FP        RA           
    0000000000000013  sp+8      u         f            
    0000000000000017  sp+32     u         f            
    000000000000001f  sp+8      u         f            
    0000000000000020  sp+32     u         f            
    0000000000000030  sp+8      u         f            

    func idx [3]: pc = 0x31, size = 20 bytes
    STARTPC         CFA       FP        RA           
    0000000000000031  sp+8      u         f            
    0000000000000038  sp+4104   u         f            
    0000000000000044  sp+8      u         f            

    func idx [4]: pc = 0x45, size = 20 bytes
    STARTPC         CFA       FP        RA           
    0000000000000045  sp+8      u         f            
    000000000000004c  sp+305419896u         f            
    0000000000000058  sp+8      u         f            

    func idx [5]: pc = 0x59, size = 30 bytes
    STARTPC         CFA       FP        RA           
    0000000000000059  sp+8      u         f            
    0000000000000060  sp+512    u         f            
    0000000000000064  sp+512    c-512     f            
    000000000000006f  sp+512    u         f            
    0000000000000076  sp+8      u         f            

    func idx [6]: pc = 0x77, size = 303 bytes
    STARTPC         CFA       FP        RA           
    0000000000000077  sp+8      u         f            
    0000000000000078  sp+16     u         f            
    00000000000001a5  sp+8      u         f            

    func idx [7]: pc = 0x1a6, size = 8 bytes
    STARTPC         CFA       FP        RA           
    00000000000001a6  sp+8      u         f            
    00000000000001a7  sp+16     u         f            
    00000000000001ad  sp+8      u         f            

    func idx [8]: pc = 0x1ae, size = 8 bytes
    STARTPC         CFA       FP        RA           
    00000000000001ae  sp+8      u         f            
    00000000000001af  sp+16     u         f            
    00000000000001b5  sp+8      u         f            

    func idx [9]: pc = 0x1b6, size = 16 bytes
    STARTPC         CFA       FP        RA           
    00000000000001b6  sp+8      u         f            

    func idx [10]: pc = 0x1c6, size = 9 bytes
    STARTPC         CFA       FP        RA           
    00000000000001c6  sp+168    u         f            

    func idx [11]: pc = 0x1cf, size = 13 bytes
    STARTPC         CFA       FP        RA           
    00000000000001cf  sp+8      u         f            
