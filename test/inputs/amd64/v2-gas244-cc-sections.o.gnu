
v2-gas244-cc-sections.o:     file format elf64-x86-64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_2
    Flags: NONE
    CFA fixed RA offset: -8
    Num FDEs: 7
    Num FREs: 35

  Function Index :

    func idx [0]: pc = 0xffffffffffffffe4, size = 8 bytes
    STARTPC         CFA       FP        RA           
    ffffffffffffffe4  sp+8      u         f            

    func idx [1]: pc = 0xffffffffffffffd0, size = 39 bytes
    STARTPC         CFA       FP        RA           
    ffffffffffffffd0  sp+8      u         f            
    ffffffffffffffd1  sp+16     u         f            
    ffffffffffffffd7  sp+80     u         f            
    fffffffffffffff3  sp+16     u         f            
    fffffffffffffff4  sp+8      u         f            

    func idx [2]: pc = 0xffffffffffffffbc, size = 32 bytes
    STARTPC         CFA       FP        RA           
    ffffffffffffffbc  sp+8      u         f            
    ffffffffffffffbd  sp+16     u         f            
    ffffffffffffffc7  sp+40016  u         f            
    ffffffffffffffda  sp+16     u         f            
    ffffffffffffffdb  sp+8      u         f            

    func idx [3]: pc = 0xffffffffffffffa8, size = 52 bytes
    STARTPC         CFA       FP        RA           
    ffffffffffffffa8  sp+8      u         f            
    ffffffffffffffa9  sp+16     c-16      f            
    ffffffffffffffb6  fp+16     c-16      f            
    ffffffffffffffdb  sp+8      c-16      f            

    func idx [4]: pc = 0xffffffffffffff94, size = 53 bytes
    STARTPC         CFA       FP        RA           
    ffffffffffffff94  sp+8      u         f            
    ffffffffffffff95  sp+16     c-16      f            
    ffffffffffffff98  fp+16     c-16      f            
    ffffffffffffffc8  sp+8      c-16      f            

    func idx [5]: pc = 0xffffffffffffff80, size = 107 bytes
    STARTPC         CFA       FP        RA           
    ffffffffffffff80  sp+8      u         f            
    ffffffffffffff82  sp+16     u         f            
    ffffffffffffff84  sp+24     u         f            
    ffffffffffffff86  sp+32     u         f            
    ffffffffffffff88  sp+40     u         f            
    ffffffffffffff89  sp+48     c-48      f            
    ffffffffffffff8a  sp+56     c-48      f            
    ffffffffffffff8e  sp+80     c-48      f            
    ffffffffffffffde  sp+56     c-48      f            
    ffffffffffffffe1  sp+48     c-48      f            
    ffffffffffffffe2  sp+40     c-48      f            
    ffffffffffffffe4  sp+32     c-48      f            
    ffffffffffffffe6  sp+24     c-48      f            
    ffffffffffffffe8  sp+16     c-48      f            
    ffffffffffffffea  sp+8      c-48      f            

    func idx [6]: pc = 0xffffffffffffff6c, size = 5 bytes
    STARTPC         CFA       FP        RA           
    ffffffffffffff6c  sp+80     c-48      f            
