
v3-gas247-static:     file format elf64-littleaarch64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_3
    Flags: SFRAME_F_FDE_SORTED,
           SFRAME_F_FDE_FUNC_START_PCREL
    Num FDEs: 15
    Num FREs: 44

  Function Index :

    func idx [0]: pc = 0x4000e8, size = 8 bytes
    STARTPC         CFA       FP        RA           
    00000000004000e8  sp+0      u         u            

    func idx [1]: pc = 0x4000f0, size = 28 bytes
    STARTPC         CFA       FP        RA           
    00000000004000f0  sp+0      u         u            
    00000000004000f4  sp+32     c-32      c-24         
    00000000004000f8  fp+32     c-32      c-24         
    0000000000400104  sp+32     c-32      c-24         
    0000000000400108  sp+0      u         u            

    func idx [2]: pc = 0x40010c, size = 16 bytes
    STARTPC         CFA       FP        RA           
    000000000040010c  sp+0      u         u            
    0000000000400110  sp+16     u         c-16         
    0000000000400118  sp+0      u         u            

    func idx [3]: pc = 0x40011c, size = 20 bytes
    STARTPC         CFA       FP        RA           
    000000000040011c  sp+0      u         u            
    0000000000400120  sp+512    c-512     c-504        
    0000000000400128  sp+512    u         u            
    000000000040012c  sp+0      u         u            

    func idx [4]: pc = 0x400130, size = 24 bytes
    STARTPC         CFA       FP        RA           
    0000000000400130  sp+0      u         u            
    0000000000400134  sp+1048576u         u            
    0000000000400138  sp+1048576c-1048576 c-1048568    
    0000000000400140  sp+1048576u         u            
    0000000000400144  sp+0      u         u            

    func idx [5]: pc = 0x400148, size = 292 bytes
    STARTPC         CFA       FP        RA           
    0000000000400148  sp+0      u         u            
    000000000040014c  sp+16     u         u            
    0000000000400268  sp+0      u         u            

    func idx [6]: pc = 0x40026c, size = 24 bytes
    STARTPC         CFA       FP        RA           
    000000000040026c  sp+0      u         u            
    0000000000400270  sp+0      u         u[s]         
    0000000000400274  sp+16     c-16      c-8[s]       
    000000000040027c  sp+0      u         u[s]         
    0000000000400280  sp+0      u         u            

    func idx [7]: pc = 0x400284, size = 24 bytes, pauth = B key
    STARTPC         CFA       FP        RA           
    0000000000400284  sp+0      u         u            
    0000000000400288  sp+0      u         u[s]         
    000000000040028c  sp+16     u         c-16[s]      
    0000000000400294  sp+0      u         u[s]         
    0000000000400298  sp+0      u         u            

    func idx [8]: pc = 0x40029c, size = 16 bytes
    STARTPC         CFA       FP        RA           
    000000000040029c  sp+0      u         u            
    00000000004002a0  sp+32     u         c-32         
    00000000004002a8  sp+0      u         u            

    func idx [9]: pc = 0x4002ac, size = 16 bytes
    STARTPC         CFA       FP        RA           
    00000000004002ac  sp+0      u         u            
    00000000004002b0  sp+32     u         c-32         
    00000000004002b8  sp+0      u         u            

    func idx [10]: pc = 0x4002bc, size = 0 bytes
    STARTPC         CFA       FP        RA           
    00000000004002bc  sp+0      u         u            

    func idx [11]: pc = 0x4002bc, size = 8 bytes, attr = "S"
    STARTPC         CFA       FP        RA           
    00000000004002bc  sp+256    c-256     c-248        

    func idx [12]: pc = 0x4002c4, size = 12 bytes
    STARTPC         CFA       FP        RA           
    00000000004002c4  RA undefined

    func idx [13]: pc = 0x4002d0, size = 16 bytes
    STARTPC         CFA       FP        RA           
    00000000004002d0  sp+0      u         u            
    00000000004002d4  sp+48     c-48      c-40         
    00000000004002dc  sp+0      u         u            

    func idx [14]: pc = 0x4002e0, size = 4 bytes
    STARTPC         CFA       FP        RA           
    00000000004002e0  sp+0      u         u            
