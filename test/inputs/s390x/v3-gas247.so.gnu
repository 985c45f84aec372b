
v3-gas247.so:     file format elf64-s390

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_3
    Flags: SFRAME_F_FDE_SORTED,
           SFRAME_F_FDE_FUNC_START_PCREL
    Num FDEs: 15
    Num FREs: 41

  Function Index :

    func idx [0]: pc = 0x490, size = 32 bytes
    STARTPC         CFA       FP        RA           
    0000000000000490  sp+160    u         u            

    func idx [1]: pc = 0x4b0, size = 128 bytes
    STARTPC[m]      CFA       FP        RA           
    0000000000000000  sp+160    u         u            

    func idx [2]: pc = 0x530, size = 6 bytes
    STARTPC         CFA       FP        RA           
    0000000000000530  sp+160    u         u            

    func idx [3]: pc = 0x536, size = 30 bytes
    STARTPC         CFA       FP        RA           
    0000000000000536  sp+160    u         u            
    000000000000053c  sp+160    c-72      c-48         
    0000000000000540  sp+320    c-72      c-48         
    0000000000000552  sp+160    u         u            

    func idx [4]: pc = 0x554, size = 28 bytes
    STARTPC         CFA       FP        RA           
    0000000000000554  sp+160    u         u            
    000000000000055a  sp+160    c-72      c-48         
    000000000000055e  sp+336    c-72      c-48         
    0000000000000562  fp+336    c-72      c-48         
    000000000000056e  sp+160    u         u            

    func idx [5]: pc = 0x570, size = 24 bytes
    STARTPC         CFA       FP        RA           
    0000000000000570  sp+160    u         u            
    0000000000000576  sp+160    u         c-48         
    000000000000057a  sp+320    u         c-48         
    0000000000000586  sp+160    u         u            

    func idx [6]: pc = 0x588, size = 18 bytes
    STARTPC         CFA       FP        RA           
    0000000000000588  sp+160    u         u            
    000000000000058e  sp+160    c-72      U            
    0000000000000598  sp+160    u         u            

    func idx [7]: pc = 0x59a, size = 28 bytes
    STARTPC         CFA       FP        RA           
    000000000000059a  sp+160    u         u            
    00000000000005a0  sp+160    u         c-48         
    00000000000005a4  sp+8352   u         c-48         
    00000000000005ae  sp+160    u         c-48         
    00000000000005b4  sp+160    u         u            

    func idx [8]: pc = 0x5b6, size = 32 bytes
    STARTPC         CFA       FP        RA           
    00000000000005b6  sp+160    u         u            
    00000000000005bc  sp+160    u         c-48         
    00000000000005c2  sp+16777376u         c-48         
    00000000000005ce  sp+160    u         c-48         
    00000000000005d4  sp+160    u         u            

    func idx [9]: pc = 0x5d6, size = 290 bytes
    STARTPC         CFA       FP        RA           
    00000000000005d6  sp+160    u         u            
    00000000000005da  sp+168    u         u            
    00000000000006f6  sp+160    u         u            

    func idx [10]: pc = 0x6f8, size = 10 bytes
    STARTPC         CFA       FP        RA           
    00000000000006f8  sp+160    u         u            
    00000000000006fc  sp+176    u         u            
    0000000000000700  sp+160    u         u            

    func idx [11]: pc = 0x702, size = 10 bytes
    STARTPC         CFA       FP        RA           
    0000000000000702  sp+160    u         u            
    0000000000000706  sp+176    u         u            
    000000000000070a  sp+160    u         u            

    func idx [12]: pc = 0x70c, size = 0 bytes
    STARTPC         CFA       FP        RA           
    000000000000070c  sp+160    u         u            

    func idx [13]: pc = 0x70c, size = 2 bytes, attr = "S"
    STARTPC         CFA       FP        RA           
    000000000000070c  sp+520    c-72      c-48         

    func idx [14]: pc = 0x70e, size = 12 bytes
    STARTPC         CFA       FP        RA           
    000000000000070e  RA undefined
