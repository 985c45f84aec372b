
v3-gas247-cc-sections.o:     file format elf64-littleaarch64

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

    func idx [1]: pc = 0x0, size = 68 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+0      u         u            
    0000000000000004  sp+96     u         u            
    0000000000000010  fp+32     c-32      c-24         
    0000000000000034  sp+96     c-32      c-24         
    0000000000000040  sp+0      u         u            

    func idx [2]: pc = 0x0, size = 68 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+0      u         u            
    0000000000000004  sp+48     u         u            
    0000000000000010  fp+48     c-48      c-40         
    0000000000000034  sp+48     c-48      c-40         
    0000000000000040  sp+0      u         u            

    func idx [3]: pc = 0x0, size = 64 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+0      u         u            
    0000000000000004  sp+32     u         u            
    000000000000000c  fp+32     c-32      c-24         
    0000000000000034  sp+32     c-32      c-24         
    000000000000003c  sp+0      u         u            

    func idx [4]: pc = 0x0, size = 76 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+0      u         u            
    0000000000000004  sp+32     u         u            
    000000000000000c  fp+32     c-32      c-24         
    0000000000000040  sp+32     c-32      c-24         
    0000000000000048  sp+0      u         u            

    func idx [5]: pc = 0x0, size = 116 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+0      u         u            
    0000000000000004  sp+48     u         u            
    0000000000000010  fp+48     c-48      c-40         
    0000000000000064  sp+48     c-48      c-40         
    0000000000000070  sp+0      u         u            

    func idx [6]: pc = 0x0, size = 144 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+0      u         u            
    0000000000000004  sp+80     u         u            
    0000000000000018  fp+80     c-80      c-72         
    0000000000000074  sp+80     c-80      c-72         
    0000000000000088  sp+0      u         u            
    000000000000008c  fp+80     c-80      c-72         
