
v2-gas244-static:     file format elf64-x86-64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_2
    Flags: SFRAME_F_FDE_SORTED
    CFA fixed RA offset: -8
    Num FDEs: 16
    Num FREs: 43

  Function Index :

    func idx [0]: pc = 0x4000e8, size = 3 bytes
    STARTPC         CFA       FP        RA           
    00000000004000e8  sp+8      u         f            

    func idx [1]: pc = 0x4000eb, size = 16 bytes
    STARTPC         CFA       FP        RA           
    00000000004000eb  sp+8      u         f            
    00000000004000ec  sp+16     c-16      f            
    00000000004000ef  fp+16     c-16      f            
    00000000004000fa  sp+8      u         f            

    func idx [2]: pc = 0x4000fb, size = 30 bytes
    STARTPC         CFA       FP        RA           
    00000000004000fb  sp+8      u         f            
    00000000004000ff  sp+32     u         f            
    0000000000400107  sp+8      u         f            
    0000000000400108  sp+32     u         f            
    0000000000400118  sp+8      u         f            

    func idx [3]: pc = 0x400119, size = 20 bytes
    STARTPC         CFA       FP        RA           
    0000000000400119  sp+8      u         f            
    0000000000400120  sp+4104   u         f            
    000000000040012c  sp+8      u         f            

    func idx [4]: pc = 0x40012d, size = 20 bytes
    STARTPC         CFA       FP        RA           
    000000000040012d  sp+8      u         f            
    0000000000400134  sp+305419896u         f            
    0000000000400140  sp+8      u         f            

    func idx [5]: pc = 0x400141, size = 30 bytes
    STARTPC         CFA       FP        RA           
    0000000000400141  sp+8      u         f            
    0000000000400148  sp+512    u         f            
    000000000040014c  sp+512    c-512     f            
    0000000000400157  sp+512    u         f            
    000000000040015e  sp+8      u         f            

    func idx [6]: pc = 0x40015f, size = 303 bytes
    STARTPC         CFA       FP        RA           
    000000000040015f  sp+8      u         f            
    0000000000400160  sp+16     u         f            
    000000000040028d  sp+8      u         f            

    func idx [7]: pc = 0x40028e, size = 8 bytes
    STARTPC         CFA       FP        RA           
    000000000040028e  sp+8      u         f            
    000000000040028f  sp+16     u         f            
    0000000000400295  sp+8      u         f            

    func idx [8]: pc = 0x400296, size = 8 bytes
    STARTPC         CFA       FP        RA           
    0000000000400296  sp+8      u         f            
    0000000000400297  sp+16     u         f            
    000000000040029d  sp+8      u         f            

    func idx [9]: pc = 0x40029e, size = 0 bytes
    STARTPC         CFA       FP        RA           
    000000000040029e  sp+8      u         f            

    func idx [10]: pc = 0x40029e, size = 16 bytes
    STARTPC         CFA       FP        RA           
    000000000040029e  sp+8      u         f            
    00000000004002ad  sp+8      u         f            

    func idx [11]: pc = 0x4002ae, size = 9 bytes
    STARTPC         CFA       FP        RA           
    00000000004002ae  sp+168    u         f            

    func idx [12]: pc = 0x4002b7, size = 13 bytes
    STARTPC         CFA       FP        RA           
    00000000004002b7  sp+8      u         f            

    func idx [13]: pc = 0x4002c4, size = 14 bytes
    STARTPC         CFA       FP        RA           
    00000000004002c4  sp+8      u         f            
    00000000004002c8  sp+48     u         f            
    00000000004002d1  sp+8      u         f            

    func idx [14]: pc = 0x4002d2, size = 6 bytes
    STARTPC         CFA       FP        RA           
    00000000004002d2  sp+8      u         f            
    00000000004002d3  sp+16     c-16      f            
    00000000004002d6  fp+16     c-16      f            
    00000000004002d7  sp+8      c-16      f            

    func idx [15]: pc = 0x4002d8, size = 1 bytes
    STARTPC         CFA       FP        RA           
    00000000004002d8  sp+8      u         f            
