
v2-gas244.o:     file format elf64-bigaarch64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_2
    Flags: NONE
    Num FDEs: 13
    Num FREs: 40

  Function Index :

    func idx [0]: pc = 0xffffffffffffffe4, size = 8 bytes
    STARTPC         CFA       FP        RA           
    ffffffffffffffe4  sp+0      u         u            

    func idx [1]: pc = 0xffffffffffffffd8, size = 28 bytes
    STARTPC         CFA       FP        RA           
    ffffffffffffffd8  sp+0      u         u            
    ffffffffffffffdc  sp+32     c-32      c-24         
    ffffffffffffffe0  fp+32     c-32      c-24         
    ffffffffffffffec  sp+32     c-32      c-24         
    fffffffffffffff0  sp+0      u         u            

    func idx [2]: pc = 0xffffffffffffffe0, size = 16 bytes
    STARTPC         CFA       FP        RA           
    ffffffffffffffe0  sp+0      u         u            
    ffffffffffffffe4  sp+16     u         c-16         
    ffffffffffffffec  sp+0      u         u            

    func idx [3]: pc = 0xffffffffffffffdc, size = 20 bytes
    STARTPC         CFA       FP        RA           
    ffffffffffffffdc  sp+0      u         u            
    ffffffffffffffe0  sp+512    c-512     c-504        
    ffffffffffffffe8  sp+512    u         u            
    ffffffffffffffec  sp+0      u         u            

    func idx [4]: pc = 0xffffffffffffffdc, size = 24 bytes
    STARTPC         CFA       FP        RA           
    ffffffffffffffdc  sp+0      u         u            
    ffffffffffffffe0  sp+1048576u         u            
    ffffffffffffffe4  sp+1048576c-1048576 c-1048568    
    ffffffffffffffec  sp+1048576u         u            
    fffffffffffffff0  sp+0      u         u            

    func idx [5]: pc = 0xffffffffffffffe0, size = 292 bytes
    STARTPC         CFA       FP        RA           
    ffffffffffffffe0  sp+0      u         u            
    ffffffffffffffe4  sp+16     u         u            
    0000000000000100  sp+0      u         u            

    func idx [6]: pc = 0xf0, size = 24 bytes
    STARTPC         CFA       FP        RA           
    00000000000000f0  sp+0      u         u            
    00000000000000f4  sp+0      u         u[s]         
    00000000000000f8  sp+16     c-16      c-8[s]       
    0000000000000100  sp+0      u         u[s]         
    0000000000000104  sp+0      u         u            

    func idx [7]: pc = 0xf4, size = 24 bytes, pauth = B key
    STARTPC         CFA       FP        RA           
    00000000000000f4  sp+0      u         u            
    00000000000000f8  sp+0      u         u[s]         
    00000000000000fc  sp+16     u         c-16[s]      
    0000000000000104  sp+0      u         u[s]         
    0000000000000108  sp+0      u         u            

    func idx [8]: pc = 0xf8, size = 16 bytes
    STARTPC         CFA       FP        RA           
    00000000000000f8  sp+0      u         u            
    00000000000000fc  sp+32     u         c-32         
    0000000000000104  sp+0      u         u            

    func idx [9]: pc = 0xf4, size = 16 bytes
    STARTPC         CFA       FP        RA           
    00000000000000f4  sp+0      u         u            
    00000000000000f8  sp+32     u         c-32         
    0000000000000100  sp+0      u         u            

    func idx [10]: pc = 0xf0, size = 0 bytes
    STARTPC         CFA       FP        RA           
    00000000000000f0  sp+0      u         u            

    func idx [11]: pc = 0xdc, size = 8 bytes
    STARTPC         CFA       FP        RA           
    00000000000000dc  sp+256    c-256     c-248        

    func idx [12]: pc = 0xd0, size = 12 bytes
    STARTPC         CFA       FP        RA           
    00000000000000d0  sp+0      u         u            
