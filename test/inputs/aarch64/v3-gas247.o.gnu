
v3-gas247.o:     file format elf64-littleaarch64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_3
    Flags: SFRAME_F_FDE_FUNC_START_PCREL
    Num FDEs: 13
    Num FREs: 40

  Function Index :

    func idx [0]: pc = 0x0, size = 8 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+0      u         u            

    func idx [1]: pc = 0x8, size = 28 bytes
    STARTPC         CFA       FP        RA           
    0000000000000008  sp+0      u         u            
    000000000000000c  sp+32     c-32      c-24         
    0000000000000010  fp+32     c-32      c-24         
    000000000000001c  sp+32     c-32      c-24         
    0000000000000020  sp+0      u         u            

    func idx [2]: pc = 0x24, size = 16 bytes
    STARTPC         CFA       FP        RA           
    0000000000000024  sp+0      u         u            
    0000000000000028  sp+16     u         c-16         
    0000000000000030  sp+0      u         u            

    func idx [3]: pc = 0x34, size = 20 bytes
    STARTPC         CFA       FP        RA           
    0000000000000034  sp+0      u         u            
    0000000000000038  sp+512    c-512     c-504        
    0000000000000040  sp+512    u         u            
    0000000000000044  sp+0      u         u            

    func idx [4]: pc = 0x48, size = 24 bytes
    STARTPC         CFA       FP        RA           
    0000000000000048  sp+0      u         u            
    000000000000004c  sp+1048576u         u            
    0000000000000050  sp+1048576c-1048576 c-1048568    
    0000000000000058  sp+1048576u         u            
    000000000000005c  sp+0      u         u            

    func idx [5]: pc = 0x60, size = 292 bytes
    STARTPC         CFA       FP        RA           
    0000000000000060  sp+0      u         u            
    0000000000000064  sp+16     u         u            
    0000000000000180  sp+0      u         u            

    func idx [6]: pc = 0x184, size = 24 bytes
    STARTPC         CFA       FP        RA           
    0000000000000184  sp+0      u         u            
    0000000000000188  sp+0      u         u[s]         
    000000000000018c  sp+16     c-16      c-8[s]       
    0000000000000194  sp+0      u         u[s]         
    0000000000000198  sp+0      u         u            

    func idx [7]: pc = 0x19c, size = 24 bytes, pauth = B key
    STARTPC         CFA       FP        RA           
    000000000000019c  sp+0      u         u            
    00000000000001a0  sp+0      u         u[s]         
    00000000000001a4  sp+16     u         c-16[s]      
    00000000000001ac  sp+0      u         u[s]         
    00000000000001b0  sp+0      u         u            

    func idx [8]: pc = 0x1b4, size = 16 bytes
    STARTPC         CFA       FP        RA           
    00000000000001b4  sp+0      u         u            
    00000000000001b8  sp+32     u         c-32         
    00000000000001c0  sp+0      u         u            

    func idx [9]: pc = 0x1c4, size = 16 bytes
    STARTPC         CFA       FP        RA           
    00000000000001c4  sp+0      u         u            
    00000000000001c8  sp+32     u         c-32         
    00000000000001d0  sp+0      u         u            

    func idx [10]: pc = 0x1d4, size = 0 bytes
    STARTPC         CFA       FP        RA           
    00000000000001d4  sp+0      u         u            

    func idx [11]: pc = 0x1d4, size = 8 bytes, attr = "S"
    STARTPC         CFA       FP        RA           
    00000000000001d4  sp+256    c-256     c-248        

    func idx [12]: pc = 0x1dc, size = 12 bytes
    STARTPC         CFA       FP        RA           
    00000000000001dc  RA undefined
