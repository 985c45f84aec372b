
v2-lld22-concat.so:     file format elf64-littleaarch64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_2
    Flags: NONE
    Num FDEs: 13
    Num FREs: 40

  Function Index :

    func idx [0]: pc = 0x18cc, size = 8 bytes
    STARTPC         CFA       FP        RA           
    00000000000018cc  sp+0      u         u            

    func idx [1]: pc = 0x18c0, size = 28 bytes
    STARTPC         CFA       FP        RA           
    00000000000018c0  sp+0      u         u            
    00000000000018c4  sp+32     c-32      c-24         
    00000000000018c8  fp+32     c-32      c-24         
    00000000000018d4  sp+32     c-32      c-24         
    00000000000018d8  sp+0      u         u            

    func idx [2]: pc = 0x18c8, size = 16 bytes
    STARTPC         CFA       FP        RA           
    00000000000018c8  sp+0      u         u            
    00000000000018cc  sp+16     u         c-16         
    00000000000018d4  sp+0      u         u            

    func idx [3]: pc = 0x18c4, size = 20 bytes
    STARTPC         CFA       FP        RA           
    00000000000018c4  sp+0      u         u            
    00000000000018c8  sp+512    c-512     c-504        
    00000000000018d0  sp+512    u         u            
    00000000000018d4  sp+0      u         u            

    func idx [4]: pc = 0x18c4, size = 24 bytes
    STARTPC         CFA       FP        RA           
    00000000000018c4  sp+0      u         u            
    00000000000018c8  sp+1048576u         u            
    00000000000018cc  sp+1048576c-1048576 c-1048568    
    00000000000018d4  sp+1048576u         u            
    00000000000018d8  sp+0      u         u            

    func idx [5]: pc = 0x18c8, size = 292 bytes
    STARTPC         CFA       FP        RA           
    00000000000018c8  sp+0      u         u            
    00000000000018cc  sp+16     u         u            
    00000000000019e8  sp+0      u         u            

    func idx [6]: pc = 0x19d8, size = 24 bytes
    STARTPC         CFA       FP        RA           
    00000000000019d8  sp+0      u         u            
    00000000000019dc  sp+0      u         u[s]         
    00000000000019e0  sp+16     c-16      c-8[s]       
    00000000000019e8  sp+0      u         u[s]         
    00000000000019ec  sp+0      u         u            

    func idx [7]: pc = 0x19dc, size = 24 bytes, pauth = B key
    STARTPC         CFA       FP        RA           
    00000000000019dc  sp+0      u         u            
    00000000000019e0  sp+0      u         u[s]         
    00000000000019e4  sp+16     u         c-16[s]      
    00000000000019ec  sp+0      u         u[s]         
    00000000000019f0  sp+0      u         u            

    func idx [8]: pc = 0x19e0, size = 16 bytes
    STARTPC         CFA       FP        RA           
    00000000000019e0  sp+0      u         u            
    00000000000019e4  sp+32     u         c-32         
    00000000000019ec  sp+0      u         u            

    func idx [9]: pc = 0x19dc, size = 16 bytes
    STARTPC         CFA       FP        RA           
    00000000000019dc  sp+0      u         u            
    00000000000019e0  sp+32     u         c-32         
    00000000000019e8  sp+0      u         u            

    func idx [10]: pc = 0x19d8, size = 0 bytes
    STARTPC         CFA       FP        RA           
    00000000000019d8  sp+0      u         u            

    func idx [11]: pc = 0x19c4, size = 8 bytes
    STARTPC         CFA       FP        RA           
    00000000000019c4  sp+256    c-256     c-248        

    func idx [12]: pc = 0x19b8, size = 12 bytes
    STARTPC         CFA       FP        RA           
    00000000000019b8  sp+0      u         u            
