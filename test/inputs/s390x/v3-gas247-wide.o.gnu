
v3-gas247-wide.o:     file format elf64-s390

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_3
    Flags: SFRAME_F_FDE_FUNC_START_PCREL
    Num FDEs: 4
    Num FREs: 16

  Function Index :

    func idx [0]: pc = 0x0, size = 254 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+160    u         u            
    0000000000000002  sp+320    u         c-48         
    0000000000000006  sp+320    c-72      c-48         
    00000000000000fc  sp+160    c-72      c-48         

    func idx [1]: pc = 0xfe, size = 256 bytes
    STARTPC         CFA       FP        RA           
    00000000000000fe  sp+160    u         u            
    0000000000000100  sp+320    u         c-48         
    0000000000000104  sp+320    c-72      c-48         
    00000000000001fc  sp+160    c-72      c-48         

    func idx [2]: pc = 0x1fe, size = 65534 bytes
    STARTPC         CFA       FP        RA           
    00000000000001fe  sp+160    u         u            
    0000000000000200  sp+320    u         c-48         
    0000000000000204  sp+320    c-72      c-48         
    00000000000101fa  sp+160    c-72      c-48         

    func idx [3]: pc = 0x101fc, size = 65536 bytes
    STARTPC         CFA       FP        RA           
    00000000000101fc  sp+160    u         u            
    00000000000101fe  sp+320    u         c-48         
    0000000000010202  sp+320    c-72      c-48         
    00000000000201fa  sp+160    c-72      c-48         
