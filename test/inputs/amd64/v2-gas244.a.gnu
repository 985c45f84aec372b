In archive v2-gas244.a:

v2-gas244.o:     file format elf64-x86-64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_2
    Flags: NONE
    CFA fixed RA offset: -8
    Num FDEs: 13
    Num FREs: 35

  Function Index :

    func idx [0]: pc = 0xffffffffffffffe4, size = 3 bytes
    STARTPC         CFA       FP        RA           
    ffffffffffffffe4  sp+8      u         f            

    func idx [1]: pc = 0xffffffffffffffd3, size = 16 bytes
    STARTPC         CFA       FP        RA           
    ffffffffffffffd3  sp+8      u         f            
    ffffffffffffffd4  sp+16     c-16      f            
    ffffffffffffffd7  fp+16     c-16      f            
    ffffffffffffffe2  sp+8      u         f            

    func idx [2]: pc = 0xffffffffffffffcf, size = 30 bytes
    STARTPC         CFA       FP        RA           
    ffffffffffffffcf  sp+8      u         f            
    ffffffffffffffd3  sp+32     u         f            
    ffffffffffffffdb  sp+8      u         f            
    ffffffffffffffdc  sp+32     u         f            
    ffffffffffffffec  sp+8      u         f            

    func idx [3]: pc = 0xffffffffffffffd9, size = 20 bytes
    STARTPC         CFA       FP        RA           
    ffffffffffffffd9  sp+8      u         f            
    ffffffffffffffe0  sp+4104   u         f            
    ffffffffffffffec  sp+8      u         f            

    func idx [4]: pc = 0xffffffffffffffd9, size = 20 bytes
    STARTPC         CFA       FP        RA           
    ffffffffffffffd9  sp+8      u         f            
    ffffffffffffffe0  sp+305419896u         f            
    ffffffffffffffec  sp+8      u         f            

    func idx [5]: pc = 0xffffffffffffffd9, size = 30 bytes
    STARTPC         CFA       FP        RA           
    ffffffffffffffd9  sp+8      u         f            
    ffffffffffffffe0  sp+512    u         f            
    ffffffffffffffe4  sp+512    c-512     f            
    ffffffffffffffef  sp+512    u         f            
    fffffffffffffff6  sp+8      u         f            

    func idx [6]: pc = 0xffffffffffffffe3, size = 303 bytes
    STARTPC         CFA       FP        RA           
    ffffffffffffffe3  sp+8      u         f            
    ffffffffffffffe4  sp+16     u         f            
    0000000000000111  sp+8      u         f            

    func idx [7]: pc = 0xfe, size = 8 bytes
    STARTPC         CFA       FP        RA           
    00000000000000fe  sp+8      u         f            
    00000000000000ff  sp+16     u         f            
    0000000000000105  sp+8      u         f            

    func idx [8]: pc = 0xf2, size = 8 bytes
    STARTPC         CFA       FP        RA           
    00000000000000f2  sp+8      u         f            
    00000000000000f3  sp+16     u         f            
    00000000000000f9  sp+8      u         f            

    func idx [9]: pc = 0xe6, size = 0 bytes
    STARTPC         CFA       FP        RA           
    00000000000000e6  sp+8      u         f            

    func idx [10]: pc = 0xd2, size = 16 bytes
    STARTPC         CFA       FP        RA           
    00000000000000d2  sp+8      u         f            
    00000000000000e1  sp+8      u         f            

    func idx [11]: pc = 0xce, size = 9 bytes
    STARTPC         CFA       FP        RA           
    00000000000000ce  sp+168    u         f            

    func idx [12]: pc = 0xc3, size = 13 bytes
    STARTPC         CFA       FP        RA           
    00000000000000c3  sp+8      u         f            

v2-gas244-second.o:     file format elf64-x86-64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_2
    Flags: NONE
    CFA fixed RA offset: -8
    Num FDEs: 3
    Num FREs: 8

  Function Index :

    func idx [0]: pc = 0xffffffffffffffe4, size = 14 bytes
    STARTPC         CFA       FP        RA           
    ffffffffffffffe4  sp+8      u         f            
    ffffffffffffffe8  sp+48     u         f            
    fffffffffffffff1  sp+8      u         f            

    func idx [1]: pc = 0xffffffffffffffde, size = 6 bytes
    STARTPC         CFA       FP        RA           
    ffffffffffffffde  sp+8      u         f            
    ffffffffffffffdf  sp+16     c-16      f            
    ffffffffffffffe2  fp+16     c-16      f            
    ffffffffffffffe3  sp+8      c-16      f            

    func idx [2]: pc = 0xffffffffffffffd0, size = 1 bytes
    STARTPC         CFA       FP        RA           
    ffffffffffffffd0  sp+8      u         f            
