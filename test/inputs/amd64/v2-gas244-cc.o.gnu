
v2-gas244-cc.o:     file format elf64-x86-64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_2
    Flags: NONE
    CFA fixed RA offset: -8
    Num FDEs: 7
    Num FREs: 35

  Function Index :

    func idx [0]: pc = 0xffffffffffffffe4, size = 8 bytes
    STARTPC         CFA       FP        RA           
    ffffffffffffffe4  sp+8      u         f            

    func idx [1]: pc = 0xffffffffffffffe0, size = 39 bytes
    STARTPC         CFA       FP        RA           
    ffffffffffffffe0  sp+8      u         f            
    ffffffffffffffe1  sp+16     u         f            
    ffffffffffffffe7  sp+80     u         f            
    0000000000000003  sp+16     u         f            
    0000000000000004  sp+8      u         f            

    func idx [2]: pc = 0xfffffffffffffffc, size = 32 bytes
    STARTPC         CFA       FP        RA           
    fffffffffffffffc  sp+8      u         f            
    fffffffffffffffd  sp+16     u         f            
    0000000000000007  sp+40016  u         f            
    000000000000001a  sp+16     u         f            
    000000000000001b  sp+8      u         f            

    func idx [3]: pc = 0x8, size = 52 bytes
    STARTPC         CFA       FP        RA           
    0000000000000008  sp+8      u         f            
    0000000000000009  sp+16     c-16      f            
    0000000000000016  fp+16     c-16      f            
    000000000000003b  sp+8      c-16      f            

    func idx [4]: pc = 0x34, size = 53 bytes
    STARTPC         CFA       FP        RA           
    0000000000000034  sp+8      u         f            
    0000000000000035  sp+16     c-16      f            
    0000000000000038  fp+16     c-16      f            
    0000000000000068  sp+8      c-16      f            

    func idx [5]: pc = 0xd0, size = 107 bytes
    STARTPC         CFA       FP        RA           
    00000000000000d0  sp+8      u         f            
    00000000000000d2  sp+16     u         f            
    00000000000000d4  sp+24     u         f            
    00000000000000d6  sp+32     u         f            
    00000000000000d8  sp+40     u         f            
    00000000000000d9  sp+48     c-48      f            
    00000000000000da  sp+56     c-48      f            
    00000000000000de  sp+80     c-48      f            
    000000000000012e  sp+56     c-48      f            
    0000000000000131  sp+48     c-48      f            
    0000000000000132  sp+40     c-48      f            
    0000000000000134  sp+32     c-48      f            
    0000000000000136  sp+24     c-48      f            
    0000000000000138  sp+16     c-48      f            
    000000000000013a  sp+8      c-48      f            

    func idx [6]: pc = 0xffffffffffffff6c, size = 5 bytes
    STARTPC         CFA       FP        RA           
    ffffffffffffff6c  sp+80     c-48      f            
