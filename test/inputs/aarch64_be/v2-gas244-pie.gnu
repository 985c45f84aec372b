
v2-gas244-pie:     file format elf64-bigaarch64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_2
    Flags: SFRAME_F_FDE_SORTED
    Num FDEs: 15
    Num FREs: 44

  Function Index :

    func idx [0]: pc = 0x1bc, size = 8 bytes
    STARTPC         CFA       FP        RA           
    00000000000001bc  sp+0      u         u            

    func idx [1]: pc = 0x1c4, size = 28 bytes
    STARTPC         CFA       FP        RA           
    00000000000001c4  sp+0      u         u            
    00000000000001c8  sp+32     c-32      c-24         
    00000000000001cc  fp+32     c-32      c-24         
    00000000000001d8  sp+32     c-32      c-24         
    00000000000001dc  sp+0      u         u            

    func idx [2]: pc = 0x1e0, size = 16 bytes
    STARTPC         CFA       FP        RA           
    00000000000001e0  sp+0      u         u            
    00000000000001e4  sp+16     u         c-16         
    00000000000001ec  sp+0      u         u            

    func idx [3]: pc = 0x1f0, size = 20 bytes
    STARTPC         CFA       FP        RA           
    00000000000001f0  sp+0      u         u            
    00000000000001f4  sp+512    c-512     c-504        
    00000000000001fc  sp+512    u         u            
    0000000000000200  sp+0      u         u            

    func idx [4]: pc = 0x204, size = 24 bytes
    STARTPC         CFA       FP        RA           
    0000000000000204  sp+0      u         u            
    0000000000000208  sp+1048576u         u            
    000000000000020c  sp+1048576c-1048576 c-1048568    
    0000000000000214  sp+1048576u         u            
    0000000000000218  sp+0      u         u            

    func idx [5]: pc = 0x21c, size = 292 bytes
    STARTPC         CFA       FP        RA           
    000000000000021c  sp+0      u         u            
    0000000000000220  sp+16     u         u            
    000000000000033c  sp+0      u         u            

    func idx [6]: pc = 0x340, size = 24 bytes
    STARTPC         CFA       FP        RA           
    0000000000000340  sp+0      u         u            
    0000000000000344  sp+0      u         u[s]         
    0000000000000348  sp+16     c-16      c-8[s]       
    0000000000000350  sp+0      u         u[s]         
    0000000000000354  sp+0      u         u            

    func idx [7]: pc = 0x358, size = 24 bytes, pauth = B key
    STARTPC         CFA       FP        RA           
    0000000000000358  sp+0      u         u            
    000000000000035c  sp+0      u         u[s]         
    0000000000000360  sp+16     u         c-16[s]      
    0000000000000368  sp+0      u         u[s]         
    000000000000036c  sp+0      u         u            

    func idx [8]: pc = 0x370, size = 16 bytes
    STARTPC         CFA       FP        RA           
    0000000000000370  sp+0      u         u            
    0000000000000374  sp+32     u         c-32         
    000000000000037c  sp+0      u         u            

    func idx [9]: pc = 0x380, size = 16 bytes
    STARTPC         CFA       FP        RA           
    0000000000000380  sp+0      u         u            
    0000000000000384  sp+32     u         c-32         
    000000000000038c  sp+0      u         u            

    func idx [10]: pc = 0x390, size = 0 bytes
    STARTPC         CFA       FP        RA           
    0000000000000390  sp+0      u         u            

    func idx [11]: pc = 0x390, size = 8 bytes
    STARTPC         CFA       FP        RA           
    0000000000000390  sp+256    c-256     c-248        

    func idx [12]: pc = 0x398, size = 12 bytes
    STARTPC         CFA       FP        RA           
    0000000000000398  sp+0      u         u            

    func idx [13]: pc = 0x3a4, size = 16 bytes
    STARTPC         CFA       FP        RA           
    00000000000003a4  sp+0      u         u            
    00000000000003a8  sp+48     c-48      c-40         
    00000000000003b0  sp+0      u         u            

    func idx [14]: pc = 0x3b4, size = 4 bytes
    STARTPC         CFA       FP        RA           
    00000000000003b4  sp+0      u         u            
