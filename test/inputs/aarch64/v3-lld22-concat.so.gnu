
v3-lld22-concat.so:     file format elf64-littleaarch64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_3
    Flags: SFRAME_F_FDE_FUNC_START_PCREL
    Num FDEs: 13
    Num FREs: 40

  Function Index :

    func idx [0]: pc = 0x18f0, size = 8 bytes
    STARTPC         CFA       FP        RA           
    00000000000018f0  sp+0      u         u            

    func idx [1]: pc = 0x18f8, size = 28 bytes
    STARTPC         CFA       FP        RA           
    00000000000018f8  sp+0      u         u            
    00000000000018fc  sp+32     c-32      c-24         
    0000000000001900  fp+32     c-32      c-24         
    000000000000190c  sp+32     c-32      c-24         
    0000000000001910  sp+0      u         u            

    func idx [2]: pc = 0x1914, size = 16 bytes
    STARTPC         CFA       FP        RA           
    0000000000001914  sp+0      u         u            
    0000000000001918  sp+16     u         c-16         
    0000000000001920  sp+0      u         u            

    func idx [3]: pc = 0x1924, size = 20 bytes
    STARTPC         CFA       FP        RA           
    0000000000001924  sp+0      u         u            
    0000000000001928  sp+512    c-512     c-504        
    0000000000001930  sp+512    u         u            
    0000000000001934  sp+0      u         u            

    func idx [4]: pc = 0x1938, size = 24 bytes
    STARTPC         CFA       FP        RA           
    0000000000001938  sp+0      u         u            
    000000000000193c  sp+1048576u         u            
    0000000000001940  sp+1048576c-1048576 c-1048568    
    0000000000001948  sp+1048576u         u            
    000000000000194c  sp+0      u         u            

    func idx [5]: pc = 0x1950, size = 292 bytes
    STARTPC         CFA       FP        RA           
    0000000000001950  sp+0      u         u            
    0000000000001954  sp+16     u         u            
    0000000000001a70  sp+0      u         u            

    func idx [6]: pc = 0x1a74, size = 24 bytes
    STARTPC         CFA       FP        RA           
    0000000000001a74  sp+0      u         u            
    0000000000001a78  sp+0      u         u[s]         
    0000000000001a7c  sp+16     c-16      c-8[s]       
    0000000000001a84  sp+0      u         u[s]         
    0000000000001a88  sp+0      u         u            

    func idx [7]: pc = 0x1a8c, size = 24 bytes, pauth = B key
    STARTPC         CFA       FP        RA           
    0000000000001a8c  sp+0      u         u            
    0000000000001a90  sp+0      u         u[s]         
    0000000000001a94  sp+16     u         c-16[s]      
    0000000000001a9c  sp+0      u         u[s]         
    0000000000001aa0  sp+0      u         u            

    func idx [8]: pc = 0x1aa4, size = 16 bytes
    STARTPC         CFA       FP        RA           
    0000000000001aa4  sp+0      u         u            
    0000000000001aa8  sp+32     u         c-32         
    0000000000001ab0  sp+0      u         u            

    func idx [9]: pc = 0x1ab4, size = 16 bytes
    STARTPC         CFA       FP        RA           
    0000000000001ab4  sp+0      u         u            
    0000000000001ab8  sp+32     u         c-32         
    0000000000001ac0  sp+0      u         u            

    func idx [10]: pc = 0x1ac4, size = 0 bytes
    STARTPC         CFA       FP        RA           
    0000000000001ac4  sp+0      u         u            

    func idx [11]: pc = 0x1ac4, size = 8 bytes, attr = "S"
    STARTPC         CFA       FP        RA           
    0000000000001ac4  sp+256    c-256     c-248        

    func idx [12]: pc = 0x1acc, size = 12 bytes
    STARTPC         CFA       FP        RA           
    0000000000001acc  RA undefined
