
v1-gas240-pie:     file format elf64-x86-64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_1
    Flags: SFRAME_F_FDE_SORTED
    Num FDEs: 16
    Num FREs: 43

  Function Index :

    func idx [0]: pc = 0x1b9, size = 3 bytes
    STARTPC         CFA       FP        RA           
    00000000000001b9  sp+8      u         u            

    func idx [1]: pc = 0x1bc, size = 16 bytes
    STARTPC         CFA       FP        RA           
    00000000000001bc  sp+8      u         u            
    00000000000001bd  sp+16     c-16      u            
    00000000000001c0  fp+16     c-16      u            
    00000000000001cb  sp+8      u         u            

    func idx [2]: pc = 0x1cc, size = 30 bytes
    STARTPC         CFA       FP        RA           
    00000000000001cc  sp+8      u         u            
    00000000000001d0  sp+32     u         u            
    00000000000001d8  sp+8      u         u            
    00000000000001d9  sp+32     u         u            
    00000000000001e9  sp+8      u         u            

    func idx [3]: pc = 0x1ea, size = 20 bytes
    STARTPC         CFA       FP        RA           
    00000000000001ea  sp+8      u         u            
    00000000000001f1  sp+4104   u         u            
    00000000000001fd  sp+8      u         u            

    func idx [4]: pc = 0x1fe, size = 20 bytes
    STARTPC         CFA       FP        RA           
    00000000000001fe  sp+8      u         u            
    0000000000000205  sp+305419896u         u            
    0000000000000211  sp+8      u         u            

    func idx [5]: pc = 0x212, size = 30 bytes
    STARTPC         CFA       FP        RA           
    0000000000000212  sp+8      u         u            
    0000000000000219  sp+512    u         u            
    000000000000021d  sp+512    c-512     u            
    0000000000000228  sp+512    u         u            
    000000000000022f  sp+8      u         u            

    func idx [6]: pc = 0x230, size = 303 bytes
    STARTPC         CFA       FP        RA           
    0000000000000230  sp+8      u         u            
    0000000000000231  sp+16     u         u            
    000000000000035e  sp+8      u         u            

    func idx [7]: pc = 0x35f, size = 8 bytes
    STARTPC         CFA       FP        RA           
    000000000000035f  sp+8      u         u            
    0000000000000360  sp+16     u         u            
    0000000000000366  sp+8      u         u            

    func idx [8]: pc = 0x367, size = 8 bytes
    STARTPC         CFA       FP        RA           
    0000000000000367  sp+8      u         u            
    0000000000000368  sp+16     u         u            
    000000000000036e  sp+8      u         u            

    func idx [9]: pc = 0x36f, size = 0 bytes
    STARTPC         CFA       FP        RA           
    000000000000036f  sp+8      u         u            

    func idx [10]: pc = 0x36f, size = 16 bytes
    STARTPC         CFA       FP        RA           
    000000000000036f  sp+8      u         u            
    000000000000037e  sp+8      u         u            

    func idx [11]: pc = 0x37f, size = 9 bytes
    STARTPC         CFA       FP        RA           
    000000000000037f  sp+168    u         u            

    func idx [12]: pc = 0x388, size = 13 bytes
    STARTPC         CFA       FP        RA           
    0000000000000388  sp+8      u         u            

    func idx [13]: pc = 0x395, size = 14 bytes
    STARTPC         CFA       FP        RA           
    0000000000000395  sp+8      u         u            
    0000000000000399  sp+48     u         u            
    00000000000003a2  sp+8      u         u            

    func idx [14]: pc = 0x3a3, size = 6 bytes
    STARTPC         CFA       FP        RA           
    00000000000003a3  sp+8      u         u            
    00000000000003a4  sp+16     c-16      u            
    00000000000003a7  fp+16     c-16      u            
    00000000000003a8  sp+8      c-16      u            

    func idx [15]: pc = 0x3a9, size = 1 bytes
    STARTPC         CFA       FP        RA           
    00000000000003a9  sp+8      u         u            
