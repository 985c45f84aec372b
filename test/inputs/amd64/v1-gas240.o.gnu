
v1-gas240.o:     file format elf64-x86-64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_1
    Flags: NONE
    Num FDEs: 13
    Num FREs: 35

  Function Index :

    func idx [0]: pc = 0x0, size = 3 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+8      u         u            

    func idx [1]: pc = 0x0, size = 16 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+8      u         u            
    0000000000000001  sp+16     c-16      u            
    0000000000000004  fp+16     c-16      u            
    000000000000000f  sp+8      u         u            

    func idx [2]: pc = 0x0, size = 30 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+8      u         u            
    0000000000000004  sp+32     u         u            
    000000000000000c  sp+8      u         u            
    000000000000000d  sp+32     u         u            
    000000000000001d  sp+8      u         u            

    func idx [3]: pc = 0x0, size = 20 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+8      u         u            
    0000000000000007  sp+4104   u         u            
    0000000000000013  sp+8      u         u            

    func idx [4]: pc = 0x0, size = 20 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+8      u         u            
    0000000000000007  sp+305419896u         u            
    0000000000000013  sp+8      u         u            

    func idx [5]: pc = 0x0, size = 30 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+8      u         u            
    0000000000000007  sp+512    u         u            
    000000000000000b  sp+512    c-512     u            
    0000000000000016  sp+512    u         u            
    000000000000001d  sp+8      u         u            

    func idx [6]: pc = 0x0, size = 303 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+8      u         u            
    0000000000000001  sp+16     u         u            
    000000000000012e  sp+8      u         u            

    func idx [7]: pc = 0x0, size = 8 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+8      u         u            
    0000000000000001  sp+16     u         u            
    0000000000000007  sp+8      u         u            

    func idx [8]: pc = 0x0, size = 8 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+8      u         u            
    0000000000000001  sp+16     u         u            
    0000000000000007  sp+8      u         u            

    func idx [9]: pc = 0x0, size = 0 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+8      u         u            

    func idx [10]: pc = 0x0, size = 16 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+8      u         u            
    000000000000000f  sp+8      u         u            

    func idx [11]: pc = 0x0, size = 9 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+168    u         u            

    func idx [12]: pc = 0x0, size = 13 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+8      u         u            
