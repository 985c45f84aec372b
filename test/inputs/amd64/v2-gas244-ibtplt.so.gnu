
v2-gas244-ibtplt.so:     file format elf64-x86-64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_2
    Flags: SFRAME_F_FDE_SORTED
    CFA fixed RA offset: -8
    Num FDEs: 17
    Num FREs: 41

  Function Index :

    func idx [0]: pc = 0x490, size = 16 bytes
    STARTPC         CFA       FP        RA           
    0000000000000490  sp+16     u         f            
    0000000000000496  sp+24     u         f            

    func idx [1]: pc = 0x4a0, size = 80 bytes
    STARTPC[m]      CFA       FP        RA           
    0000000000000000  sp+8      u         f            
    0000000000000009  sp+16     u         f            

    func idx [2]: pc = 0x4f0, size = 16 bytes
    STARTPC[m]      CFA       FP        RA           
    0000000000000000  sp+16     u         f            

    func idx [3]: pc = 0x500, size = 80 bytes
    STARTPC[m]      CFA       FP        RA           
    0000000000000000  sp+8      u         f            

    func idx [4]: pc = 0x550, size = 3 bytes
    STARTPC         CFA       FP        RA           
    0000000000000550  sp+8      u         f            

    func idx [5]: pc = 0x553, size = 16 bytes
    STARTPC         CFA       FP        RA           
    0000000000000553  sp+8      u         f            
    0000000000000554  sp+16     c-16      f            
    0000000000000557  fp+16     c-16      f            
    0000000000000562  sp+8      u         f            

    func idx [6]: pc = 0x563, size = 30 bytes
    STARTPC         CFA       FP        RA           
    0000000000000563  sp+8      u         f            
    0000000000000567  sp+32     u         f            
    000000000000056f  sp+8      u         f            
    0000000000000570  sp+32     u         f            
    0000000000000580  sp+8      u         f            

    func idx [7]: pc = 0x581, size = 20 bytes
    STARTPC         CFA       FP        RA           
    0000000000000581  sp+8      u         f            
    0000000000000588  sp+4104   u         f            
    0000000000000594  sp+8      u         f            

    func idx [8]: pc = 0x595, size = 20 bytes
    STARTPC         CFA       FP        RA           
    0000000000000595  sp+8      u         f            
    000000000000059c  sp+305419896u         f            
    00000000000005a8  sp+8      u         f            

    func idx [9]: pc = 0x5a9, size = 30 bytes
    STARTPC         CFA       FP        RA           
    00000000000005a9  sp+8      u         f            
    00000000000005b0  sp+512    u         f            
    00000000000005b4  sp+512    c-512     f            
    00000000000005bf  sp+512    u         f            
    00000000000005c6  sp+8      u         f            

    func idx [10]: pc = 0x5c7, size = 303 bytes
    STARTPC         CFA       FP        RA           
    00000000000005c7  sp+8      u         f            
    00000000000005c8  sp+16     u         f            
    00000000000006f5  sp+8      u         f            

    func idx [11]: pc = 0x6f6, size = 8 bytes
    STARTPC         CFA       FP        RA           
    00000000000006f6  sp+8      u         f            
    00000000000006f7  sp+16     u         f            
    00000000000006fd  sp+8      u         f            

    func idx [12]: pc = 0x6fe, size = 8 bytes
    STARTPC         CFA       FP        RA           
    00000000000006fe  sp+8      u         f            
    00000000000006ff  sp+16     u         f            
    0000000000000705  sp+8      u         f            

    func idx [13]: pc = 0x706, size = 0 bytes
    STARTPC         CFA       FP        RA           
    0000000000000706  sp+8      u         f            

    func idx [14]: pc = 0x706, size = 16 bytes
    STARTPC         CFA       FP        RA           
    0000000000000706  sp+8      u         f            
    0000000000000715  sp+8      u         f            

    func idx [15]: pc = 0x716, size = 9 bytes
    STARTPC         CFA       FP        RA           
    0000000000000716  sp+168    u         f            

    func idx [16]: pc = 0x71f, size = 13 bytes
    STARTPC         CFA       FP        RA           
    000000000000071f  sp+8      u         f            
