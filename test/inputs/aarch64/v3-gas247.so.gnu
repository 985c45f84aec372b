
v3-gas247.so:     file format elf64-littleaarch64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_3
    Flags: SFRAME_F_FDE_SORTED,
           SFRAME_F_FDE_FUNC_START_PCREL
    Num FDEs: 13
    Num FREs: 40

  Function Index :

    func idx [0]: pc = 0x4a0, size = 8 bytes
    STARTPC         CFA       FP        RA           
    00000000000004a0  sp+0      u         u            

    func idx [1]: pc = 0x4a8, size = 28 bytes
    STARTPC         CFA       FP        RA           
    00000000000004a8  sp+0      u         u            
    00000000000004ac  sp+32     c-32      c-24         
    00000000000004b0  fp+32     c-32      c-24         
    00000000000004bc  sp+32     c-32      c-24         
    00000000000004c0  sp+0      u         u            

    func idx [2]: pc = 0x4c4, size = 16 bytes
    STARTPC         CFA       FP        RA           
    00000000000004c4  sp+0      u         u            
    00000000000004c8  sp+16     u         c-16         
    00000000000004d0  sp+0      u         u            

    func idx [3]: pc = 0x4d4, size = 20 bytes
    STARTPC         CFA       FP        RA           
    00000000000004d4  sp+0      u         u            
    00000000000004d8  sp+512    c-512     c-504        
    00000000000004e0  sp+512    u         u            
    00000000000004e4  sp+0      u         u            

    func idx [4]: pc = 0x4e8, size = 24 bytes
    STARTPC         CFA       FP        RA           
    00000000000004e8  sp+0      u         u            
    00000000000004ec  sp+1048576u         u            
    00000000000004f0  sp+1048576c-1048576 c-1048568    
    00000000000004f8  sp+1048576u         u            
    00000000000004fc  sp+0      u         u            

    func idx [5]: pc = 0x500, size = 292 bytes
    STARTPC         CFA       FP        RA           
    0000000000000500  sp+0      u         u            
    0000000000000504  sp+16     u         u            
    0000000000000620  sp+0      u         u            

    func idx [6]: pc = 0x624, size = 24 bytes
    STARTPC         CFA       FP        RA           
    0000000000000624  sp+0      u         u            
    0000000000000628  sp+0      u         u[s]         
    000000000000062c  sp+16     c-16      c-8[s]       
    0000000000000634  sp+0      u         u[s]         
    0000000000000638  sp+0      u         u            

    func idx [7]: pc = 0x63c, size = 24 bytes, pauth = B key
    STARTPC         CFA       FP        RA           
    000000000000063c  sp+0      u         u            
    0000000000000640  sp+0      u         u[s]         
    0000000000000644  sp+16     u         c-16[s]      
    000000000000064c  sp+0      u         u[s]         
    0000000000000650  sp+0      u         u            

    func idx [8]: pc = 0x654, size = 16 bytes
    STARTPC         CFA       FP        RA           
    0000000000000654  sp+0      u         u            
    0000000000000658  sp+32     u         c-32         
    0000000000000660  sp+0      u         u            

    func idx [9]: pc = 0x664, size = 16 bytes
    STARTPC         CFA       FP        RA           
    0000000000000664  sp+0      u         u            
    0000000000000668  sp+32     u         c-32         
    0000000000000670  sp+0      u         u            

    func idx [10]: pc = 0x674, size = 0 bytes
    STARTPC         CFA       FP        RA           
    0000000000000674  sp+0      u         u            

    func idx [11]: pc = 0x674, size = 8 bytes, attr = "S"
    STARTPC         CFA       FP        RA           
    0000000000000674  sp+256    c-256     c-248        

    func idx [12]: pc = 0x67c, size = 12 bytes
    STARTPC         CFA       FP        RA           
    000000000000067c  RA undefined
