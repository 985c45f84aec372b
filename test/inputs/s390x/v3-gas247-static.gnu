
v3-gas247-static:     file format elf64-s390

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_3
    Flags: SFRAME_F_FDE_SORTED,
           SFRAME_F_FDE_FUNC_START_PCREL
    Num FDEs: 15
    Num FREs: 44

  Function Index :

    func idx [0]: pc = 0x10000e8, size = 6 bytes
    STARTPC         CFA       FP        RA           
    00000000010000e8  sp+160    u         u            

    func idx [1]: pc = 0x10000ee, size = 30 bytes
    STARTPC         CFA       FP        RA           
    00000000010000ee  sp+160    u         u            
    00000000010000f4  sp+160    c-72      c-48         
    00000000010000f8  sp+320    c-72      c-48         
    000000000100010a  sp+160    u         u            

    func idx [2]: pc = 0x100010c, size = 28 bytes
    STARTPC         CFA       FP        RA           
    000000000100010c  sp+160    u         u            
    0000000001000112  sp+160    c-72      c-48         
    0000000001000116  sp+336    c-72      c-48         
    000000000100011a  fp+336    c-72      c-48         
    0000000001000126  sp+160    u         u            

    func idx [3]: pc = 0x1000128, size = 24 bytes
    STARTPC         CFA       FP        RA           
    0000000001000128  sp+160    u         u            
    000000000100012e  sp+160    u         c-48         
    0000000001000132  sp+320    u         c-48         
    000000000100013e  sp+160    u         u            

    func idx [4]: pc = 0x1000140, size = 18 bytes
    STARTPC         CFA       FP        RA           
    0000000001000140  sp+160    u         u            
    0000000001000146  sp+160    c-72      U            
    0000000001000150  sp+160    u         u            

    func idx [5]: pc = 0x1000152, size = 28 bytes
    STARTPC         CFA       FP        RA           
    0000000001000152  sp+160    u         u            
    0000000001000158  sp+160    u         c-48         
    000000000100015c  sp+8352   u         c-48         
    0000000001000166  sp+160    u         c-48         
    000000000100016c  sp+160    u         u            

    func idx [6]: pc = 0x100016e, size = 32 bytes
    STARTPC         CFA       FP        RA           
    000000000100016e  sp+160    u         u            
    0000000001000174  sp+160    u         c-48         
    000000000100017a  sp+16777376u         c-48         
    0000000001000186  sp+160    u         c-48         
    000000000100018c  sp+160    u         u            

    func idx [7]: pc = 0x100018e, size = 290 bytes
    STARTPC         CFA       FP        RA           
    000000000100018e  sp+160    u         u            
    0000000001000192  sp+168    u         u            
    00000000010002ae  sp+160    u         u            

    func idx [8]: pc = 0x10002b0, size = 10 bytes
    STARTPC         CFA       FP        RA           
    00000000010002b0  sp+160    u         u            
    00000000010002b4  sp+176    u         u            
    00000000010002b8  sp+160    u         u            

    func idx [9]: pc = 0x10002ba, size = 10 bytes
    STARTPC         CFA       FP        RA           
    00000000010002ba  sp+160    u         u            
    00000000010002be  sp+176    u         u            
    00000000010002c2  sp+160    u         u            

    func idx [10]: pc = 0x10002c4, size = 0 bytes
    STARTPC         CFA       FP        RA           
    00000000010002c4  sp+160    u         u            

    func idx [11]: pc = 0x10002c4, size = 2 bytes, attr = "S"
    STARTPC         CFA       FP        RA           
    00000000010002c4  sp+520    c-72      c-48         

    func idx [12]: pc = 0x10002c6, size = 12 bytes
    STARTPC         CFA       FP        RA           
    00000000010002c6  RA undefined

    func idx [13]: pc = 0x10002d4, size = 24 bytes
    STARTPC         CFA       FP        RA           
    00000000010002d4  sp+160    u         u            
    00000000010002da  sp+160    u         c-48         
    00000000010002de  sp+328    u         c-48         
    00000000010002ea  sp+160    u         u            

    func idx [14]: pc = 0x10002ec, size = 2 bytes
    STARTPC         CFA       FP        RA           
    00000000010002ec  sp+160    u         u            
