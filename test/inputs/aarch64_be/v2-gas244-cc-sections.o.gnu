
v2-gas244-cc-sections.o:     file format elf64-bigaarch64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_2
    Flags: NONE
    Num FDEs: 7
    Num FREs: 32

  Function Index :

    func idx [0]: pc = 0xffffffffffffffe4, size = 8 bytes
    STARTPC         CFA       FP        RA           
    ffffffffffffffe4  sp+0      u         u            

    func idx [1]: pc = 0xffffffffffffffd0, size = 68 bytes
    STARTPC         CFA       FP        RA           
    ffffffffffffffd0  sp+0      u         u            
    ffffffffffffffd4  sp+96     u         u            
    ffffffffffffffe0  fp+32     c-32      c-24         
    0000000000000004  sp+96     c-32      c-24         
    0000000000000010  sp+0      u         u            

    func idx [2]: pc = 0xffffffffffffffbc, size = 68 bytes
    STARTPC         CFA       FP        RA           
    ffffffffffffffbc  sp+0      u         u            
    ffffffffffffffc0  sp+48     u         u            
    ffffffffffffffcc  fp+48     c-48      c-40         
    fffffffffffffff0  sp+48     c-48      c-40         
    fffffffffffffffc  sp+0      u         u            

    func idx [3]: pc = 0xffffffffffffffa8, size = 64 bytes
    STARTPC         CFA       FP        RA           
    ffffffffffffffa8  sp+0      u         u            
    ffffffffffffffac  sp+32     u         u            
    ffffffffffffffb4  fp+32     c-32      c-24         
    ffffffffffffffdc  sp+32     c-32      c-24         
    ffffffffffffffe4  sp+0      u         u            

    func idx [4]: pc = 0xffffffffffffff94, size = 76 bytes
    STARTPC         CFA       FP        RA           
    ffffffffffffff94  sp+0      u         u            
    ffffffffffffff98  sp+32     u         u            
    ffffffffffffffa0  fp+32     c-32      c-24         
    ffffffffffffffd4  sp+32     c-32      c-24         
    ffffffffffffffdc  sp+0      u         u            

    func idx [5]: pc = 0xffffffffffffff80, size = 116 bytes
    STARTPC         CFA       FP        RA           
    ffffffffffffff80  sp+0      u         u            
    ffffffffffffff84  sp+48     u         u            
    ffffffffffffff90  fp+48     c-48      c-40         
    ffffffffffffffe4  sp+48     c-48      c-40         
    fffffffffffffff0  sp+0      u         u            

    func idx [6]: pc = 0xffffffffffffff6c, size = 144 bytes
    STARTPC         CFA       FP        RA           
    ffffffffffffff6c  sp+0      u         u            
    ffffffffffffff70  sp+80     u         u            
    ffffffffffffff84  fp+80     c-80      c-72         
    ffffffffffffffe0  sp+80     c-80      c-72         
    fffffffffffffff4  sp+0      u         u            
    fffffffffffffff8  sp+80     u         u            
