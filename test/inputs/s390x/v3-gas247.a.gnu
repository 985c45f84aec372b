In archive v3-gas247.a:

v3-gas247.o:     file format elf64-s390

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_3
    Flags: SFRAME_F_FDE_FUNC_START_PCREL
    Num FDEs: 13
    Num FREs: 39

  Function Index :

    func idx [0]: pc = 0x0, size = 6 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+160    u         u            

    func idx [1]: pc = 0x6, size = 30 bytes
    STARTPC         CFA       FP        RA           
    0000000000000006  sp+160    u         u            
    000000000000000c  sp+160    c-72      c-48         
    0000000000000010  sp+320    c-72      c-48         
    0000000000000022  sp+160    u         u            

    func idx [2]: pc = 0x24, size = 28 bytes
    STARTPC         CFA       FP        RA           
    0000000000000024  sp+160    u         u            
    000000000000002a  sp+160    c-72      c-48         
    000000000000002e  sp+336    c-72      c-48         
    0000000000000032  fp+336    c-72      c-48         
    000000000000003e  sp+160    u         u            

    func idx [3]: pc = 0x40, size = 24 bytes
    STARTPC         CFA       FP        RA           
    0000000000000040  sp+160    u         u            
    0000000000000046  sp+160    u         c-48         
    000000000000004a  sp+320    u         c-48         
    0000000000000056  sp+160    u         u            

    func idx [4]: pc = 0x58, size = 18 bytes
    STARTPC         CFA       FP        RA           
    0000000000000058  sp+160    u         u            
    000000000000005e  sp+160    c-72      U            
    0000000000000068  sp+160    u         u            

    func idx [5]: pc = 0x6a, size = 28 bytes
    STARTPC         CFA       FP        RA           
    000000000000006a  sp+160    u         u            
    0000000000000070  sp+160    u         c-48         
    0000000000000074  sp+8352   u         c-48         
    000000000000007e  sp+160    u         c-48         
    0000000000000084  sp+160    u         u            

    func idx [6]: pc = 0x86, size = 32 bytes
    STARTPC         CFA       FP        RA           
    0000000000000086  sp+160    u         u            
    000000000000008c  sp+160    u         c-48         
    0000000000000092  sp+16777376u         c-48         
    000000000000009e  sp+160    u         c-48         
    00000000000000a4  sp+160    u         u            

    func idx [7]: pc = 0xa6, size = 290 bytes
    STARTPC         CFA       FP        RA           
    00000000000000a6  sp+160    u         u            
    00000000000000aa  sp+168    u         u            
    00000000000001c6  sp+160    u         u            

    func idx [8]: pc = 0x1c8, size = 10 bytes
    STARTPC         CFA       FP        RA           
    00000000000001c8  sp+160    u         u            
    00000000000001cc  sp+176    u         u            
    00000000000001d0  sp+160    u         u            

    func idx [9]: pc = 0x1d2, size = 10 bytes
    STARTPC         CFA       FP        RA           
    00000000000001d2  sp+160    u         u            
    00000000000001d6  sp+176    u         u            
    00000000000001da  sp+160    u         u            

    func idx [10]: pc = 0x1dc, size = 0 bytes
    STARTPC         CFA       FP        RA           
    00000000000001dc  sp+160    u         u            

    func idx [11]: pc = 0x1dc, size = 2 bytes, attr = "S"
    STARTPC         CFA       FP        RA           
    00000000000001dc  sp+520    c-72      c-48         

    func idx [12]: pc = 0x1de, size = 12 bytes
    STARTPC         CFA       FP        RA           
    00000000000001de  RA undefined

v3-gas247-second.o:     file format elf64-s390

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_3
    Flags: SFRAME_F_FDE_FUNC_START_PCREL
    Num FDEs: 2
    Num FREs: 5

  Function Index :

    func idx [0]: pc = 0x0, size = 24 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+160    u         u            
    0000000000000006  sp+160    u         c-48         
    000000000000000a  sp+328    u         c-48         
    0000000000000016  sp+160    u         u            

    func idx [1]: pc = 0x18, size = 2 bytes
    STARTPC         CFA       FP        RA           
    0000000000000018  sp+160    u         u            
