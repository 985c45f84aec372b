
v1-gas240.o:     file format elf64-bigaarch64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_1
    Flags: NONE
    Num FDEs: 13
    Num FREs: 40

  Function Index :

    func idx [0]: pc = 0x0, size = 8 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+0      u         u            

    func idx [1]: pc = 0x0, size = 28 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+0      u         u            
    0000000000000004  sp+32     c-32      c-24         
    0000000000000008  fp+32     c-32      c-24         
    0000000000000014  sp+32     c-32      c-24         
    0000000000000018  sp+0      u         u            

    func idx [2]: pc = 0x0, size = 16 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+0      u         u            
    0000000000000004  sp+16     u         c-16         
    000000000000000c  sp+0      u         u            

    func idx [3]: pc = 0x0, size = 20 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+0      u         u            
    0000000000000004  sp+512    c-512     c-504        
    000000000000000c  sp+512    u         u            
    0000000000000010  sp+0      u         u            

    func idx [4]: pc = 0x0, size = 24 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+0      u         u            
    0000000000000004  sp+1048576u         u            
    0000000000000008  sp+1048576c-1048576 c-1048568    
    0000000000000010  sp+1048576u         u            
    0000000000000014  sp+0      u         u            

    func idx [5]: pc = 0x0, size = 292 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+0      u         u            
    0000000000000004  sp+16     u         u            
    0000000000000120  sp+0      u         u            

    func idx [6]: pc = 0x0, size = 24 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+0      u         u            
    0000000000000004  sp+0      u         u[s]         
    0000000000000008  sp+16     c-16      c-8[s]       
    0000000000000010  sp+0      u         u[s]         
    0000000000000014  sp+0      u         u            

    func idx [7]: pc = 0x0, size = 24 bytes, pauth = B key
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+0      u         u            
    0000000000000004  sp+0      u         u[s]         
    0000000000000008  sp+16     u         c-16[s]      
    0000000000000010  sp+0      u         u[s]         
    0000000000000014  sp+0      u         u            

    func idx [8]: pc = 0x0, size = 16 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+0      u         u            
    0000000000000004  sp+32     u         c-32         
    000000000000000c  sp+0      u         u            

    func idx [9]: pc = 0x0, size = 16 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+0      u         u            
    0000000000000004  sp+32     u         c-32         
    000000000000000c  sp+0      u         u            

    func idx [10]: pc = 0x0, size = 0 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+0      u         u            

    func idx [11]: pc = 0x0, size = 8 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+256    c-256     c-248        

    func idx [12]: pc = 0x0, size = 12 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+0      u         u            
