
v3-gas247-cc-sections.o:     file format elf64-s390

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_3
    Flags: SFRAME_F_FDE_FUNC_START_PCREL
    Num FDEs: 7
    Num FREs: 22

  Function Index :

    func idx [0]: pc = 0x0, size = 14 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+160    u         u            

    func idx [1]: pc = 0x0, size = 60 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+160    u         u            
    0000000000000006  sp+160    u         c-48         
    000000000000000a  sp+384    u         c-48         

    func idx [2]: pc = 0x0, size = 40 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+160    u         u            
    0000000000000006  sp+160    u         c-48         
    000000000000000c  sp+40336  u         c-48         

    func idx [3]: pc = 0x0, size = 60 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+160    u         u            
    0000000000000006  sp+160    c-72      c-48         
    000000000000000a  sp+320    c-72      c-48         
    000000000000000e  fp+320    c-72      c-48         

    func idx [4]: pc = 0x0, size = 80 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+160    u         u            
    0000000000000006  sp+160    c-72      c-48         
    000000000000000a  sp+320    c-72      c-48         
    000000000000000e  fp+320    c-72      c-48         

    func idx [5]: pc = 0x0, size = 106 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+160    u         u            
    0000000000000006  sp+160    c-72      c-48         
    000000000000000a  sp+320    c-72      c-48         
    000000000000000e  fp+320    c-72      c-48         

    func idx [6]: pc = 0x0, size = 120 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+160    u         u            
    0000000000000006  sp+160    c-72      c-48         
    000000000000000a  sp+320    c-72      c-48         
