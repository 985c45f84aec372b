
v3-gas247-cc.o:     file format elf64-bigaarch64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_3
    Flags: SFRAME_F_FDE_FUNC_START_PCREL
    Num FDEs: 7
    Num FREs: 32

  Function Index :

    func idx [0]: pc = 0x0, size = 8 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+0      u         u            

    func idx [1]: pc = 0x8, size = 68 bytes
    STARTPC         CFA       FP        RA           
    0000000000000008  sp+0      u         u            
    000000000000000c  sp+96     u         u            
    0000000000000018  fp+32     c-32      c-24         
    000000000000003c  sp+96     c-32      c-24         
    0000000000000048  sp+0      u         u            

    func idx [2]: pc = 0x4c, size = 68 bytes
    STARTPC         CFA       FP        RA           
    000000000000004c  sp+0      u         u            
    0000000000000050  sp+48     u         u            
    000000000000005c  fp+48     c-48      c-40         
    0000000000000080  sp+48     c-48      c-40         
    000000000000008c  sp+0      u         u            

    func idx [3]: pc = 0x90, size = 64 bytes
    STARTPC         CFA       FP        RA           
    0000000000000090  sp+0      u         u            
    0000000000000094  sp+32     u         u            
    000000000000009c  fp+32     c-32      c-24         
    00000000000000c4  sp+32     c-32      c-24         
    00000000000000cc  sp+0      u         u            

    func idx [4]: pc = 0xd0, size = 76 bytes
    STARTPC         CFA       FP        RA           
    00000000000000d0  sp+0      u         u            
    00000000000000d4  sp+32     u         u            
    00000000000000dc  fp+32     c-32      c-24         
    0000000000000110  sp+32     c-32      c-24         
    0000000000000118  sp+0      u         u            

    func idx [5]: pc = 0x11c, size = 116 bytes
    STARTPC         CFA       FP        RA           
    000000000000011c  sp+0      u         u            
    0000000000000120  sp+48     u         u            
    000000000000012c  fp+48     c-48      c-40         
    0000000000000180  sp+48     c-48      c-40         
    000000000000018c  sp+0      u         u            

    func idx [6]: pc = 0x190, size = 144 bytes
    STARTPC         CFA       FP        RA           
    0000000000000190  sp+0      u         u            
    0000000000000194  sp+80     u         u            
    00000000000001a8  fp+80     c-80      c-72         
    0000000000000204  sp+80     c-80      c-72         
    0000000000000218  sp+0      u         u            
    000000000000021c  fp+80     c-80      c-72         
