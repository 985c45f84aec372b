
v2-gas244-cc.o:     file format elf64-bigaarch64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_2
    Flags: NONE
    Num FDEs: 7
    Num FREs: 32

  Function Index :

    func idx [0]: pc = 0xffffffffffffffe4, size = 8 bytes
    STARTPC         CFA       FP        RA           
    ffffffffffffffe4  sp+0      u         u            

    func idx [1]: pc = 0xffffffffffffffd8, size = 68 bytes
    STARTPC         CFA       FP        RA           
    ffffffffffffffd8  sp+0      u         u            
    ffffffffffffffdc  sp+96     u         u            
    ffffffffffffffe8  fp+32     c-32      c-24         
    000000000000000c  sp+96     c-32      c-24         
    0000000000000018  sp+0      u         u            

    func idx [2]: pc = 0x8, size = 68 bytes
    STARTPC         CFA       FP        RA           
    0000000000000008  sp+0      u         u            
    000000000000000c  sp+48     u         u            
    0000000000000018  fp+48     c-48      c-40         
    000000000000003c  sp+48     c-48      c-40         
    0000000000000048  sp+0      u         u            

    func idx [3]: pc = 0x38, size = 64 bytes
    STARTPC         CFA       FP        RA           
    0000000000000038  sp+0      u         u            
    000000000000003c  sp+32     u         u            
    0000000000000044  fp+32     c-32      c-24         
    000000000000006c  sp+32     c-32      c-24         
    0000000000000074  sp+0      u         u            

    func idx [4]: pc = 0x64, size = 76 bytes
    STARTPC         CFA       FP        RA           
    0000000000000064  sp+0      u         u            
    0000000000000068  sp+32     u         u            
    0000000000000070  fp+32     c-32      c-24         
    00000000000000a4  sp+32     c-32      c-24         
    00000000000000ac  sp+0      u         u            

    func idx [5]: pc = 0x9c, size = 116 bytes
    STARTPC         CFA       FP        RA           
    000000000000009c  sp+0      u         u            
    00000000000000a0  sp+48     u         u            
    00000000000000ac  fp+48     c-48      c-40         
    0000000000000100  sp+48     c-48      c-40         
    000000000000010c  sp+0      u         u            

    func idx [6]: pc = 0xfc, size = 144 bytes
    STARTPC         CFA       FP        RA           
    00000000000000fc  sp+0      u         u            
    0000000000000100  sp+80     u         u            
    0000000000000114  fp+80     c-80      c-72         
    0000000000000170  sp+80     c-80      c-72         
    0000000000000184  sp+0      u         u            
    0000000000000188  sp+80     u         u            
