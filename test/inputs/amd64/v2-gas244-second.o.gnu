
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
