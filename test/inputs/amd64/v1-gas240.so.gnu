
v1-gas240.so:     file format elf64-x86-64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_1
    Flags: SFRAME_F_FDE_SORTED
    Num FDEs: 15
    Num FREs: 39

  Function Index :

    func idx [0]: pc = 0x490, size = 16 bytes
    STARTPC         CFA       FP        RA           
    0000000000000490  sp+16     u         u            
    0000000000000496  sp+24     u         u            

    func idx [1]: pc = 0x4a0, size = 80 bytes
    STARTPC[m]      CFA       FP        RA           
    0000000000000000  sp+8      u         u            
    000000000000000b  sp+16     u         u            

    func idx [2]: pc = 0x4f8, size = 3 bytes
    STARTPC         CFA       FP        RA           
    00000000000004f8  sp+8      u         u            

    func idx [3]: pc = 0x4fb, size = 16 bytes
    STARTPC         CFA       FP        RA           
    00000000000004fb  sp+8      u         u            
    00000000000004fc  sp+16     c-16      u            
    00000000000004ff  fp+16     c-16      u            
    000000000000050a  sp+8      u         u            

    func idx [4]: pc = 0x50b, size = 30 bytes
    STARTPC         CFA       FP        RA           
    000000000000050b  sp+8      u         u            
    000000000000050f  sp+32     u         u            
    0000000000000517  sp+8      u         u            
    0000000000000518  sp+32     u         u            
    0000000000000528  sp+8      u         u            

    func idx [5]: pc = 0x529, size = 20 bytes
    STARTPC         CFA       FP        RA           
    0000000000000529  sp+8      u         u            
    0000000000000530  sp+4104   u         u            
    000000000000053c  sp+8      u         u            

    func idx [6]: pc = 0x53d, size = 20 bytes
    STARTPC         CFA       FP        RA           
    000000000000053d  sp+8      u         u            
    0000000000000544  sp+305419896u         u            
    0000000000000550  sp+8      u         u            

    func idx [7]: pc = 0x551, size = 30 bytes
    STARTPC         CFA       FP        RA           
    0000000000000551  sp+8      u         u            
    0000000000000558  sp+512    u         u            
    000000000000055c  sp+512    c-512     u            
    0000000000000567  sp+512    u         u            
    000000000000056e  sp+8      u         u            

    func idx [8]: pc = 0x56f, size = 303 bytes
    STARTPC         CFA       FP        RA           
    000000000000056f  sp+8      u         u            
    0000000000000570  sp+16     u         u            
    000000000000069d  sp+8      u         u            

    func idx [9]: pc = 0x69e, size = 8 bytes
    STARTPC         CFA       FP        RA           
    000000000000069e  sp+8      u         u            
    000000000000069f  sp+16     u         u            
    00000000000006a5  sp+8      u         u            

    func idx [10]: pc = 0x6a6, size = 8 bytes
    STARTPC         CFA       FP        RA           
    00000000000006a6  sp+8      u         u            
    00000000000006a7  sp+16     u         u            
    00000000000006ad  sp+8      u         u            

    func idx [11]: pc = 0x6ae, size = 0 bytes
    STARTPC         CFA       FP        RA           
    00000000000006ae  sp+8      u         u            

    func idx [12]: pc = 0x6ae, size = 16 bytes
    STARTPC         CFA       FP        RA           
    00000000000006ae  sp+8      u         u            
    00000000000006bd  sp+8      u         u            

    func idx [13]: pc = 0x6be, size = 9 bytes
    STARTPC         CFA       FP        RA           
    00000000000006be  sp+168    u         u            

    func idx [14]: pc = 0x6c7, size = 13 bytes
    STARTPC         CFA       FP        RA           
    00000000000006c7  sp+8      u         u            
